"""Which rows are labeled, unlabeled and for the test: the same for all methods that are compared."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from dips._tools.arrays import Array, Rows
from dips.datasets import (
    Dataset,
    flip_labels,
    flip_labels_by_class,
    flip_labels_by_instance,
    load,
    make_moons,
    make_quadrants,
)
from dips.datasets._tables import TABLES
from dips.exceptions import DataError

if TYPE_CHECKING:
    from dips._paper.tables.trial import Trial

SYNTHETIC = ("quadrants", "moons")
CROSS = "cross:"  # prefix: labeled and test rows from one place, unlabeled ones from other countries
_COUNTRY = {"cleveland": "US", "va_long_beach": "US", "hungarian": "Hungary", "switzerland": "Switzerland"}
_DRAWN_WITH = 42  # the authors draw a part of a large table once, with this seed, whatever the seed of the split
_N_TEST = 50_000  # fresh rows for synthetic tables
_MAX_TEST, _TEST_SHARE = 1_500, 0.4  # where the number of labels is given
_FEWEST_OF_A_CLASS = 2  # labels, where their number is given


@dataclass(frozen=True)
class Split:
    """Rows and labels of one trial; `y_labeled` has the noise in it, everything else is as given."""

    X_labeled: Array
    y_labeled: Array
    flipped: Array  # (n_labeled,) which labels were made wrong
    X_unlabeled: Array
    y_unlabeled: Array  # never shown to a method
    X_test: Array
    y_test: Array
    features: tuple[str, ...]
    y_true: Array  # (n_labeled,) the labels before the noise

    def with_all_labels(self) -> Split:
        """All rows labeled, and rightly."""
        X = np.concatenate([self.X_labeled, self.X_unlabeled])
        y = np.concatenate([self.y_true, self.y_unlabeled])
        none = np.zeros(y.size, dtype=bool)
        return replace(self, X_labeled=X, y_labeled=y, y_true=y, flipped=none)


def authors_seeds(n: int) -> list[int]:
    """0, 10, 120, 1230, ...: each is ten times the previous plus its index, kept within 32 bits.

    Examples
    --------
    >>> authors_seeds(5)
    [0, 10, 120, 1230, 12340]
    """
    seeds = [0]
    for i in range(1, n):
        seeds.append((seeds[-1] + i) * 10 % 2**32)
    return seeds[:n]


def fingerprint(data: str) -> str:
    """What identifies the rows that a name stands for."""
    return "+".join(table(name).fingerprint + _draw_rule(name) for name in tables_of(data)) or data


def _draw_rule(name: str) -> str:
    rule = TABLES[name].balanced or TABLES[name].paper_rows
    return "" if rule is None else f":{rule}"


def tables_of(data: str) -> tuple[str, ...]:
    """The data sets that a name of a trial's rows stands for; none for synthetic ones."""
    if data in SYNTHETIC:
        return ()
    if data.startswith(CROSS):
        return ("cutract", "seer") if data == f"{CROSS}cutract" else ("heart",)
    return (data,)


def table(name: str) -> Dataset:
    """A data set, kept for the next trial of this process."""
    return _kept(name, os.environ.get("DIPS_DATA"))


@lru_cache(maxsize=16)
def _kept(name: str, folder: str | None) -> Dataset:
    return load(name)


def make_split(trial: Trial) -> Split:
    """Draw the rows of a trial."""
    if trial.data in SYNTHETIC:
        return _synthetic(trial)
    if trial.data.startswith(CROSS):
        X, y, rows, features = _cross_rows(trial)
    else:
        dataset = table(trial.data)
        X, y, features = dataset.matrix, dataset.y, tuple(map(str, dataset.X.columns))
        rows = _table_rows(dataset, trial.seed) if trial.labels is None else _rows_for(dataset, trial)
    labeled, unlabeled, test = rows
    labeled = _share(labeled, y, trial.share, trial.seed)[: trial.max_labeled]
    unlabeled = unlabeled[: trial.max_unlabeled]
    noisy, flipped = _flipped(X[labeled], y[labeled], trial)
    return Split(X[labeled], noisy, flipped, X[unlabeled], y[unlabeled], X[test], y[test], features, y[labeled])


def _synthetic(trial: Trial) -> Split:
    make = make_quadrants if trial.data == "quadrants" else make_moons
    n = trial.n_labeled + trial.n_unlabeled
    X, y = make(n, random_state=trial.seed)
    X_test, y_test = make(_N_TEST, random_state=10_000 + trial.seed)
    order = np.arange(n)
    if trial.data == "moons":  # as many labels of one class as of the other
        first = np.concatenate([np.flatnonzero(y == c)[: trial.n_labeled // 2] for c in (0, 1)])
        order = np.concatenate([first, np.setdiff1d(order, first)])
    first, rest = order[: trial.n_labeled], order[trial.n_labeled :]
    noisy, flipped = flip_labels(y[first], trial.noise, random_state=trial.seed)
    return Split(X[first], noisy, flipped, X[rest], y[rest], X_test, y_test, ("x0", "x1"), y[first])


def _table_rows(dataset: Dataset, seed: int) -> tuple[Rows, Rows, Rows]:
    """20 % for the test, a tenth of the rest labeled, at random."""
    train, test = train_test_split(_drawn(dataset), test_size=0.2, random_state=seed)
    labeled, unlabeled = train_test_split(train, train_size=0.1, random_state=seed)
    return labeled, unlabeled, test


def _rows_for(dataset: Dataset, trial: Trial) -> tuple[Rows, Rows, Rows]:
    """So many labels as the trial says, at least two of every class; at most 40 % of the rows for the test."""
    rows = np.random.RandomState(trial.seed % 2**32).permutation(_drawn(dataset))
    n_test = min(_MAX_TEST, int(_TEST_SHARE * rows.size))
    test, rest = rows[:n_test], rows[n_test:]
    if trial.labels is None or not enough_rows(dataset, trial.labels):
        raise DataError(f"{dataset.name} has too few rows for {trial.labels} labels.")
    codes = dataset.y[rest]
    of_every_class = [np.flatnonzero(codes == c)[:_FEWEST_OF_A_CLASS] for c in np.unique(codes)]
    order = np.concatenate([*of_every_class, np.arange(rest.size)])
    first = np.unique(order, return_index=True)[1]
    order = order[np.sort(first)]  # those of every class first, then as they come
    return rest[order[: trial.labels]], rest[order[trial.labels :]], test


def enough_rows(dataset: Dataset, n_labels: int) -> bool:
    """Whether at least as many rows stay unlabeled as a quarter of the labels."""
    n = _drawn(dataset).size
    return 1.25 * n_labels <= n - min(_MAX_TEST, int(_TEST_SHARE * n))


def _flipped(X: Array, y: Array, trial: Trial) -> tuple[Array, Array]:
    """Noisy labels, and which of them are wrong."""
    seed = trial.seed % 2**32
    classes, counts = np.unique(y, return_counts=True)
    rarest, largest = int(classes[counts.argmin()]), int(classes[counts.argmax()])
    if trial.noise_kind == "one way":
        return flip_labels_by_class(y, {rarest: {largest: trial.noise}}, random_state=seed)
    if trial.noise_kind == "by class":
        rates = {int(c): trial.noise if c == rarest else trial.noise / 3 for c in classes}
        return flip_labels_by_class(y, rates, random_state=seed)
    if trial.noise_kind == "by instance":
        return flip_labels_by_instance(X, y, trial.noise, random_state=seed)
    return flip_labels(y, trial.noise, random_state=seed)


def _drawn(dataset: Dataset) -> Rows:
    """The rows that the paper uses of a table."""
    declared, rows = TABLES[dataset.name], pd.Series(np.arange(dataset.y.size))
    if declared.balanced is not None:
        fewest = int(np.bincount(dataset.y).min())
        if fewest < declared.balanced:
            raise DataError(f"{dataset.name} needs {declared.balanced} rows of each class; one class has {fewest}.")
        parts = [rows[dataset.y == c].sample(declared.balanced, random_state=_DRAWN_WITH) for c in (1, 0)]
        return pd.concat(parts).sample(frac=1, random_state=_DRAWN_WITH).to_numpy()
    if declared.paper_rows is None:
        return rows.to_numpy()
    if isinstance(declared.paper_rows, float):
        return rows.sample(frac=declared.paper_rows, random_state=_DRAWN_WITH).to_numpy()
    return rows.sample(min(declared.paper_rows, rows.size), random_state=_DRAWN_WITH).to_numpy()


def _cross_rows(trial: Trial) -> tuple[Array, Array, tuple[Rows, Rows, Rows], tuple[str, ...]]:
    """A fifth of the home's rows labeled, the others for the test; unlabeled rows from other countries."""
    home = trial.data.removeprefix(CROSS)
    tables = [table(name) for name in tables_of(trial.data)]
    X, y = np.concatenate([t.matrix for t in tables]), np.concatenate([t.y for t in tables])
    if home == "cutract":
        at_home, away = _drawn(tables[0]), tables[0].y.size + _drawn(tables[1])
    else:
        sites = tables[0].groups
        countries = np.array([_COUNTRY[s] for s in sites])  # type: ignore[union-attr]
        at_home, away = np.flatnonzero(sites == home), np.flatnonzero(countries != _COUNTRY[home])
    labeled, test = train_test_split(at_home, train_size=0.2, random_state=trial.seed)
    away = np.random.RandomState(trial.seed).permutation(away)
    return X, y, (labeled, away, test), tuple(map(str, tables[0].X.columns))


def _share(labeled: Rows, y: Array, share: float, seed: int) -> Rows:
    """A part of the labeled rows, with at least one of each class that they have."""
    if share >= 1:
        return labeled
    kept, _ = train_test_split(labeled, train_size=share, random_state=seed)
    lost = np.setdiff1d(y[labeled], y[kept])
    return np.concatenate([kept, [labeled[y[labeled] == c][0] for c in lost]]).astype(np.intp)
