"""Commands on a folder of images: which options they take, and what they print."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dips._cli.console import TerminalObserver, output, print_data, print_json, remarks
from dips._cli.next_steps import say_next_steps
from dips._cli.options import typed_command, value_of
from dips._tools.wording import count_of, counted, option, some_of
from dips.exceptions import SettingsError, StoppedError, UserError

if TYPE_CHECKING:
    from dips._image_study.album import Album
    from dips._study.run import Run

FOR_IMAGES = ("labels", "steps", "network", "size", "skip_damaged", "skip_missing")
_SOME = 100  # files that tell what a folder holds
_ALWAYS = ("data", "out", "seed", "config", "force", "as_json", "reviewed", "report", "top", "every_row", "fail_above")


def are_images(data: list[str]) -> bool:
    """Whether one folder was named, and it holds more than tables, in subfolders too; tables themselves are files."""
    folder = Path(data[0]).expanduser()
    return len(data) == 1 and folder.is_dir() and not _holds_tables_alone(folder)


def _holds_tables_alone(folder: Path) -> bool:
    from dips._files.read import is_table

    files = [p for p in islice(folder.rglob("*"), _SOME) if p.is_file() and not p.name.startswith((".", "_"))]
    return bool(files) and all(map(is_table, files))


def is_image_run(run: Run, data: str) -> bool:
    """Whether a run is of images; refuse data of the other kind."""
    from dips._estimators.reasons import IMAGE

    of_images, folder = run.config.get("unit") == IMAGE, are_images([data])
    if of_images and not folder:
        raise UserError(f"{run.folder} was trained on images; name a folder of images, not {data}.")
    if folder and not of_images:
        raise UserError(f"{run.folder} was trained on a table; {data} is a folder.")
    return of_images


def refuse_options_for_images(context: typer.Context) -> None:
    """Refuse options that only a folder of images has."""
    wrong = next((name for name in FOR_IMAGES if _is_given(context, name)), None)
    if wrong is not None:
        data = _data(context)
        remedy = "leave it out" if Path(data).expanduser().exists() else "there is no such file or folder"
        raise SettingsError(f"{option(wrong)} is for a folder of images, and {data} is not one; {remedy}.")


def target_of_table(context: typer.Context, target: str | None) -> str:
    """Return the target, which a table needs, and refuse options that only a folder of images has."""
    refuse_options_for_images(context)
    if target is None:
        context.fail("Missing option '--target' / '-t'.")
    return target


def fit_folder(context: typer.Context, corrections: str | None) -> None:
    """``dips fit`` on a folder of images."""
    settings, given = _settings(context, corrections), context.params
    from dips._image_study.fitting import fit_images

    as_json = given["as_json"]
    with _continued_if_stopped(), _ImageObserver(not as_json) as observer:
        about = {"force": given["force"], "command": typed_command(), "observer": observer}
        run = fit_images(given["data"][0], given["out"], **settings, **about)
    if as_json:
        print_json({"folder": str(run.folder), "report": str(run.report), **run.metrics})
        return
    _print_labels(run.metrics["labels"], run.metrics["rows"]["labeled"])
    for sentence in run.summary["scores"]:
        output().say(sentence)
    say_next_steps(run, given["out"], "new_images")


def audit_folder(context: typer.Context, corrections: str | None) -> float:
    """``dips audit`` on a folder of images; return the share of labels that are suspect."""
    settings, given = _settings(context, corrections), context.params
    from dips._cli.suspects import print_suspects, records_of, say_written, write_files
    from dips._estimators.reasons import IMAGE
    from dips._image_study.auditing import audit_images

    with _continued_if_stopped(), _ImageObserver(not given["as_json"]) as observer:
        judged = audit_images(given["data"][0], **settings, command=typed_command(), observer=observer)
    findings, suspects = judged.findings, judged.suspects()
    n_labeled, n_suspects = int(findings.is_given.sum()), int((~suspects["useful"]).sum())
    write_files(judged, given)
    shares = {"estimated_share_wrong": findings.noise_rate, "share_wrong_interval": findings.noise_interval}
    counts = {"n_suspects": n_suspects, "n_listed": len(suspects)}
    labels = shares | counts | {"why_all_useful": findings.why_all_useful}
    if given["as_json"]:
        records = records_of(suspects)
        about = {"warnings": findings.warnings, "reading": {"notes": findings.notes}}
        listed = {"suspects": records, "ranked": []} if n_suspects else {"suspects": [], "ranked": records}
        print_json({"n_labeled": n_labeled, **labels, **listed, **about})
    else:
        _print_labels(labels, n_labeled)
        if len(suspects) and given["top"]:
            print_suspects(suspects.head(given["top"]), ["file"], IMAGE)
        say_written(given, len(suspects))
    return n_suspects / n_labeled


def inspect_folder(context: typer.Context) -> None:
    """``dips inspect`` on a folder of images."""
    settings, as_json = _settings(context, None), context.params["as_json"]
    from dips._image_study.inspecting import inspect_images

    with TerminalObserver(not as_json) as observer:
        inspection = inspect_images(_data(context), observer, **settings)
    if as_json:
        print_json(inspection.to_json())
        return
    console, album, counts = output(), inspection.album, inspection.counts
    n, n_labeled = len(album.read.names), sum(counts.values())
    height, width = album.read.size
    kind = "gray" if album.read.mode == "L" else "color"
    console.say(f"{n:,} {kind} images, trained on at {height} by {width} pixels.")
    classes = some_of(count_of(c, k) for c, k in counts.items())
    console.say(f"{album.target.name!r}: {n_labeled:,} labeled ({classes}), {n - n_labeled:,} not.")
    console.say_notes(album.notes)
    inspection.tell_how_long(observer)


def predict_folder(run: Run, folder: Path, out: Path | None, skip_damaged: bool, as_json: bool) -> None:
    """``dips predict`` on a folder of images."""
    _need_torch()
    from dips._image_study.predicting import predict_images
    from dips._persistence.export import to_csv, write_frame

    with TerminalObserver(not as_json) as observer:
        predicted = predict_images(run, folder, skip_damaged, observer)
    frame = predicted.frame
    remarks().say_notes(predicted.notes)
    if out is not None:
        write_frame(frame, out)
    if as_json:
        counts = frame.iloc[:, 1].value_counts()
        told = {str(c): int(counts.get(c, 0)) for c in predicted.classes}
        print_json({"rows": len(frame), "out": None if out is None else str(out), "predicted": told})
    elif out is None:
        print_data(to_csv(frame))
    else:
        output().say(f"{counted(len(frame), 'image')} predicted; written to {out}")


@contextmanager
def _continued_if_stopped() -> Iterator[None]:
    """Say after Ctrl-C that the work is not lost."""
    try:
        yield
    except KeyboardInterrupt:
        raise StoppedError("Stopped. The same command continues; a few minutes are repeated, or a round.") from None


class _ImageObserver(TerminalObserver):
    """Says what was read before anything is trained."""

    def on_data(self, data: Album, leaks: dict[str, float]) -> None:
        """Print the images, the classes and the notes."""
        if not self.enabled:
            return
        n, n_labeled = len(data.read.names), int(data.target.is_labeled.sum())
        classes = some_of(data.target.classes, 8)
        shown = f"{data.read.size[0]} by {data.read.size[1]} pixels"
        self.console.say(f"{n:,} images of {shown}, {n_labeled:,} labeled and {n - n_labeled:,} not: one of {classes}.")
        self.console.say_notes(data.notes)


def _settings(context: typer.Context, corrections: str | None) -> dict[str, Any]:
    """Options that were given, as a study of images takes them; those that only tables have are refused."""
    _need_torch()
    from dips._image_study.settings import ImageSettings

    known = {f.name for f in fields(ImageSettings)}
    for name, value in context.params.items():
        if name not in known and name not in _ALWAYS and value and _is_given(context, name):
            raise SettingsError(f"{option(name)} is for tables, and {_data(context)} is a folder of images.")
    given = {name: value_of(context, name) for name in known & set(context.params) if _is_given(context, name)}
    if "id" in given:
        given["id"] = _only("id", given["id"]) if given["id"] else None
    return given | {"corrections": corrections}


def _data(context: typer.Context) -> str:
    """What was named, or the first of several."""
    return str(context.params["data"][0])


def _only(name: str, values: list[str]) -> str:
    if len(values) > 1:
        raise SettingsError(f"{option(name)} names the one column with the file names; got {', '.join(values)}.")
    return values[0]


def _is_given(context: typer.Context, name: str) -> bool:
    """Whether an option was typed, or set in a config file."""
    source = context.get_parameter_source(name)
    return name in context.params and source is not None and source.name in ("COMMANDLINE", "DEFAULT_MAP")


def _need_torch() -> None:
    try:
        import dips.vision  # noqa: F401
    except ImportError as error:
        raise UserError(f"Images need more than dips itself: {error}") from None


def _print_labels(labels: dict[str, Any], n_labeled: int) -> None:
    from dips._report.label_words import label_summary, ranking_in_words

    shares = labels["estimated_share_wrong"], labels["share_wrong_interval"]
    output().say(label_summary(*shares, labels["n_suspects"], n_labeled))
    if labels["why_all_useful"]:
        output().say(labels["why_all_useful"])
    if labels["n_listed"] and not labels["n_suspects"]:
        output().say(ranking_in_words(labels["n_listed"]))
