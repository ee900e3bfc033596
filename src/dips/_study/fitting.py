"""From a table to a run folder: read, understand, compare, choose, train on everything, write."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dips._files.prepare import Preparation
from dips._persistence import SavedModel, save_model
from dips._persistence.export import write_frame
from dips._persistence.model import versions
from dips._report import TableFindings, render, summarize
from dips._report.segments import class_warnings
from dips._study.account import account_of, noise_estimate, noise_interval, watched_model
from dips._study.candidates import BY_NAME, JUDGE, PLAIN, Candidate
from dips._study.compare import FRACTION, Comparison, Split, compare, hold_out
from dips._study.data import StudyData, read_data
from dips._study.folder import RunFolder, fingerprint
from dips._study.importance import importance
from dips._study.leaks import find_leaks
from dips._study.metrics import intervals
from dips._study.records import metrics_record, model_records
from dips._study.run import Run
from dips._study.settings import Settings
from dips._study.warning_log import PythonWarnings, WarningLog, caught_warnings
from dips._tools.arrays import Array, Rows
from dips._tools.files import without_nan, write_json, write_whole
from dips._tools.observer import Observer

_CACHE_FORMAT = 3  # of the parts that a stopped study leaves behind; raise it when they change


def fit(
    data: Any,
    target: str,
    out: Path | str = "run",
    *,
    unlabeled: Any = (),
    force: bool = False,
    command: str | None = None,
    observer: Observer | None = None,
    **settings: Any,
) -> Run:
    """Compare four models on a table, keep the best, and write a run folder with a report.

    Parameters
    ----------
    data : path, table, or a list of them
        CSV, TSV, Parquet, Feather or Excel; rows without a label are used as unlabeled data.
    target : str
        The column with the labels.
    out : path
        The folder to make; it is complete or absent. A study that was stopped continues when called again.
    unlabeled : paths or tables
        More rows without labels; "spark:TABLE" or "spark:/FOLDER" draws as many as are used from a table on Spark.
    force : bool
        Replace a run that exists in `out`.
    command : str, optional
        The command line to record in config.json.
    observer : Observer, optional
        Sees stages, data and warnings while the study runs; without one, warnings are issued as Python's.
    **settings
        Any of :class:`~dips._study.settings.Settings`.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from dips.datasets import make_quadrants
    >>> from dips import fit
    >>> X, y = make_quadrants(120, random_state=0)
    >>> table = pd.DataFrame(X, columns=["a", "b"]).assign(side=pd.Series(y).map({0: "left", 1: "right"}))
    >>> table.loc[80:, "side"] = None
    >>> with tempfile.TemporaryDirectory() as place:
    ...     run = fit(table, target="side", out=f"{place}/run")
    ...     len(run.samples), sorted(p.name for p in run.folder.iterdir())
    (120, ['config.json', 'metrics.json', 'model', 'report.html', 'report.json', 'samples.csv', 'samples.parquet'])
    """
    began = time.monotonic()
    observer = observer or PythonWarnings()
    checked = Settings(target=target, **settings).checked()
    folder = RunFolder(out, force)
    observer.message("reading", 0.0)
    study = read_data(data, checked, unlabeled)
    split = hold_out(study.target, checked)
    n_unlabeled = int((~study.target.is_labeled).sum())
    if split.unlabeled.size < n_unlabeled:
        drawn = f"{split.unlabeled.size:,} of {n_unlabeled:,} unlabeled rows, drawn at random, are used"
        study.table.notes.append(f"{drawn}; --max-unlabeled changes that.")
    preparation = Preparation(study.schema).learn(study.table, np.concatenate([split.train, split.unlabeled]))
    X = preparation.encode(study.table)
    leaks = find_leaks(preparation, X, study.target.codes, split.train, checked.seed)
    observer.on_data(study, leaks)

    config = _config(study, checked, command)
    same = {k: config[k] for k in ("settings", "sources", "versions")}
    folder.begin(fingerprint(same | {"cache_format": _CACHE_FORMAT}))
    deadline = np.inf if checked.time_limit is None else began + 60 * checked.time_limit
    comparison = compare(X, study.target, split, checked, folder, deadline, observer)
    observer.message("training on all rows", FRACTION)
    importances = _importances(preparation, X, study, split, comparison, checked)
    observer.message("training on all rows", 0.86)
    final = _train_on_all(study, split, comparison, checked)
    observer.message("writing", 0.95)
    findings = _findings(study, split, comparison, final, checked)
    findings.importance, findings.leaks, findings.config = importances, leaks, config
    _write(folder, findings, comparison, split, final.preparation)
    for sentence in findings.warnings:
        observer.on_record({"event": "warning", "message": sentence})
    return Run(folder.path)


def _config(study: StudyData, settings: Settings, command: str | None) -> dict[str, Any]:
    """Enough to run it again, and to tell whether the files have changed."""
    n_labeled_files = len(study.sources) - study.n_unlabeled_sources
    return {
        "made_by": "dips fit",
        "command": command or " ".join(["python", *sys.argv[:1]]),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": settings.to_json(),
        "data": [s["path"] for s in study.sources[:n_labeled_files]],
        "unlabeled": [s["path"] for s in study.sources[n_labeled_files:]],
        "sources": study.sources,
        "versions": versions(),
    }


def _importances(
    preparation: Preparation, X: Array, study: StudyData, split: Split, comparison: Comparison, settings: Settings
) -> dict[str, float]:
    """How much each column matters to the chosen kind of model, on the held-out rows."""
    codes, positive = study.target.codes, study.target.positive
    model = _fitted(BY_NAME[comparison.chosen], X, codes, split.train, split.unlabeled, settings, comparison.warnings)
    X_test, test_codes = X[split.test], codes[split.test]
    return importance(model.predict_proba, preparation, X_test, test_codes, settings.metric, positive, settings.seed)


@dataclass(frozen=True)
class _Final:
    """Models trained on all labels: the chosen one, the one that judges labels, and the one whose training is shown."""

    preparation: Preparation
    X: Array
    model: Any
    judge: Any
    watched: Any


def _train_on_all(study: StudyData, split: Split, comparison: Comparison, settings: Settings) -> _Final:
    preparation = Preparation(study.schema).learn(study.table)
    X, codes = preparation.encode(study.table), study.target.codes
    labeled, chosen = np.flatnonzero(study.target.is_labeled), BY_NAME[comparison.chosen]
    fitted = partial(
        _fitted, X=X, codes=codes, rows=labeled, unlabeled=split.unlabeled, settings=settings, log=comparison.warnings
    )
    model = fitted(chosen)
    judge = model if chosen == JUDGE else fitted(JUDGE)
    watched = watched_model(judge, lambda: model if chosen.name == PLAIN else fitted(BY_NAME[PLAIN]))
    return _Final(preparation, X, model, judge, watched)


def _fitted(
    candidate: Candidate, X: Array, codes: Array, rows: Rows, unlabeled: Rows, settings: Settings, log: WarningLog
) -> Any:
    with caught_warnings() as messages:
        model = candidate.fit(X, codes, rows, unlabeled, settings)
    log.add(candidate.title, messages)
    return model


def _findings(
    study: StudyData, split: Split, comparison: Comparison, final: _Final, settings: Settings
) -> TableFindings:
    target = study.target
    scores = intervals(target.codes[split.test], comparison.test, target.positive, PLAIN, settings.seed)
    account = account_of(final.judge, study.table, target, study.ids, final.model, split.unlabeled, final.X)
    account["held_out"] = np.isin(np.arange(len(account)), split.test)
    return TableFindings(
        **study.to_report(),
        account=account,
        noise_rate=noise_estimate(final.judge),
        noise_interval=noise_interval(final.judge),
        X=final.X,
        judge=final.judge,
        watched=final.watched,
        model=final.model,
        metric=settings.metric,
        settings=settings.to_json(),
        models=model_records(comparison, scores),
        test_rows=split.test,
        test_probabilities=comparison.test,
        warnings=[*comparison.warnings.sentences(), *class_warnings(account, target.classes)],
    )


def _write(
    folder: RunFolder, findings: TableFindings, comparison: Comparison, split: Split, preparation: Preparation
) -> None:
    staging = folder.staging
    about = {"target": findings.target.name, "candidate": comparison.chosen, "ids": findings.ids}
    saved = SavedModel(findings.model.estimator_, findings.target.classes, preparation, about=about)
    model_folder = staging / "model"
    if model_folder.exists():
        for left_over in model_folder.iterdir():
            left_over.unlink()
    save_model(saved, model_folder)
    samples = _plain_columns(findings.account)
    write_frame(samples, staging / "samples.parquet")
    write_frame(samples, staging / "samples.csv")
    write_json(staging / "metrics.json", metrics_record(findings, comparison, split))
    summary = without_nan(summarize(findings))
    write_json(staging / "report.json", summary, indent=None)
    write_whole(staging / "report.html", render(summary).encode())
    write_json(staging / "config.json", findings.config)
    folder.finish()


def _plain_columns(account: pd.DataFrame) -> pd.DataFrame:
    return account.assign(
        **{c: account[c].astype(object).where(account[c].notna(), None) for c in _LABELS if c in account}
    )


_LABELS = ("given_label", "suggested_label", "final_label")
