"""From a table to a run folder: read, understand, compare, choose, train on everything, write."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dips._files.prepare import Preparation
from dips._persistence import SavedModel, save_model
from dips._persistence.export import write_frame
from dips._report import TableFindings, render, summarize
from dips._report.points import more_curves
from dips._report.segments import class_warnings
from dips._study.account import account_of
from dips._study.baseline import baseline_scores, chance_warnings
from dips._study.candidates import BY_NAME, JUDGE, PLAIN, Candidate
from dips._study.compare import FRACTION, Comparison, compare
from dips._study.data import StudyData, read_data
from dips._study.drift import find_drift
from dips._study.examples import Examples
from dips._study.folder import CURVES, RunFolder, fingerprint, how_made
from dips._study.groups import few_groups_warnings
from dips._study.importance import importance
from dips._study.judging import share_wrong, uneven_values, watched_model
from dips._study.leaks import LeakCheck
from dips._study.metrics import COST, dearest_class, intervals, metrics_for, read_costs, scores_on
from dips._study.outliers import find_outliers
from dips._study.records import held_out_frame, metrics_record, model_records
from dips._study.run import Run
from dips._study.settings import Settings
from dips._study.splits import HoldOut, hold_out, validation_folds
from dips._study.warning_log import TableWarnings, WarningLog, caught_warnings, issue
from dips._tools.arrays import Array, Rows
from dips._tools.files import without_nan, write_json, write_whole, writing
from dips._tools.observer import Observer
from dips._tools.wording import option

_CACHE_FORMAT = 4  # of the parts that a stopped study leaves behind; raise it when they change


def fit(
    data: Any,
    target: str,
    out: Path | str = "run",
    *,
    unlabeled: Any = (),
    id: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    type: Mapping[str, str] | Sequence[str] = (),
    group: str | None = None,
    unlabeled_mark: str | Sequence[str] = (),
    merge_labels: bool | Mapping[str, str] | None = None,
    map_label: Mapping[str, str] | Sequence[str] = (),
    sheet: str | int | None = None,
    skip_rows: int | None = None,
    skip_below: int = 0,
    verified: str | None = None,
    corrections: Path | str | None = None,
    reviewer_error: float | None = None,
    trust_label: str | Sequence[str] = (),
    class_frequency: Mapping[str, float] | Sequence[str] = (),
    keep_label: str | Sequence[str] = (),
    positive: str | None = None,
    metric: str = "accuracy",
    costs: Mapping[str, float] | Sequence[str] = (),
    keep: str | None = None,
    backbone: str = "xgboost",
    labeler: str = "auto",
    curator: str = "auto",
    rounds: int = 5,
    holdout: float = 0.2,
    max_unlabeled: int = 100_000,
    time_limit: float | None = None,
    seed: int = 0,
    jobs: int | None = None,
    order: str = "wrong",
    force: bool = False,
    command: str | None = None,
    observer: Observer | None = None,
) -> Run:
    """Compare models on a table, keep the best, and write a run folder with a report.

    Parameters
    ----------
    data : path, table, or a list of them
        CSV, TSV, Parquet, Feather, Excel, JSON lines or a table of SQLite; rows without a label are used as unlabeled.
    target : str
        The column with the labels.
    out : path
        The folder to write; it appears only once it is complete. A study that was stopped continues when called again.
    unlabeled : paths or tables
        More rows without labels; "spark:TABLE" or "spark:/FOLDER" draws a sample of a table on Spark.
    id : str or list
        Columns that identify rows; shown in the account, never used as features.
    drop : str or list
        Columns to leave out.
    type : dict
        What columns hold, where the guess is wrong: category, number, pair, date, text, id or ignore.
    group : str, optional
        A column of groups, such as the patient: no group is on both sides of a split.
    unlabeled_mark : str or list
        Labels that mean "no label", besides an empty cell and the usual words for missing.
    merge_labels : bool or dict, optional
        True merges different spellings of one label, False takes every label as it is, None refuses them where it
        matters, and a dict says which to merge.
    map_label : dict
        New names for labels.
    sheet : str or int, optional
        Sheet of an Excel file, by name or by number from 1; by default the first that fits.
    skip_rows : int, optional
        Lines above the header; detected by default.
    skip_below : int
        Rows right below the header of text and Excel files with labels that are none of the table, such as one of
        units. They are not counted as rows.
    verified : str, optional
        A column that says yes where someone has checked the label.
    corrections : path, optional
        A file with reviewers' decisions.
    reviewer_error : float, optional
        How often reviewers are wrong; 0 by default. Above 0, a verified label is weighed against the models' answers
        and counts by the probability that it is right. It is never a suspect.
    trust_label : str or list
        Labels that are never wrong, such as a confirmed fraud; rows of these classes may still be labeled otherwise.
    class_frequency : dict
        How often each class truly occurs among the labeled rows, where that is known; one class may be left out.
    keep_label : str or list
        Labels such as NA or "-" that are classes, although they usually mean "no label".
    positive : str, optional
        The class that F1, average precision and the report's curves are about; by default the one that is dearest to
        miss by `costs`, or the rarer of two classes that are words, otherwise the last in order, such as 1 or True. Of
        more than two classes, the report has curves for each.
    metric : str
        What decides between the models: accuracy, balanced_accuracy, f1, roc_auc, average_precision, log_loss or cost.
    costs : dict
        What it costs to miss a row of each class; 1 for classes not named. With ``metric="cost"`` the models are
        compared by it, and the one that is kept predicts the class with the lowest expected cost.
    keep : str, optional
        The model to keep, whatever the comparison says: plain, curated, pseudo, curated_pseudo or
        network.
    backbone, labeler, curator : str
        By name; "auto" is the default of the estimators.
    rounds : int
        Rounds of pseudo-labeling.
    holdout : float
        Share of the labeled rows to hold out.
    max_unlabeled : int
        The most unlabeled rows to use, drawn at random.
    time_limit : float, optional
        Minutes after which no further model is started.
    seed : int
        Seed of everything random.
    jobs : int, optional
        How many folds are trained in parallel.
    order : str
        Which suspects come first: those most probably "wrong", or those most "useful" to check.
    force : bool
        Replace a run that exists in `out`.
    command : str, optional
        The command line to record in config.json.
    observer : Observer, optional
        Receives stages, data and warnings while the study runs; without one, warnings are Python warnings.

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
    ...     len(run.samples), sorted(p.name for p in run.folder.iterdir())  # doctest: +NORMALIZE_WHITESPACE
    (120, ['config.json', 'held_out.parquet', 'metrics.json', 'model', 'report.html', 'report.json', 'samples.csv',
    'samples.parquet'])
    """
    observer = observer or TableWarnings()
    checked = Settings.of(
        target, id=id, drop=drop, type=type, group=group, unlabeled_mark=unlabeled_mark, merge_labels=merge_labels,
        map_label=map_label, sheet=sheet, skip_rows=skip_rows, skip_below=skip_below, verified=verified,
        corrections=corrections, reviewer_error=reviewer_error, trust_label=trust_label,
        class_frequency=class_frequency, keep_label=keep_label,
        positive=positive, metric=metric, costs=costs, keep=keep, backbone=backbone, labeler=labeler, curator=curator,
        rounds=rounds, holdout=holdout, max_unlabeled=max_unlabeled, time_limit=time_limit, seed=seed, jobs=jobs,
        order=order,
    )  # fmt: skip
    with RunFolder(out, force).held() as folder:
        return _fit(folder, data, unlabeled, checked, command, observer)


def _fit(
    folder: RunFolder, data: Any, unlabeled: Any, checked: Settings, command: str | None, observer: Observer
) -> Run:
    began = time.monotonic()
    observer.message("reading", 0.0)
    study = read_data(data, checked, unlabeled, observer)
    checked = replace(checked, map_label=study.target.words.mapped)  # divided where labels end
    costs = read_costs(checked.costs, study.target.classes)  # refused now, not after the work
    if costs is not None and checked.positive is None:
        study.target = replace(study.target, positive=dearest_class(costs, otherwise=study.target.positive))
    split = hold_out(study.given, checked, study.groups, now=study.target)
    validation_folds(study.target.codes, split, checked)  # refused now, too
    n_unlabeled = int((~study.target.is_labeled).sum())
    if split.unlabeled.size < n_unlabeled:
        drawn = f"{split.unlabeled.size:,} of {n_unlabeled:,} unlabeled rows, drawn at random, are used"
        study.table.notes.append(f"{drawn}; {option('max_unlabeled')} changes that.")
    preparation = Preparation(study.schema).learn(study.table, np.concatenate([split.train, split.unlabeled]))
    X = preparation.encode(study.table)
    check = LeakCheck(preparation, X, study.target.codes, split.train, checked.seed, study.groups)
    study.leaks = check.leaks()
    study.table.notes += study.label_notes(checked.metric, bool(checked.costs))
    observer.on_data(study, study.leaks_alone)

    config = _config(study, checked, command)
    if folder.begin(fingerprint(config | {"cache_format": _CACHE_FORMAT})):
        observer.message("continuing where it stopped", 0.0)
    deadline = np.inf if checked.time_limit is None else began + 60 * checked.time_limit
    comparison = compare(study.examples(X, preparation.spans), study.target, split, checked, folder, deadline, observer)
    observer.message("measuring what columns are worth", FRACTION)
    importances = _importances(preparation, X, study, split, comparison, checked)
    observer.message("training on all rows", 0.86)
    final = _train_on_all(study, split, comparison, checked)
    observer.message("writing", 0.95)
    findings = _findings(study, split, comparison, final, checked)
    study.leaks = check.leaks(findings.noise_rate)  # wrong labels may have hidden one
    findings.importance, findings.leaks, findings.config = importances, study.leaks_alone, config
    findings.reading = study.to_json()
    findings.warnings += [leak.sentence() for leak in study.leaks]
    _write(folder, findings, comparison, split, final.preparation)
    issue(findings.warnings, observer)
    return Run(folder.path)


def _config(study: StudyData, settings: Settings, command: str | None) -> dict[str, Any]:
    """Enough to run it again, and to tell whether the files have changed."""
    n_labeled_files = len(study.sources) - study.n_unlabeled_sources
    return how_made(command) | {
        "settings": settings.to_json(),
        "data": [s["path"] for s in study.sources[:n_labeled_files]],
        "unlabeled": [s["path"] for s in study.sources[n_labeled_files:]],
        "sources": study.sources,
        "corrections": study.corrections,
        "ids": study.ids,
    }


def _importances(
    preparation: Preparation,
    X: Array,
    study: StudyData,
    split: HoldOut,
    comparison: Comparison,
    settings: Settings,
) -> dict[str, dict[str, Any]]:
    """How much each column matters to the chosen kind of model, on the held-out rows, with which it was not trained."""
    codes, positive, model = study.target.codes, study.target.positive, comparison.model
    if model is None:
        examples, rows = study.examples(X, preparation.spans), (split.train, split.unlabeled_apart_from(split.test))
        model = _fitted(examples, *rows, settings, comparison.warnings, BY_NAME[comparison.chosen])
    metric = metrics_for(read_costs(settings.costs, study.target.classes))[settings.metric]
    X_test, test_codes = X[split.test], codes[split.test]
    more = (metric, positive, settings.seed, split.groups_of_test)
    by_column = importance(model.predict_proba, preparation, X_test, test_codes, *more)
    return {name: each.to_json() for name, each in by_column.items()}


@dataclass(frozen=True)
class _Final:
    """Models trained on all labels: the chosen one, the one that judges labels, and the one whose training is shown."""

    preparation: Preparation
    X: Array
    model: Any
    judge: Any
    watched: Any


def _train_on_all(study: StudyData, split: HoldOut, comparison: Comparison, settings: Settings) -> _Final:
    preparation = Preparation(study.schema).learn(study.table)
    X, chosen = preparation.encode(study.table), BY_NAME[comparison.chosen]
    rows = (study.examples(X, preparation.spans), np.flatnonzero(study.target.is_labeled), split.unlabeled)
    fitted = partial(_fitted, *rows, settings, comparison.warnings)
    model = fitted(chosen)
    judge = model if chosen == JUDGE else fitted(JUDGE)
    watched = watched_model(judge, lambda: model if chosen.name == PLAIN else fitted(BY_NAME[PLAIN]))
    return _Final(preparation, X, model, judge, watched)


def _fitted(
    examples: Examples, rows: Rows, unlabeled: Rows, settings: Settings, log: WarningLog, candidate: Candidate
) -> Any:
    with caught_warnings() as messages:
        model = candidate.fit(examples, rows, unlabeled, settings)
    log.add(candidate.title, messages)
    return model


def _findings(
    study: StudyData, split: HoldOut, comparison: Comparison, final: _Final, settings: Settings
) -> TableFindings:
    target = study.target
    costs, labeled = read_costs(settings.costs, target.classes), np.flatnonzero(target.is_labeled)
    scored = _scored(study, split, comparison, settings, costs)
    drift = find_drift(final.preparation, final.X, labeled, split.unlabeled, settings.seed, split.groups)
    uneven = uneven_values(final.judge, study, settings.seed)
    noise_rate, noise_interval = share_wrong(final.judge, uneven, study.n_corrected)
    rows = (final.model, split.unlabeled, final.X, study.duplicates, uneven)
    account = account_of(final.judge, study.table, target, study.ids, *rows, order=settings.order)
    account["held_out"] = np.isin(np.arange(len(account)), split.test)
    kept = next(model for model in scored["models"] if model["chosen"])
    return TableFindings(
        **study.to_report(),
        **scored,
        account=account,
        noise_rate=noise_rate,
        noise_interval=noise_interval,
        X=final.X,
        judge=final.judge,
        watched=final.watched,
        model=final.model,
        metric=settings.metric,
        settings=settings.to_json(),
        uneven=uneven,
        drift=None if drift is None else drift.to_json(),
        outliers=find_outliers(study.table, study.schema),
        costs=costs,
        warnings=[
            *comparison.warnings.sentences(),
            *class_warnings(account, target.classes),
            *few_groups_warnings(split.groups_of_test),
            *chance_warnings(kept["test"], target, costs_decide=settings.metric == COST),
            *([] if drift is None else drift.warnings()),
        ],
    )


def _scored(
    study: StudyData, split: HoldOut, comparison: Comparison, settings: Settings, costs: Array | None
) -> dict[str, Any]:
    """Fields of the findings that are about the rows held out."""
    target, is_verified = study.target, study.verified.mask[split.test]
    metrics = metrics_for(costs, decide=settings.metric == COST)
    answers, groups = (target.codes[split.test], comparison.test, target.positive), split.groups_of_test
    scores = intervals(*answers, PLAIN, settings.seed, metrics, groups)
    on_verified = scores_on(is_verified, *answers, settings.seed, metrics, groups)
    deciding = costs if settings.metric == COST else None
    return {
        "models": model_records(comparison, scores, on_verified),
        "n_verified_test": int(is_verified.sum()),
        "test_rows": split.test,
        "test_probabilities": comparison.test,
        "baseline": baseline_scores(target.codes[split.train], answers[0], target, metrics, deciding),
    }


def _write(
    folder: RunFolder, findings: TableFindings, comparison: Comparison, split: HoldOut, preparation: Preparation
) -> None:
    staging = folder.staging
    about = {"target": findings.target.name, "candidate": comparison.chosen, "ids": findings.ids}
    if findings.deciding_costs is not None:
        about["costs"] = findings.deciding_costs.tolist()  # predictions are those that are expected to cost least
    saved = SavedModel(findings.model.estimator_, findings.target.classes, preparation, about=about)
    model_folder = staging / "model"
    with writing(folder.path):
        shutil.rmtree(model_folder, ignore_errors=True)  # of a process that was killed while it wrote
        save_model(saved, model_folder)
    samples = _plain_columns(findings.account)
    write_frame(samples, staging / "samples.parquet")
    write_frame(samples, staging / "samples.csv")
    write_frame(held_out_frame(findings, comparison, split), staging / "held_out.parquet")
    write_json(staging / "metrics.json", metrics_record(findings, comparison, split))
    summary = without_nan(summarize(findings))
    write_json(staging / "report.json", summary, indent=None)
    write_whole(staging / "report.html", render(summary).encode())
    curves = more_curves(findings, summary["points"]["row"])
    if curves is not None:
        write_frame(curves, staging / CURVES)
    write_json(staging / "config.json", findings.config)
    folder.finish()


def _plain_columns(account: pd.DataFrame) -> pd.DataFrame:
    return account.assign(
        **{c: account[c].astype(object).where(account[c].notna(), None) for c in _LABELS if c in account}
    )


_LABELS = ("given_label", "suggested_label", "final_label")
