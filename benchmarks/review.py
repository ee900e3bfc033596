"""What checking labels buys: accuracy, the noise estimate, and how many of the next suspects are wrong.

    DIPS_DATA=... python benchmarks/review.py [SEEDS] [JOBS]

A simulated reviewer checks 0, 20, 60 and 200 labels of a table in which some are wrong, and each time, and once more
after 130, the next ones are chosen anew: by dips, the most probably wrong or the most useful to check first;
by cleanlab, the least normalized margin of out-of-fold probabilities of the same backbone first; or at random. The
reviewer knows the truth, or errs in a tenth of the looks. The model is always ours, trained with the verified labels,
except for "cleanlab alone": the backbone trained on the corrected table without the labels that cleanlab finds wrong.
About ten minutes on one core for one seed. docs/review_results.md has the figures.
"""

from __future__ import annotations

import sys
import warnings
from itertools import product

import numpy as np
import pandas as pd
import tables
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from common import run_grid, show
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from dips import CuratedClassifier
from dips.backbones import default_estimator
from dips.datasets import flip_labels, flip_labels_by_class

TABLES = ("adult", "covid", "compas", "credit")  # the last two were not looked at while this was built
WAYS = ("most likely wrong", "most useful", "cleanlab", "random")
LOOKS = (0, 20, 60, 200)
STEPS = (0, 20, 60, 130, 200)  # looks after which the next ones are chosen
MEASURES = (
    "accuracy",
    "log loss",
    "accuracy alone",
    "noise error",
    "width",
    "interval holds",
    "next wrong",
    "wrong left",
)
N_LABELED, N_TEST, N_NEXT = 600, 3_000, 20


def wrong_labels(truth: np.ndarray, noise: str, seed: int) -> np.ndarray:
    """Labels of which a fifth, drawn at random, or two fifths of one class are wrong."""
    if noise == "even":
        return flip_labels(truth, 0.2, random_state=seed)[0]
    return flip_labels_by_class(truth, {1: {0: 0.4}}, random_state=seed)[0]


def least_quality_first(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The ranking of cleanlab, and out-of-fold probabilities."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    p = cross_val_predict(default_estimator(), X, y, cv=folds, method="predict_proba")
    return np.argsort(get_label_quality_scores(y, p, method="normalized_margin"), kind="stable"), p


def cleanlab_alone(X: np.ndarray, y: np.ndarray, p: np.ndarray, verified: np.ndarray) -> object:
    """The backbone on the labels that cleanlab does not find wrong, and on all that were verified."""
    issues = find_label_issues(y, p) & ~verified
    return default_estimator().fit(X[~issues], y[~issues])


def order_of(way: str, model: CuratedClassifier, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Rows in the order to look at them."""
    if way == "random":
        return np.random.default_rng([seed, *map(ord, way)]).permutation(y.size)
    if way == "cleanlab":
        return least_quality_first(X, y, seed)[0]
    samples = model.samples_
    if way == "most useful":  # suspects first, then the others
        return np.lexsort([-samples["check_gain"], samples["useful"]])
    return np.argsort(-samples["p_wrong"].to_numpy(), kind="stable")


def review(table: str, noise: str, way: str, error: float, seed: int) -> list[dict]:
    """One review from the first look to the last; a record after each number of looks that is reported."""
    warnings.simplefilter("ignore")
    X, truth = tables.load(table)
    rows = np.random.RandomState(seed).permutation(truth.size)
    n = min(N_LABELED, rows.size // 2)
    labeled, test = rows[:n], rows[n:][:N_TEST]
    X_test, y_test, X, truth = X[test], truth[test], X[labeled], truth[labeled]
    given = wrong_labels(truth, noise, seed)
    rng = np.random.RandomState(seed + 1)
    errs = rng.uniform(size=n) < error
    answers = np.where(errs, (truth + rng.randint(1, truth.max() + 1, n)) % (truth.max() + 1), truth)
    verified, y, records = np.zeros(n, dtype=bool), given.copy(), []
    for step, upto in enumerate(STEPS):
        model = CuratedClassifier(random_state=seed).fit(X, y, verified=verified, y_given=given)
        order = order_of(way, model, X, y, seed)
        order = order[~verified[order]]
        if upto in LOOKS:
            p, curator = model.predict_proba(X_test), model.curator_
            low, high = curator.noise_interval_
            found = {
                "looks": upto,
                "accuracy": float((p.argmax(axis=1) == y_test).mean()),
                "log loss": float(log_loss(y_test, p, labels=np.arange(p.shape[1]))),
                "noise error": abs(curator.noise_rate_ - float((given != truth).mean())),
                "interval holds": float(low <= (given != truth).mean() <= high),
                "width": high - low,
                "next wrong": float((y != truth)[order[:N_NEXT]].mean()),
                "wrong left": float((y != truth).mean()),
            }
            if way == "cleanlab":
                alone = cleanlab_alone(X, y, least_quality_first(X, y, seed)[1], verified)
                found["accuracy alone"] = float((alone.predict(X_test) == y_test).mean())
            about = {"table": table, "noise": noise, "way": way, "reviewer errs": error, "seed": seed}
            records.append(about | found)
        if upto < STEPS[-1]:
            looked = order[: STEPS[step + 1] - upto]
            y[looked], verified[looked] = answers[looked], True
    return records


def gains_of_a_review(found: pd.DataFrame) -> pd.DataFrame:
    """Accuracy after the looks less that before, for each table."""
    of_way = found[(found["way"] == "most useful") & (found["reviewer errs"] == 0)]
    accuracy = of_way.groupby(["noise", "table", "looks"])["accuracy"].mean().unstack("looks")
    gains = accuracy.sub(accuracy[0], axis=0).drop(columns=0).mul(100).round(1)
    gains.index = [f"{noise}: {table}" for noise, table in gains.index]
    return gains


def main(n_seeds: int = 1, jobs: int = 1) -> None:
    """Run the grid and print what the looks bought."""
    settings = [("even", 0.0), ("even", 0.1), ("one way", 0.0)]  # which labels are wrong, and how often the reviewer is
    grid = [(t, noise, way, error, s) for s, t, (noise, error), way in product(range(n_seeds), TABLES, settings, WAYS)]
    found = run_grid("review", review, grid, jobs)
    for measure in MEASURES:
        part = found.dropna(subset=[measure])
        by = part.groupby(["noise", "reviewer errs", "way", "looks"])[measure].mean().mul(100).round(1).unstack("looks")
        by.index = [f"{noise}, errs {error:.0%}: {way}" for noise, error, way in by.index]
        show(f"{measure}, %, after so many looks; mean over {len(TABLES)} tables, {n_seeds} seeds", by)
    gains = gains_of_a_review(found)
    show("accuracy in points that a review brings on each table, most useful first", gains)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
