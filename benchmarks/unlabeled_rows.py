"""Where unlabeled rows help by themselves: the default with them less the default without.

    DIPS_DATA=folder python benchmarks/unlabeled_rows.py [SEEDS] [JOBS] [GROUP...]

Three groups. *clusters*: classes that lie in clusters, synthetic but for scikit-learn's digits. *shifted*: labels from
one part of a table (the young, one hospital), unlabeled and test rows from the rest. *as they come*: development tables
of ``dips paper run good-model``, split at random. Few labels, none or a fifth of them flipped, at most 1,000 unlabeled
rows, and the XGBoost of that experiment. Gains are means over numbers of labels and noise, ± the standard error over
seeds; about 3 s for each cell and seed on one core.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from common import run_grid, show, with_error
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons

from dips._paper.tables import gains, methods
from dips._paper.tables.scores import scores
from dips._paper.tables.splits import Split, authors_seeds, table
from dips._paper.tables.trial import Trial
from dips.datasets import Dataset, flip_labels, make_quadrants

MAX_TEST, MAX_UNLABELED, N_MADE = 1_500, 1_000, 3_000
NOISES = (0.0, 0.2)
BELIEFS = {"labeler": {"name": "auto"}, "curator": {"name": "beliefs"}}
METHODS: dict[str, dict[str, Any]] = {
    gains.SUPERVISED: {"method": "supervised"},
    gains.WITHOUT_UNLABELED: BELIEFS | {"method": "curated"},
    gains.WITH_UNLABELED: BELIEFS | {"method": "pl"},
    gains.ALL_LABELS: {"method": "all_labels"},
}
Rows = tuple[np.ndarray, np.ndarray]  # X and y


def _blobs(seed: int) -> Rows:
    """Twelve clusters, four of each class."""
    X, cluster = make_blobs(N_MADE, n_features=10, centers=12, cluster_std=2.5, random_state=seed)
    return X, np.random.RandomState(seed).permutation(12)[cluster] % 3


CLUSTERS: dict[str, Callable[[int], Rows]] = {
    "quadrants": lambda seed: make_quadrants(N_MADE, random_state=seed),
    "moons": lambda seed: make_moons(N_MADE, noise=0.1, random_state=seed),
    "rings": lambda seed: make_circles(N_MADE, noise=0.08, factor=0.5, random_state=seed),
    "blobs": _blobs,
    "digits": lambda seed: load_digits(return_X_y=True),
}


def _below_median(column: str) -> Callable[[Dataset], np.ndarray]:
    return lambda t: (t.X[column] < t.X[column].median()).to_numpy()


def _equal(column: str, value: float) -> Callable[[Dataset], np.ndarray]:
    return lambda t: (t.X[column] == value).to_numpy()


def _site(name: str) -> Callable[[Dataset], np.ndarray]:
    return lambda t: np.asarray(t.groups) == name


SHIFTED: dict[str, tuple[str, Callable[[Dataset], np.ndarray]]] = {  # which rows labels are from
    "adult: labels of the young": ("adult", _below_median("age")),
    "adult: labels of men": ("adult", _equal("sex", 1)),
    "covid: labels of the young": ("covid", _below_median("Age")),
    "higgs: labels without jets": ("higgs", _equal("PRI_jet_num", 0)),
    "heart: labels from Cleveland (held out)": ("heart", _site("cleveland")),
    "heart: labels from Hungary (held out)": ("heart", _site("hungarian")),
    "credit: labels of the young (held out)": ("credit", _below_median("AGE")),
}
AS_THEY_COME = ("adult", "agaricus-lepiota", "blog", "covid", "drug", "german", "higgs")
GROUPS: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {  # names and numbers of labels
    "clusters": (tuple(CLUSTERS), (20, 50, 100)),
    "shifted": (tuple(SHIFTED), (50, 100)),
    "as they come": (AS_THEY_COME, (20, 50, 100)),
}


def drawn(group: str, name: str, n_labels: int, noise: float, seed: int) -> Split:
    """Labeled rows from home, where a group has one; of all other rows the test first, then unlabeled ones."""
    if group == "clusters":
        X, y = CLUSTERS[name](seed)
        at_home = np.ones(y.size, dtype=bool)
    else:
        dataset = table(SHIFTED[name][0] if group == "shifted" else name)
        X, y = dataset.matrix, dataset.y
        at_home = SHIFTED[name][1](dataset) if group == "shifted" else np.ones(y.size, dtype=bool)
    rng = np.random.RandomState(seed % 2**32)
    home, away = rng.permutation(np.flatnonzero(at_home)), np.flatnonzero(~at_home)
    two_of_each = np.concatenate([home[y[home] == c][:2] for c in np.unique(y)])
    home = np.concatenate([two_of_each, home[~np.isin(home, two_of_each)]])
    labeled, rest = home[:n_labels], rng.permutation(away if away.size else home[n_labels:])
    n_test = min(MAX_TEST, rest.size // 2)
    test, unlabeled = rest[:n_test], rest[n_test:][:MAX_UNLABELED]
    noisy, flipped = flip_labels(y[labeled], noise, random_state=seed % 2**32)
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return Split(X[labeled], noisy, flipped, X[unlabeled], y[unlabeled], X[test], y[test], names, y[labeled])


def records_of(group: str, name: str, n_labels: int, noise: float, seed: int) -> list[dict[str, Any]]:
    """Every method on one cell and seed."""
    warnings.simplefilter("ignore")
    split, records = drawn(group, name, n_labels, noise, seed), []
    n_classes = int(max(y.max() for y in (split.y_true, split.y_unlabeled, split.y_test))) + 1
    for method, settings in METHODS.items():
        fitted = methods.fit(Trial(name, seed, backbone="xgboost sensible", **settings), split)
        p = fitted.predict_proba(split.X_test, n_classes)
        cell = {"group": group, "table": name, "labels": n_labels, "noise": noise, "seed": seed, "method": method}
        records.append(cell | {"accuracy": float((p.argmax(axis=1) == split.y_test).mean())} | scores(p, split.y_test))
    return records


def added(frame: pd.DataFrame, by: str) -> pd.DataFrame:
    """Accuracy of each method by group and a column, and what unlabeled rows add to it and to the log loss."""
    means = (
        frame.groupby(["group", by, "seed", "method"], sort=False)[["accuracy", "log_loss"]].mean().unstack("method")
    )
    lines = ["group", by]
    result = (100 * means["accuracy"].groupby(lines, sort=False).mean()).round(1)[list(METHODS)]
    for measure, title in {"accuracy": "unlabeled rows add", "log_loss": "to the log loss, in hundredths"}.items():
        difference = means[measure][gains.WITH_UNLABELED] - means[measure][gains.WITHOUT_UNLABELED]
        result[title] = difference.groupby(lines, sort=False).apply(with_error)
    return result.reset_index("group")


def tables_of(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """What is printed: by group, by table, and by number of labels."""
    yield "by group", added(frame.assign(all="all"), "all")
    yield "by table", added(frame, "table")
    yield "by labels", added(frame, "labels")


def cells(n_seeds: int, groups: list[str]) -> Iterator[tuple[Any, ...]]:
    """Every table, number of labels and noise of the groups."""
    for seed, group in product(authors_seeds(n_seeds), groups):
        names, numbers = GROUPS[group]
        yield from ((group, *cell, seed) for cell in product(names, numbers, NOISES))


def main() -> None:
    """Measure, print, keep."""
    n_seeds, jobs = ([int(a) for a in sys.argv[1:3]] + [5, 2][len(sys.argv[1:3]) :])[:2]
    groups = sys.argv[3:] or list(GROUPS)
    frame = run_grid("unlabeled_rows", records_of, cells(n_seeds, groups), jobs)
    for title, table_of in tables_of(frame):
        show(f"What unlabeled rows add, {title}, {n_seeds} seeds", table_of)


if __name__ == "__main__":
    main()
