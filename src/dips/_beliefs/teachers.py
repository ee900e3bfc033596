"""Teachers: models that err differently, each asked only about labels that it was not trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from dips._data.containers import is_frame
from dips._data.encoder import TableEncoder
from dips._rounds.training import Trainer
from dips._tools.arrays import Array, Rows
from dips._tools.seeds import MAX_SEED
from dips._tools.threads import one_blas_thread

_MAX_DENSE_CELLS = 20_000_000  # a sparse table with more is left to the backbone
_LARGEST = 1e30  # helpers compute in single precision, and a backbone that bins its columns may be given larger numbers
_N_TREES = 50
_LOOK = 200  # rows that tell whether a column has many values
_N_QUANTILES, _MAX_RANKED = 200, 10_000  # of a column, and of the rows that tell them
_FEW_VALUES = range(3, 13)  # a column with so many different values also gets an indicator of each


@dataclass(frozen=True)
class Answers:
    """What one teacher says.

    Attributes
    ----------
    labeled : (n, C) probabilities of the labeled rows, each from a model that was not trained on it
    unlabeled : (m, C) of the unlabeled rows, averaged over the models of all folds
    """

    labeled: Array
    unlabeled: Array


class Teacher(Protocol):
    """Trains one model for each fold and answers with their probabilities."""

    @property
    def name(self) -> str:
        """What ``teachers_`` calls it."""
        ...

    @property
    def max_rows(self) -> int:
        """The most rows that one of its models is trained on."""
        ...

    def answer(self, trainings: Sequence[Rows], tests: Sequence[Rows], labels: Array) -> Answers:
        """Train on positions among the labeled rows, and predict the tests and all unlabeled rows."""
        ...


@dataclass(frozen=True)
class BackboneTeacher:
    """The user's own classifier."""

    trainer: Trainer
    labeled: Rows  # of the pool
    unlabeled: Rows
    max_rows: int
    name: str = "backbone"

    def answer(self, trainings: Sequence[Rows], tests: Sequence[Rows], labels: Array) -> Answers:
        """Train clones of the backbone."""
        targets = [np.concatenate([self.labeled[test], self.unlabeled]) for test in tests]
        sets = [(self.labeled[train], labels[train]) for train in trainings]
        predicted = self.trainer.fit_and_predict(sets, targets)
        return _gather(predicted, tests, labels.size, self.unlabeled.size, self.trainer.n_classes)


@dataclass(frozen=True)
class HelperTeacher:
    """A small classifier of our own, on columns of its own."""

    name: str
    make: Callable[[int], Any]  # from a seed
    X: Array  # labeled rows, then unlabeled ones
    weights: Array | None  # of the labeled rows
    n_classes: int
    seeds: Sequence[int]
    max_rows: int

    def answer(self, trainings: Sequence[Rows], tests: Sequence[Rows], labels: Array) -> Answers:
        """Train one model per fold."""
        unlabeled = self.X[labels.size :]

        def one_fold(train: Rows, test: Rows, seed: int) -> Array:
            weights = None if self.weights is None else self.weights[train]
            model = self.make(seed).fit(self.X[train], labels[train], weights)
            p = np.zeros((test.size + len(unlabeled), self.n_classes))
            p[:, model.classes_] = model.predict_proba(np.concatenate([self.X[test], unlabeled]))
            return p

        with one_blas_thread():
            predicted = map(one_fold, trainings, tests, self.seeds)
            return _gather(predicted, tests, labels.size, len(unlabeled), self.n_classes)


def _gather(predicted: Any, tests: Sequence[Rows], n: int, n_unlabeled: int, n_classes: int) -> Answers:
    """Put the answers of the folds together."""
    labeled, unlabeled = np.zeros((n, n_classes)), np.zeros((n_unlabeled, n_classes))
    for test, p in zip(tests, predicted, strict=True):
        labeled[test] = p[: test.size]
        unlabeled += p[test.size :] / len(tests)
    return Answers(labeled, unlabeled)


def make_helpers(
    names: Sequence[str],
    X: Array,
    linear: Array,
    weights: Array | None,
    n_classes: int,
    n_folds: int,
    max_rows: int,
    rng: np.random.RandomState,
    share_of_trees: float = 1.0,
) -> list[Teacher]:
    """Return the named helpers, on columns X or on those for linear models; a new kind is one more of ``HELPERS``."""
    helpers: list[Teacher] = []
    n_trees = max(1, round(share_of_trees * _N_TREES))
    for name in names:
        kind = HELPERS[name]
        seeds = rng.randint(MAX_SEED, size=n_folds).tolist()
        columns = linear if kind.is_linear else X
        make = partial(kind.make, n_trees)
        helpers.append(HelperTeacher(name, make, columns, weights, n_classes, seeds, max_rows))
    return helpers


@dataclass(frozen=True)
class _Kind:
    is_linear: bool
    make: Callable[[int, int], Any]  # from the trees of a forest, and a seed


def _linear(strength: float) -> _Kind:
    return _Kind(True, lambda n_trees, seed: LogisticRegression(C=strength, max_iter=200))


def _trees(leaf: int) -> _Kind:
    return _Kind(False, lambda n_trees, seed: ExtraTreesClassifier(n_trees, min_samples_leaf=leaf, random_state=seed))


HELPERS = {
    "linear": _linear(0.1),
    "stiff linear": _linear(0.01),  # strongly regularized: at 40 % noise it sees what others cannot
    "trees": _trees(3),
    "stiff trees": _trees(10),
}


def numeric_columns(X: Any) -> Array | None:
    """Return rows as numbers (m, p) that helpers can read, NaN where missing; None where there is no such view."""
    if is_frame(X):
        X = TableEncoder().encode(X, learn=True)
    if sp.issparse(X):
        X = X.toarray() if np.prod(X.shape, dtype=float) <= _MAX_DENSE_CELLS else None
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "fiub":
        return None
    X = X.astype(np.float64)
    X[~np.isfinite(X)] = np.nan
    return np.clip(X, -_LARGEST, _LARGEST)


def linear_columns(X: Array) -> Array:
    """Columns for a linear model: rank-normal, a missing value as the mean, and an indicator of each of few values."""
    values = [_distinct(column) for column in X.T]
    varying = np.array([v.size > 1 for v in values], dtype=bool)
    if not varying.any():
        return np.zeros((len(X), 1))
    X, values = X[:, varying], [v for v in values if v.size > 1]
    normal = _normal_ranks(X)
    scaled = (normal - np.nanmean(normal, axis=0)) / (np.nanstd(normal, axis=0) + 1e-9)
    parts = [np.nan_to_num(scaled)]
    for column, distinct in zip(X.T, values, strict=True):
        if distinct.size in _FEW_VALUES:
            indicators = (column[:, None] == distinct).astype(float)
            parts.append(indicators - indicators.mean(axis=0))
    return np.concatenate(parts, axis=1)


def _distinct(column: Array) -> Array:
    """Return the values that a column has; where its first rows have many already, only theirs."""
    first = column[:_LOOK]
    seen = np.unique(first[~np.isnan(first)])
    return seen if seen.size not in range(_FEW_VALUES.stop) else np.unique(column[~np.isnan(column)])


def _normal_ranks(X: Array) -> Array:
    """Every value as the normal quantile of its rank in the column, at most 3; the least and the largest at the ends.

    The same as scikit-learn's QuantileTransformer, at less than half of the price.
    """
    sample, shares = X[:: max(1, len(X) // _MAX_RANKED)], np.linspace(0, 1, min(_N_QUANTILES, len(X)))
    ranks = np.empty(X.shape)
    for column, quantiles, rank in zip(X.T, np.nanquantile(sample, shares, axis=0).T, ranks.T, strict=True):
        rank[:] = np.interp(column, quantiles, shares)
        if (quantiles[1:] == quantiles[:-1]).any():  # the middle of the ranks of equal values
            rank[:] = (rank - np.interp(-column, -quantiles[::-1], -shares[::-1])) / 2
        rank[column <= quantiles[0]], rank[column >= quantiles[-1]] = 0, 1
    return np.clip(ndtri(ranks), -3, 3)
