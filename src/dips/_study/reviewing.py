"""A finished run laid out for review; what was decided, as corrections; and how it is trained again."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dips._estimators.reasons import IMAGE
from dips._estimators.suspicion import check_order
from dips._files.columns import Schema
from dips._files.corrections import read_corrections
from dips._files.read import Table, read_table
from dips._files.row_keys import key_columns
from dips._files.sqlite import is_address
from dips._files.target import Target
from dips._report import TableFindings, render, summarize
from dips._report.suspects import suspicion_ranks
from dips._review.cells import PointCells, TableCells
from dips._review.desk import Desk
from dips._review.export import corrections_frame
from dips._review.layout import lay_out
from dips._review.material import CORRECTION, GIVEN, ROW, Material, Showing, SourceFile
from dips._review.notebook import NotebookReview
from dips._review.pictures import read_pictures
from dips._review.statistics import reviewer_error
from dips._review.store import EventStore
from dips._review.training import TrainingAgain, TrainingPlan, write_corrections
from dips._study.account import id_columns
from dips._study.data import read_data
from dips._study.folder import MARK, REVIEW
from dips._study.run import Run
from dips._study.settings import Settings
from dips._tools.files import expanded, sha256, without_nan
from dips.exceptions import DataError, ReviewError

if TYPE_CHECKING:
    from dips._review.server import ReviewServer

DECISIONS = "decisions.sqlite"


def review_folder(run: Run) -> Path:
    """Where the decisions on a run are kept."""
    return run.folder / REVIEW


def desk_of_run(
    run: Run,
    data: Sequence[Path] = (),
    *,
    blinded: bool = False,
    order: str | None = None,
    truth: dict[int, str] | None = None,
) -> Desk:
    """The review of a run, with what was decided before.

    Parameters
    ----------
    run : the run
    data : where its tables are now, in the order in which they were given, if they are not where they were
    blinded : hide what tells the label until one has answered
    order : which suspects come first, if not as in the run
    truth : the true labels by row, where they are known
    """
    material = material_of_run(run, data, order)
    material.truth = truth
    return Desk(material, _store(run, material), blinded)


def server_of_run(
    run: Run,
    data: Sequence[Path] = (),
    *,
    blinded: bool = False,
    order: str | None = None,
    truth: dict[int, str] | None = None,
    **server: Any,
) -> ReviewServer:
    """The review of a run as a web application; not started yet."""
    make_server = server_class()
    desk = desk_of_run(run, data, blinded=blinded, order=order, truth=truth)
    paths = [source.path for source in desk.material.sources]
    if desk.material.unit == IMAGE and (folder := _image_folder(run, data)) is not None:
        paths = [folder]
    training = TrainingAgain(review_folder(run), retraining(run, paths)) if paths else None
    return make_server(desk, training=training, **server)


def server_class() -> type[ReviewServer]:
    """The server; refuse in words where the libraries that it needs are missing."""
    try:
        from dips._review.server import ReviewServer
    except ModuleNotFoundError as error:
        raise ReviewError(f'A review needs {error.name}: pip install "dips-ssl[review]".') from None
    return ReviewServer


def corrections_of_run(run: Run) -> tuple[Path, float | None]:
    """Write what was decided on a run to a file of corrections; return it, and how often it is wrong, if that is known.

    The run's table is not needed.
    """
    of_images = run.config.get("unit") == IMAGE
    material = material_of_run(run) if of_images else _without_table(run, run.samples)
    desk = Desk(material, _store(run, material))
    corrections = corrections_frame(desk)
    if not desk.decisions.settled():
        raise ReviewError(f"Nothing has been decided on {run.folder} yet; look at its suspects with dips review first.")
    error = reviewer_error(desk.decisions, len(material.classes))
    return write_corrections(corrections, review_folder(run)), error


def material_of_run(run: Run, data: Sequence[Path] = (), order: str | None = None) -> Material:
    """Lay out the folder that ``dips fit``, or an image classifier, wrote."""
    samples = run.samples
    if order is not None:
        check_order(order, samples)
        samples = samples.assign(suspicion=suspicion_ranks(samples, order))
    opening = _opening(samples, order or run.config.get("settings", {}).get("order", "wrong"))
    if run.config.get("unit") == IMAGE:
        earlier, originals = _earlier(run, run.config.get("ids", [])), _image_folder(run, data)
        return read_pictures(
            run.folder, run.summary, samples, _checksum(run), originals=originals, earlier=earlier, opening=opening
        )
    paths = _tables(run, data)
    if paths is None or None in run.config["unlabeled"]:  # some rows were only in memory
        return replace(_without_table(run, samples), opening=opening)
    settings = _settings(run)
    study = read_data(paths, settings, _unlabeled_paths(run))
    for source, before in zip(study.sources, run.config["sources"], strict=True):
        if source["sha256"] != before["sha256"]:
            raise DataError(
                f"{source['path']} has changed since the run was made; run dips fit again, or name the file as it was "
                "with --data."
            )
    first = np.cumsum([0, *(s["rows"] for s in study.sources)])
    where = (settings.sheet, settings.skip_rows, settings.skip_below)
    sources = [SourceFile(p, int(first[k]), study.sources[k]["rows"], *where) for k, p in enumerate(paths)]
    return material_of_table(
        run.summary, samples, study.table, study.schema, study.target, study.ids, _checksum(run),
        sources=sources, key_names=study.ids, earlier=_earlier(run, study.ids), opening=opening,
        curves=run.curves,
    )  # fmt: skip


def _image_folder(run: Run, data: Sequence[Path]) -> Path | None:
    """The folder of the images: as named now, where it was, or beside the run; None if there is none."""
    try:
        return next((Path(path) for path in _tables(run, data) or []), None)
    except DataError:
        return None


def material_of_table(
    summary: dict[str, Any],
    samples: pd.DataFrame,
    table: Table,
    schema: Schema,
    target: Target,
    ids: list[str],
    checksum: str,
    **more: Any,
) -> Material:
    """Lay out a table that is at hand."""
    importance = [r["column"] for r in summary["importance"]] or [v["name"] for v in summary["points"]["values"]]

    def showing(account: pd.DataFrame) -> Showing:
        rows, codes = account[ROW].to_numpy() - 1, account[GIVEN].to_numpy()
        useful = account["useful"].to_numpy()
        return TableCells(table.columns, schema, rows, codes, useful, len(target.classes), importance, ids)

    raw = table.columns[target.name].to_pylist()
    return lay_out(
        summary, samples, checksum, showing, _keys(samples, ids), raw_labels=dict(enumerate(raw, start=1)), **more
    )


def review_findings(
    findings: TableFindings, folder: Path | str | None = None, reviewer: str = "", blinded: bool = False
) -> NotebookReview:
    """The review of an audit in memory, for a notebook.

    Parameters
    ----------
    findings : of the audit
    folder : where decisions are kept; by default a temporary folder, which ends with the process
    reviewer : who looks; empty asks in the page
    blinded : hide what tells the label until one has answered
    """
    summary = without_nan(summarize(findings))
    made_of = [findings.settings, [s["sha256"] for s in findings.sources]]
    checksum = hashlib.sha256(json.dumps(made_of, sort_keys=True, default=str).encode()).hexdigest()
    material = material_of_table(
        summary, findings.account, findings.table, findings.schema, findings.target, findings.ids, checksum,
        key_names=findings.ids, opening=_opening(findings.account, findings.settings["order"]),
    )  # fmt: skip
    return notebook_review(material, render(summary), folder, reviewer, blinded)


def notebook_review(
    material: Material, page: str, folder: Path | str | None, reviewer: str, blinded: bool
) -> NotebookReview:
    """The review of what is laid out, for a notebook; `page` is shown where the server's libraries are missing."""
    place = Path(tempfile.mkdtemp(prefix="dips-review-") if folder is None else folder)
    desk = Desk(material, EventStore(place / DECISIONS, material.checksum), blinded)
    try:
        server = server_class()(desk, reviewer=reviewer, framed=True)
    except ReviewError:
        return NotebookReview(desk, page)
    server.start()
    return NotebookReview(desk, page, server)


def _without_table(run: Run, samples: pd.DataFrame) -> Material:
    """Lay out a run with what its own folder holds."""
    points, ids = run.summary["points"], list(run.summary["points"]["id_names"])
    return lay_out(
        run.summary, samples, _checksum(run), lambda account: PointCells(points, account[ROW].tolist()),
        _keys(samples, ids), key_names=ids, earlier=_earlier(run, ids),
        curves=run.curves,
    )  # fmt: skip


def _opening(samples: pd.DataFrame, order: str) -> list[int]:
    """Rows to begin with in the order "useful": the classes in turn, until some labels of each are verified."""
    if order != "useful":
        return []
    first = samples[(samples["check_gain"] >= 1).fillna(False)]
    return first.sort_values("check_gain", ascending=False, kind="stable")["row"].tolist()


def _keys(samples: pd.DataFrame, ids: list[str]) -> dict[str, list[Any]]:
    return {name: samples[column].tolist() for name, column in id_columns(ids).items()}


def _earlier(run: Run, ids: list[str]) -> pd.DataFrame:
    """The corrections that the run was made with."""
    file = run.config.get("corrections")
    if not file:
        return pd.DataFrame(columns=list(CORRECTION))
    corrections = read_corrections(_place(run, file["path"]), run.summary["classes"])
    keys = key_columns(read_table(pd.DataFrame(_keys(run.samples, ids)))) if ids else {}
    said = {name: corrections.columns.get(name, [None] * len(corrections)) for name in ("reviewer", "time")}
    rows = run.samples["row"].to_numpy()[corrections.find(len(run.samples), keys)]
    labels = {"given_label": corrections.looked_at, "label": corrections.labels}
    return pd.DataFrame({"row": rows, **labels, **said}).astype(dict.fromkeys(labels, object))


def _store(run: Run, material: Material) -> EventStore:
    store = EventStore(review_folder(run) / DECISIONS, material.checksum)
    store.verify()
    return store


def _checksum(run: Run) -> str:
    """Checksum of what is reviewed: the account of the rows, and how it was made."""
    parts = [sha256(run.folder / name) for name in ("samples.parquet", MARK)]
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def retraining(run: Run, paths: Sequence[Path | str]) -> Callable[[Path], TrainingPlan]:
    """How a run is made again with corrections, beside the first one, and compared with it."""

    def plan(corrections: Path) -> TrainingPlan:
        out = _beside(run.folder.resolve())
        page = out / "comparison.html"
        python = [sys.executable, "-m", "dips"]
        unlabeled = [argument for path in _unlabeled_paths(run) for argument in ("--unlabeled", str(path))]
        fit = [
            *python, "fit", *map(str, paths), *unlabeled, "--config", str(run.folder / MARK), "--json", "-o", str(out),
            "--corrections", str(corrections.resolve()),
        ]  # fmt: skip
        fit += _labels_of_images(run) if run.config.get("unit") == IMAGE else []
        compare = [*python, "compare", str(run.folder), str(out), "-o", str(page)]
        return TrainingPlan([("training", fit), ("comparing", compare)], page, str(out))

    return plan


def _labels_of_images(run: Run) -> list[str]:
    table = run.config["settings"]["labels"]
    return [] if table is None else ["--labels", str(_place(run, table))]


def _beside(folder: Path) -> Path:
    """A folder that is not there yet: run, then run-2, run-3 and so on."""
    stem, _, number = folder.name.rpartition("-")
    base = stem if stem and number.isdecimal() else folder.name
    names = (folder.with_name(f"{base}-{n}") for n in range(2, 100_000))
    return next(path for path in names if not path.exists())


def _settings(run: Run) -> Settings:
    settings = Settings(**run.config["settings"]).checked()
    if settings.corrections is None:
        return settings
    return replace(settings, corrections=str(_place(run, settings.corrections)))


def _tables(run: Run, data: Sequence[Path]) -> list[Path | str] | None:
    """The tables of the run: as named now, where they were, or beside the run; None if they were only in memory."""
    recorded = run.config["data"]
    if data:
        if len(data) != len(recorded):
            raise DataError(f"The run was made from {len(recorded)} tables; --data names {len(data)}.")
        return list(data)
    if any(path is None for path in recorded):
        return None
    return [_place(run, path) for path in recorded]


def _unlabeled_paths(run: Run) -> list[Path | str]:
    return [_place(run, path) for path in run.config["unlabeled"] if path is not None]


def _place(run: Run, path: str) -> Path | str:
    if is_address(path):
        return path
    there = (expanded(path), run.folder.parent / path, run.folder.parent / Path(path).name)
    existing = next((place for place in there if place.exists()), None)
    if existing is None:
        raise DataError(f"{path}, which the run was made from, is no longer there; say where it is with --data.")
    return existing
