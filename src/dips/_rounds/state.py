"""What is known of every row while the rounds run, and what they leave behind."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import InitVar, dataclass, field, fields
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dips._data.labels import UNLABELED
from dips._data.verified import Verified
from dips._tools.arrays import Array, Rows

NEVER = -1


@dataclass
class RoundsState:
    """One entry per row of the pool, the last model, and the history."""

    given: Array  # codes, -1 where unlabeled
    verified: InitVar[Verified | None] = None
    is_verified: Array = field(init=False)  # labels that are useful whatever a curator says
    labels: Array = field(init=False)  # given and pseudo-labels so far
    round: Array = field(init=False)  # 0 given, -1 never, else the round a pseudo-label was proposed in
    useful: Array = field(init=False)  # rows the next model is trained on
    confidence: Array = field(init=False)  # as last judged; NaN where never
    aleatoric: Array = field(init=False)
    p_wrong: Array = field(init=False)  # probability that a given label is wrong; NaN without beliefs
    check_gain: Array = field(init=False)  # what a look at the label is worth; NaN without beliefs
    suggested: Array = field(init=False)  # codes suggested for suspects, -1 elsewhere; only under beliefs
    estimator: BaseEstimator | None = None
    history: list[dict[str, Any]] = field(default_factory=list)  # one record per round; round 0 is the curated start
    termination: str = ""
    trajectories: Array | None = None
    by_class: list[dict[str, Any]] = field(default_factory=list)  # one record per class, under beliefs

    def __post_init__(self, verified: Verified | None) -> None:
        self.labels = self.given.astype(np.int32)
        self.round = np.where(self.is_given, np.int32(0), np.int32(NEVER))
        self.useful = self.is_given.copy()
        unknown = np.full((4, self.given.size), np.nan, dtype=np.float32)
        self.confidence, self.aleatoric, self.p_wrong, self.check_gain = unknown
        self.suggested = np.full(self.given.size, UNLABELED, dtype=np.int32)
        self.is_verified = (verified or Verified.nothing(self.given.size)).mask
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
        """Take the verdict on some rows; the others are not useful, and their statistics are unknown."""
        self.useful[:] = False
        self.useful[rows[useful]] = True
        for column, values in ((self.confidence, confidence), (self.aleatoric, aleatoric)):
            column[:] = np.nan
            column[rows] = values

    def first(self, n: int) -> RoundsState:
        """Return the state of the first n rows alone."""
        part = copy(self)
        for name in ("given", *(column.name for column in fields(self) if not column.init)):
            setattr(part, name, getattr(self, name)[:n])
        return part

    def record_round(
        self,
        t: int,
        began: float,
        *,
        n_given: int,
        n_pseudo: int,
        n_proposed: int,
        n_left: int,
        n_new_suspects: int = 0,
        n_useful_again: int = 0,
    ) -> None:
        """Add round t, which began at this time of ``perf_counter``, to the history.

        Its model was trained on `n_given` and `n_pseudo` labels; after it, `n_left` rows may still be proposed.
        """
        self.history.append(
            {
                "round": t,
                "n_given": n_given,
                "n_pseudo": n_pseudo,
                "n_proposed": n_proposed,
                "n_new_suspects": n_new_suspects,
                "n_useful_again": n_useful_again,
                "n_left": n_left,
                "elapsed_s": time.perf_counter() - began,
            }
        )
