"""From a table to a run folder: read, understand, compare, choose, train on everything, write."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dips._files.prepare import Preparation
from dips._persistence import SavedModel, save_model
from dips._persistence.export import write_frame
from dips._persistence.model import versions
from dips._report import render, summarize
from dips._study.account import account_of, noise_estimate
from dips._study.candidates import BY_NAME, JUDGE, PLAIN, Candidate
from dips._study.compare import Comparison, Split, compare, hold_out
from dips._study.data import StudyData, read_data
from dips._study.findings import Findings
from dips._study.folder import RunFolder, fingerprint
from dips._study.importance import importance
from dips._study.leaks import find_leaks
from dips._study.metrics import intervals
from dips._study.run import Run
from dips._study.settings import Settings
from dips._tools.arrays import Array
from dips._tools.files import without_nan, write_json, write_whole

Say = Callable[[str, float], None]
"""Told what is being done, and what share of the work is behind."""


def fit(
    data: Any,
    target: str,
    out: Path | str = "run",
    *,
    unlabeled: Any = (),
    force: bool = False,
    command: str | None = None,
    on_data: Callable[[StudyData, dict[str, float]], None] = lambda data, leaks: None,
    say: Say = lambda what, share: None,
    **settings: Any,
) -> Run:
    """Compare four models on a table, keep the best, and write a run folder with a report.

    Parameters
    ----------
    data : path, table, or a list of them
        CSV, TSV, Parquet, Feather or Excel; rows without a label are put to use.
    target : str
        The column with the labels.
    out : path
        The folder to make; it is there in full or not at all. Stopped and called again, the work goes on.
    unlabeled : paths or tables
        More rows without labels.
    force : bool
        Replace a run that is in `out` already.
    **settings
        Any of :class:`~dips._study.settings.Settings`.
    on_data, say, command
        Told what was understood and how far the work is; the command line to note down. For programs around this one.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from dips.datasets import make_quadrants
    >>> from dips._study import fit
    >>> X, y = make_quadrants(120, random_state=0)
    >>> table = pd.DataFrame(X, columns=["a", "b"]).assign(side=pd.Series(y).map({0: "left", 1: "right"}))
    >>> table.loc[80:, "side"] = None
    >>> with tempfile.TemporaryDirectory() as place:
    ...     run = fit(table, target="side", out=f"{place}/run")
    ...     len(run.samples), sorted(p.name for p in run.folder.iterdir())
    (120, ['config.json', 'metrics.json', 'model', 'report.html', 'report.json', 'samples.csv', 'samples.parquet'])
    """
    began = time.monotonic()
    chosen_settings = Settings(target=target, **settings).checked()
    folder = RunFolder(out, force)
    say("reading", 0.0)
    study = read_data(data, chosen_settings, unlabeled)
    split = hold_out(study.target, chosen_settings)
    n_unlabeled = int((~study.target.is_labeled).sum())
    if split.unlabeled.size < n_unlabeled:
        drawn = f"{split.unlabeled.size:,} of {n_unlabeled:,} unlabeled rows, drawn at random, are put to use"
        study.table.notes.append(f"{drawn}; --max-unlabeled changes that.")
    preparation = Preparation(study.schema).learn(study.table, np.concatenate([split.train, split.unlabeled]))
    X = preparation.encode(study.table)
    leaks = find_leaks(preparation, X, study.target.codes, split.train, chosen_settings.seed)
    on_data(study, leaks)

    config = _config(study, chosen_settings, command)
    folder.begin(fingerprint({k: config[k] for k in ("settings", "sources", "versions")}))
    limit = chosen_settings.time_limit
    deadline = np.inf if limit is None else began + 60 * limit
    comparison = compare(X, study.target, split, chosen_settings, folder, deadline, lambda w, s: say(w, 0.8 * s))
    say("training on all rows", 0.8)
    found = _conclude(study, split, preparation, X, comparison, chosen_settings, leaks, say)
    found.config = config
    say("writing", 0.97)
    _write(folder, found)
    return Run(folder.path)


def _config(study: StudyData, settings: Settings, command: str | None) -> dict[str, Any]:
    """Enough to run it again, and to tell whether the files are still the same."""
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


def _conclude(
    study: StudyData,
    split: Split,
    preparation: Preparation,
    X: Array,
    comparison: Comparison,
    settings: Settings,
    leaks: dict[str, float],
    say: Say,
) -> Findings:
    """Score, train the chosen model on all labels, and judge every label."""
    target, codes = study.target, study.target.codes
    scores = intervals(codes[split.test], comparison.test, target.positive, PLAIN, settings.seed)
    chosen = BY_NAME[comparison.chosen]
    scored = chosen.fit(X, codes, split.train, split.unlabeled, settings)
    weights = importance(
        scored.predict_proba,
        preparation,
        X[split.test],
        codes[split.test],
        settings.metric,
        target.positive,
        settings.seed,
    )
    say("training on all rows", 0.86)
    final_preparation = Preparation(study.schema).learn(study.table)
    X = final_preparation.encode(study.table)
    labeled = np.flatnonzero(target.is_labeled)

    def fitted(candidate: Candidate) -> Any:
        return candidate.fit(X, codes, labeled, split.unlabeled, settings)

    model = fitted(chosen)
    judge = model if chosen == JUDGE else fitted(JUDGE)
    first = model if chosen.name == PLAIN else fitted(BY_NAME[PLAIN])
    say("writing", 0.95)
    account = account_of(judge, study.table, target, study.ids, model, split.unlabeled, X)
    account["held_out"] = np.isin(np.arange(len(account)), split.test)
    return Findings(
        study=study,
        settings=settings,
        split=split,
        comparison=comparison,
        scores=scores,
        importance=weights,
        leaks=leaks,
        preparation=final_preparation,
        X=X,
        model=model,
        judge=judge,
        first=first,
        account=account,
        noise_rate=noise_estimate(judge),
    )


def _write(folder: RunFolder, found: Findings) -> None:
    staging, study = folder.staging, found.study
    assert found.comparison is not None
    about = {"target": study.target.name, "candidate": found.comparison.chosen, "ids": study.ids}
    saved = SavedModel(found.model.estimator_, study.target.classes, found.preparation, about=about)
    model_folder = staging / "model"
    if model_folder.exists():
        for left_over in model_folder.iterdir():
            left_over.unlink()
    save_model(saved, model_folder)
    samples = _plain_columns(found.account)
    write_frame(samples, staging / "samples.parquet")
    write_frame(samples, staging / "samples.csv")
    write_json(staging / "metrics.json", found.metrics())
    summary = without_nan(summarize(found))
    write_json(staging / "report.json", summary, indent=None)
    write_whole(staging / "report.html", render(summary).encode())
    write_json(staging / "config.json", found.config)
    folder.finish()


def _plain_columns(account: pd.DataFrame) -> pd.DataFrame:
    return account.assign(
        **{c: account[c].astype(object).where(account[c].notna(), None) for c in _LABELS if c in account}
    )


_LABELS = ("given_label", "suggested_label", "final_label")
