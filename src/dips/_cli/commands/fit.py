"""``dips fit``: from a table to a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from dips._cli import options as o
from dips._cli.app import app
from dips._cli.console import Terminal, TerminalObserver, make_table, output, print_json, printable
from dips._cli.images import are_images, fit_folder, target_of_table
from dips._cli.next_steps import say_next_steps
from dips._tools.wording import some_of
from dips.exceptions import StoppedError

if TYPE_CHECKING:
    from dips._study.data import StudyData
    from dips._study.run import Run

_LEGEND = (
    "valid.: an estimate of the score on true labels, often a little pessimistic, since models learned from fewer rows "
    "for it. It decides: {how}. held out: the score on labels as given, some of which may be wrong."
)
_ABOUT_NETWORK = "The network: trained beforehand on synthetic tables; it reads this table and is not trained on it."


@app.command(cls=o.CommandWithNames)
def fit(
    context: typer.Context,
    data: o.Data,
    target: o.TargetName = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The run folder to write.")] = Path("run"),
    unlabeled: Annotated[
        list[str],
        typer.Option(metavar="DATA", help="More rows, without labels; spark:TABLE reads from Spark. Repeatable."),
    ] = [],  # noqa: B006
    id: o.Ids = [],  # noqa: B006
    drop: o.Drop = [],  # noqa: B006
    type: o.Types = [],  # noqa: B006
    group: o.Group = None,
    unlabeled_mark: o.Marks = [],  # noqa: B006
    merge_labels: o.MergeLabels = None,
    map_label: o.MapLabel = [],  # noqa: B006
    sheet: o.SheetName = None,
    skip_rows: o.SkipRows = None,
    skip_below: o.SkipBelow = 0,
    verified: o.VerifiedColumn = None,
    corrections: o.CorrectionsFile = None,
    reviewed: o.Reviewed = None,
    reviewer_error: o.ReviewerError = None,
    trust_label: o.TrustedLabels = [],  # noqa: B006
    class_frequency: o.ClassFrequencies = [],  # noqa: B006
    keep_label: o.KeptLabels = [],  # noqa: B006
    positive: o.Positive = None,
    metric: o.MetricName = "accuracy",
    costs: o.Costs = [],  # noqa: B006
    keep: o.Keep = None,
    backbone: o.BackboneName = "xgboost",
    labeler: o.LabelerName = "auto",
    curator: o.CuratorName = "auto",
    rounds: Annotated[
        int,
        typer.Option(
            help="Rounds of pseudo-labeling, or of training on images.  "
            "[default: 5; for images 20, or 5 below 2,000 steps]",
            show_default=False,
        ),
    ] = 5,
    holdout: Annotated[float, typer.Option(help="Share of the labeled rows or images to hold out.")] = 0.2,
    max_unlabeled: Annotated[
        int, typer.Option(help="Use at most this many unlabeled rows, drawn at random.")
    ] = 100_000,
    time_limit: Annotated[
        float | None, typer.Option(help="Minutes after which no further model is started.  [default: none]")
    ] = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    order: o.Order = "wrong",
    labels: o.LabelsFile = None,
    steps: o.Steps = 20_000,
    network: o.NetworkName = "fast",
    size: o.Size = None,
    skip_damaged: o.SkipDamaged = False,
    skip_missing: o.SkipMissing = False,
    config: o.Config = None,
    force: o.Force = False,
    as_json: o.Json = False,
) -> None:
    """Compare five models, keep the best, and write a report.

    The models: plain; curated labels; pseudo-labels, not curated; curated labels and unlabeled rows; and, with up to
    1,000 labels, a network that was trained beforehand and reads the table. Writes a folder with report.html,
    samples.parquet and .csv (the account of every row), metrics.json, config.json and model/. After Ctrl-C, the same
    command continues where it stopped.

    On a folder of images, it trains a network by FreeMatch, on the useful labels and on all images. This needs PyTorch.
    """
    used_corrections = o.corrections_in(context)
    if are_images(data):
        fit_folder(context, used_corrections)
        return
    target = target_of_table(context, target)
    from dips._study.fitting import fit as fit_study

    try:
        with _FitObserver(not as_json) as observer:
            run = fit_study(
                data,
                target,
                out,
                unlabeled=unlabeled,
                force=force,
                command=o.typed_command(),
                observer=observer,
                **o.settings_in(context) | {"corrections": used_corrections},
            )
    except KeyboardInterrupt:
        raise StoppedError("Stopped. The same command continues where it stopped.") from None
    if as_json:
        print_json({"folder": str(run.folder), "report": str(run.report), **run.metrics})
    else:
        _print_result(run, out)


class _FitObserver(TerminalObserver):
    """Shows how the table was understood before any model is trained."""

    def on_data(self, data: StudyData, leaks: dict[str, float]) -> None:
        """Print the columns."""
        if self.enabled:
            _print_understanding(self.console, data, leaks)


def _print_understanding(console: Terminal, study: StudyData, leaks: dict[str, float]) -> None:
    from dips._cli.understanding import print_columns

    target = study.target
    n_labeled = int(target.is_labeled.sum())
    console.say(
        f"{study.table.n_rows:,} rows, {n_labeled:,} labeled and {study.table.n_rows - n_labeled:,} not; "
        f"{target.name!r} is one of {some_of(target.classes, 8)}."
    )
    print_columns(console, study.schema.columns, leaks, study.table.n_rows)
    console.say_notes(study.notes)


def _print_result(run: Run, folder: Path) -> None:
    from dips._report.label_words import first_looks, label_summary, left_to_chance, what_to_tell, worth_in_words
    from dips._report.metric_words import decided_by
    from dips._report.words import how_chosen, rows_in_model
    from dips._study.candidates import BY_NAME, NETWORK

    console, m = output(), run.metrics
    console.print(_scores_table(m, decided_by(run.summary)))
    console.say(_LEGEND.format(how=how_chosen(run.summary)))
    if NETWORK in m["test"]:
        console.say(_ABOUT_NETWORK)
    for why in dict.fromkeys(m["skipped"].values()):
        titles = [BY_NAME[name].title for name, reason in m["skipped"].items() if reason == why]
        console.say(f"Left out: {'; '.join(titles)}. Reason: {why}.")
    labels, interval = m["labels"], m["labels"]["share_wrong_interval"]
    shares, counts = (labels["estimated_share_wrong"], interval), (labels["n_suspects"], m["rows"]["labeled"])
    summary = label_summary(*shares, *counts, labels.get("checked"))
    worth = worth_in_words(run.summary["labels"]["worth"])
    looks = f"{worth}." if worth else first_looks(interval)
    tell = what_to_tell(interval, run.config["settings"])
    chance = left_to_chance(interval, labels["n_suspects"])
    console.say(" ".join(filter(None, [summary, looks, chance, tell])))
    for sentence in run.summary["scores"]:
        console.say(sentence)
    asked = ", as requested" if run.config["settings"].get("keep") else ""
    last = "which has now read the held-out rows, too" if m["chosen"] == NETWORK else "retrained on all rows"
    console.say(f"Kept{asked}: {BY_NAME[m['chosen']].title}, {last}.")
    if about := rows_in_model(run.summary):
        console.say(about)
    say_next_steps(run, folder, "new.csv")


def _scores_table(m: dict[str, Any], title: str) -> Table:
    """One line per model, and one for always answering the same class."""
    from dips._report.metric_words import SHARES
    from dips._study.candidates import BY_NAME, PLAIN

    is_share = m["metric"] in SHARES
    shown = _in_percent if is_share else _as_it_is
    rows: list[list[Any]] = []
    for name, scores in m["test"].items():
        s, gain = scores[m["metric"]], scores[m["metric"]]["gain"]
        cells = [
            ("→ " if name == m["chosen"] else "  ") + BY_NAME[name].title,
            shown(m["validation"][name]),
            f"{shown(s['value'])} ({shown(s['low'])}–{shown(s['high'])})",
            ""
            if name == PLAIN
            else f"{shown(gain['value'], '+')} ({shown(gain['low'], '+')} to {shown(gain['high'], '+')})",
        ]
        rows.append([printable(c, "bold" if name == m["chosen"] else "") for c in cells])
    baseline, score = m["baseline"], shown(m["baseline"][m["metric"]])
    rows.append([f"  always {baseline['label']!r}", "", score, ""])
    columns = {
        "model": "left",
        "valid.": "right",
        f"{m['rows']['test']:,} held out": "right",
        "better than plain": "right",
    }
    unit = " in %" if is_share else ""
    return make_table(columns, rows, title=f"{title[0].upper()}{title[1:]}{unit}, with 95 % intervals")


def _in_percent(value: float, sign: str = "") -> str:
    return f"{100 * value:{sign}.1f}"


def _as_it_is(value: float, sign: str = "") -> str:
    return f"{value:{sign}.3f}"
