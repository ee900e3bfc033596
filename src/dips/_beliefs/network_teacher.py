"""The network as a teacher: it reads the table, dirty labels and unlabeled rows included, and needs no training."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dips._beliefs.teachers import Answers, Teacher
from dips._data.containers import is_frame, n_rows, take
from dips._data.encoder import TableEncoder
from dips._data.labels import UNLABELED
from dips._tools.arrays import Array, Rows
from dips._tools.seeds import draw_seed
from dips._tools.warnings import warn
from dips.exceptions import DipsError
from dips.network import PriorFittedClassifier
from dips.network._limits import MAX_CLASSES, MAX_LABELS

_UNLABELED_IN_CONTEXT = 200  # rows beside the labels: they show how the columns lie


def network_teachers(X: Any, n_labeled: int, n_classes: int, rng: np.random.RandomState) -> list[Teacher]:
    """The network, or a warning that says why it was not asked."""
    reason = _unreadable(X, n_labeled, n_classes)
    if reason:
        warn(f"The network is not among the teachers: {reason}.")
        return []
    return [NetworkTeacher(X, n_labeled, n_classes, draw_seed(rng))]


def _unreadable(X: Any, n_labeled: int, n_classes: int) -> str | None:
    if n_labeled > MAX_LABELS:
        return f"the table has {n_labeled} labels, and it reads at most {MAX_LABELS}"
    if n_classes > MAX_CLASSES:
        return f"the labels name {n_classes} classes, and it tells at most {MAX_CLASSES} apart"
    if is_frame(X):
        return _unreadable_column(X)
    if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"):
        return "it reads data frames and dense arrays of numbers"
    return None


def _unreadable_column(frame: Any) -> str | None:
    try:
        TableEncoder().encode(frame, learn=True)
    except DipsError as error:
        return str(error).partition("; ")[0].rstrip(".")
    return None


@dataclass(frozen=True)
class NetworkTeacher:
    """One reading for each fold, in which the labels of its test rows are hidden, and one with all labels."""

    X: Any  # labeled rows, then unlabeled ones
    n_labeled: int
    n_classes: int
    seed: int
    name: str = "network"
    max_rows: int = MAX_LABELS

    def answer(self, trainings: Sequence[Rows], tests: Sequence[Rows], labels: Array) -> Answers:
        """Read the table once for each fold, and once with every label for the unlabeled rows."""
        n_context = self.n_labeled + min(_UNLABELED_IN_CONTEXT, n_rows(self.X) - self.n_labeled)
        context, labeled = take(self.X, np.arange(n_context)), np.zeros((self.n_labeled, self.n_classes))
        for train, test in zip(trainings, tests, strict=True):
            labeled[test] = self._read(context, train, labels)[test]
        everything = np.unique(np.concatenate(trainings))
        return Answers(labeled, self._read(self.X, everything, labels)[self.n_labeled :])

    def _read(self, X: Any, labeled: Rows, labels: Array) -> Array:
        """Probabilities (n, C) of all rows of the table, where only some labels are shown."""
        shown = np.full(n_rows(X), UNLABELED)
        shown[labeled] = labels[labeled]
        most = max(self.n_labeled + _UNLABELED_IN_CONTEXT, 16)
        model = PriorFittedClassifier(max_context=most, random_state=self.seed, n_jobs=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the network cannot take in is of no concern to the user here
            model.fit(X, shown)
        p = np.zeros((n_rows(X), self.n_classes))
        p[:, model.classes_.astype(np.intp)] = model.belief_
        return p
