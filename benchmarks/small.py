"""What must hold of whatever is made faster: checks of correctness, never of time, in under a minute.

python benchmarks/small.py
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from common import show
from data import make_table, synthetic, write_parquet
from pandas.testing import assert_frame_equal
from watch import BACKBONES, backbone, portable_watch, textbook, watch

from dips import PseudoLabelClassifier
from dips.labelers import CSA, SLA, UPS, FlexMatch, Greedy, Labeler
from dips.labelers._base import best_of_each_class

PACKAGES = dict(zip(BACKBONES, ("xgboost", "lightgbm", "catboost", "sklearn"), strict=True))
LABELERS = (Greedy(), FlexMatch(), UPS(n_models=2), SLA(n_models=2), CSA(n_models=2))
SINGLE = 2e-5  # statistics are kept in single precision


def the_watch_pass_gives_the_textbook_statistics(name: str, n_classes: int) -> None:
    """Compare the one pass, compiled or portable, with the definitions on a full prediction a checkpoint."""
    X, y = make_table(1500, n_classes)
    fitted = backbone(name, 20).fit(X[:1000], y[:1000])
    confidence, aleatoric = textbook(fitted, X, 20)
    for dynamics in (watch(fitted, X, n_classes), portable_watch(fitted, X, n_classes)):
        np.testing.assert_allclose(dynamics["confidence"], confidence, atol=SINGLE)
        np.testing.assert_allclose(dynamics["aleatoric"], aleatoric, atol=SINGLE)
        np.testing.assert_allclose(dynamics.probabilities, fitted.predict_proba(X), atol=SINGLE)


def a_curated_run_comes_out_the_same_again(labeler: Labeler) -> None:
    """Compare two runs from one seed, on one worker and on two."""
    data = synthetic(0, noise=0.2, n_labeled=150, n_unlabeled=400, n_test=100)
    accounts, predictions = [], []
    for n_jobs in (1, 2):
        model = PseudoLabelClassifier(
            backbone("XGBoost", 20), labeler=labeler, n_rounds=3, random_state=0, n_jobs=n_jobs
        )
        model.fit(data.X, data.y, X_unlabeled=data.X_unlabeled)
        accounts.append(model.samples_)
        predictions.append(model.predict_proba(data.X_test))
    assert_frame_equal(*accounts)
    np.testing.assert_array_equal(*predictions)


def rows_in_parquet_files_give_the_same_as_in_memory() -> None:
    """Compare a run over a folder with one over the same rows as an array."""
    data = synthetic(0, noise=0.2, n_labeled=150, n_unlabeled=700, n_test=100)
    X, X_test = data.X.astype(np.float32), data.X_test.astype(np.float32)
    model = PseudoLabelClassifier(backbone("XGBoost", 20), n_rounds=3, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        write_parquet(Path(folder), 700, rows_per_file=300)
        in_memory = pd.read_parquet(folder).to_numpy()
        accounts, predictions = [], []
        for X_unlabeled in (in_memory, Path(folder)):
            model.fit(X, data.y, X_unlabeled=X_unlabeled)
            accounts.append(model.samples_)
            predictions.append(model.predict_proba(X_test))
    assert_frame_equal(*accounts)
    np.testing.assert_array_equal(*predictions)


def the_best_rows_are_those_that_sorting_finds() -> None:
    """Compare the selection in linear time with sorting, ties included."""
    rng = np.random.RandomState(0)
    labels, scores, eligible = rng.randint(0, 3, 5000), rng.randint(0, 50, 5000) / 50, rng.uniform(size=5000) > 0.3
    caps = np.array([0, 100, 10**6])
    best = best_of_each_class(labels, scores, eligible, caps)
    wanted = []
    for c, cap in enumerate(caps):
        rows = np.flatnonzero(eligible & (labels == c))
        wanted.extend(rows[np.argsort(-scores[rows], kind="stable")][:cap])
    np.testing.assert_array_equal(best, np.sort(wanted))


def checks() -> dict[str, Callable[[], None]]:
    """List every check by a sentence; boosters that are not installed are left out."""
    named: dict[str, Callable[[], None]] = {}
    for name in BACKBONES:
        for n_classes in (2, 4) if importlib.util.find_spec(PACKAGES[name]) else ():
            check = partial(the_watch_pass_gives_the_textbook_statistics, name, n_classes)
            named[f"the watch pass gives the textbook statistics: {name}, {n_classes} classes"] = check
    for labeler in LABELERS:
        check = partial(a_curated_run_comes_out_the_same_again, labeler)
        named[f"a curated run comes out the same again: {labeler.name}"] = check
    named["rows in Parquet files give the same as in memory"] = rows_in_parquet_files_give_the_same_as_in_memory
    named["the best rows are those that sorting finds"] = the_best_rows_are_those_that_sorting_finds
    return named


def main() -> None:
    """Run every check; the first that fails ends the run."""
    rows = []
    for sentence, check in checks().items():
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check()
        rows.append({"holds": sentence, "seconds": f"{time.perf_counter() - began:.2f}"})
    show("Small benchmark", pd.DataFrame(rows).set_index("holds"))


if __name__ == "__main__":
    main()
