"""The network as a teacher: it reads the table, dirty labels and unlabeled rows included, and needs no training."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dips._beliefs.teachers import Answers
from dips._data.containers import is_frame, n_rows, take
from dips._data.labels import UNLABELED
from dips._tools.arrays import Array, Rows
from dips.network import PriorFittedClassifier
from dips.network._weights import SHIPPED

MAX_LABELS = 1_000  # it was made for so many; beyond, trained models do as well and cost less
_UNLABELED_IN_CONTEXT = 200  # rows beside the labels: they show how the columns lie


def can_read(X: Any, n_labels: int, n_classes: int) -> bool:
    """Whether the network is there, and was made for such a table."""
    return SHIPPED.exists() and n_labels <= MAX_LABELS and n_classes <= 10 and (is_frame(X) or _is_numeric(X))


def _is_numeric(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"


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
            labeled[test] = self._read(context, train, labels, n_draws=1)[test]
        everything = np.unique(np.concatenate(trainings))
        return Answers(labeled, self._read(self.X, everything, labels, n_draws=2)[self.n_labeled :])

    def _read(self, X: Any, labeled: Rows, labels: Array, n_draws: int) -> Array:
        """Probabilities (n, C) of all rows of the table, where only some labels are shown."""
        shown = np.full(n_rows(X), UNLABELED)
        shown[labeled] = labels[labeled]
        most = max(self.n_labeled + _UNLABELED_IN_CONTEXT, 16)
        model = PriorFittedClassifier(n_draws=n_draws, max_context=most, random_state=self.seed, n_jobs=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the network cannot take in is of no concern to the user here
            model.fit(X, shown)
        p = np.zeros((n_rows(X), self.n_classes))
        p[:, model.classes_.astype(np.intp)] = model.belief_
        return p
