"""Teachers: models that err differently, each asked only about labels that it was not trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from dips._beliefs.asked_rows import AskedRows
from dips._beliefs.effort import Effort
from dips._rounds.training import Trainer
from dips._tools.arrays import Array, Rows
from dips._tools.seeds import MAX_SEED
from dips._tools.threads import one_blas_thread
from dips._tools.warnings import many_classes

_N_TREES = 50


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

        with one_blas_thread(), many_classes():
            predicted = map(one_fold, trainings, tests, self.seeds)
            return _gather(predicted, tests, labels.size, len(unlabeled), self.n_classes)


def _gather(predicted: Any, tests: Sequence[Rows], n: int, n_unlabeled: int, n_classes: int) -> Answers:
    """Put the answers of the folds together."""
    labeled, unlabeled = np.zeros((n, n_classes)), np.zeros((n_unlabeled, n_classes))
    for test, p in zip(tests, predicted, strict=True):
        labeled[test] = p[: test.size]
        unlabeled += p[test.size :] / len(tests)
    return Answers(labeled, unlabeled)


def make_helpers(rows: AskedRows, effort: Effort, n_classes: int, rng: np.random.RandomState) -> list[Teacher]:
    """Return the helpers that the effort names, for rows that are read as numbers."""
    assert rows.numbers is not None
    assert rows.linear is not None
    helpers: list[Teacher] = []
    n_trees = max(1, round(effort.share_of_trees * _N_TREES))
    for name in effort.helpers:
        kind = HELPERS[name]
        columns = rows.linear if kind.is_linear else rows.numbers
        seeds = rng.randint(MAX_SEED, size=effort.n_folds).tolist()
        make = partial(kind.make, n_trees)
        helpers.append(HelperTeacher(name, make, columns, rows.weights, n_classes, seeds, effort.max_rows_helper))
    return helpers


@dataclass(frozen=True)
class _Kind:
    is_linear: bool  # trained on columns for linear models
    make: Callable[[int, int], Any]  # from the number of trees and a seed


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
