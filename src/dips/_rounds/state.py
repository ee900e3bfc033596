"""What is known of every row while the rounds run, and what they leave behind."""

from __future__ import annotations

from copy import copy
from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dips._data.labels import UNLABELED
from dips._tools.arrays import Array, Rows

NEVER = -1


@dataclass
class RoundsState:
    """One entry per row of the pool, the last model, and the history."""

    given: Array  # codes, -1 where unlabeled
    checked: InitVar[Array | None] = None  # mask of the verified labels; None, no label is
    is_verified: Array = field(init=False)  # their labels stay, whatever a curator says
    labels: Array = field(init=False)  # given and pseudo-labels so far
    round: Array = field(init=False)  # 0 given, -1 never, else the round a pseudo-label was proposed in
    useful: Array = field(init=False)  # rows the next model is trained on
    confidence: Array = field(init=False)  # as last judged; NaN where never
    aleatoric: Array = field(init=False)
    p_wrong: Array = field(init=False)  # probability that a given label is wrong; NaN without beliefs
    check_gain: Array = field(init=False)  # what a look at the label is worth; NaN without beliefs
    suggested: Array = field(init=False)  # codes of what suspects might be, -1 elsewhere, where believed
    estimator: BaseEstimator | None = None
    history: list[dict[str, Any]] = field(default_factory=list)  # one record per round; round 0 is the curated start
    termination: str = ""
    trajectories: Array | None = None
    by_class: list[dict[str, Any]] = field(default_factory=list)  # one record per class, under beliefs

    def __post_init__(self, checked: Array | None) -> None:
        self.labels = self.given.astype(np.int32)
        self.round = np.where(self.is_given, np.int32(0), np.int32(NEVER))
        self.useful = self.is_given.copy()
        unknown = np.full((4, self.given.size), np.nan, dtype=np.float32)
        self.confidence, self.aleatoric, self.p_wrong, self.check_gain = unknown
        self.suggested = np.full(self.given.size, UNLABELED, dtype=np.int32)
        self.is_verified = np.zeros(self.given.size, dtype=bool) if checked is None else checked
        self.p_wrong[self.is_verified] = 0

    @property
    def is_given(self) -> Array:
        """Mask of the rows whose label came with the data."""
        return self.given != UNLABELED

    def label(self, rows: Rows, labels: Array, t: int) -> None:
        """Take pseudo-labels proposed in round t."""
        self.labels[rows], self.round[rows] = labels, t

    def forget_pseudo_labels(self) -> None:
        """Leave the given labels only."""
        pseudo = ~self.is_given
        self.labels[pseudo], self.round[pseudo], self.useful[pseudo] = UNLABELED, NEVER, False

    def believe(self, rows: Rows, p_wrong: Array, useful: Array, otherwise: Array) -> None:
        """Take what is believed of given labels, and what the suspects among them would otherwise be."""
        stays = self.is_verified[rows]
        self.p_wrong[rows], self.useful[rows] = np.where(stays, 0, p_wrong), useful | stays
        self.suggested[rows] = np.where(self.useful[rows], UNLABELED, otherwise)

    def judge(self, rows: Rows, useful: Array, confidence: Array, aleatoric: Array) -> None:
        """Take the verdict on some rows, and forget what was thought of the others."""
        self.useful[:] = False
        self.useful[rows[useful]] = True
        for column, values in ((self.confidence, confidence), (self.aleatoric, aleatoric)):
            column[:] = np.nan
            column[rows] = values

    def first(self, n: int) -> RoundsState:
        """Return the same of the first n rows."""
        part = copy(self)
        columns = ("given", "is_verified", "labels", "round", "useful", "confidence", "aleatoric")
        for name in (*columns, "p_wrong", "check_gain", "suggested"):
            setattr(part, name, getattr(self, name)[:n])
        return part
