"""What the rounds did, as rules: functions that tell a row's label, and whether it is useful, wherever the row is.

A round leaves its model and, for each class, the last place that was taken. Nothing is kept per row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dips._data.containers import n_rows
from dips._data.labels import UNLABELED
from dips._data.pool import Reduced
from dips._dynamics import Dynamics
from dips._rounds.curation import dynamics_for, gather_evidence
from dips._rounds.selection import Cut, score_places, tie_places
from dips._rounds.state import NEVER
from dips._tools.arrays import Array, Rows
from dips.backbones._base import Backbone
from dips.backbones._replay import Replay
from dips.curators import Curator
from dips.labelers._base import Choice


@dataclass(frozen=True)
class Look:
    """A round's model, ready to be sent: it gives the probabilities of any rows, and their dynamics where watched."""

    n_classes: int
    backbone: Backbone
    estimator: BaseEstimator
    replay: Replay | None = None
    curator: Curator | None = None

    def probabilities(self, X: Any) -> Array:
        """Class probabilities (m, C), single precision: those of the last checkpoint where the training is watched."""
        if self.replay is None:
            return np.asarray(self.backbone.predict_proba(self.estimator, X)).astype(np.float64).astype(np.float32)
        p = self.replay.probabilities(X)
        if p is None:
            seen = self.dynamics(X)
            assert seen is not None
            p = seen.probabilities
        return p

    def dynamics(self, X: Any) -> Dynamics | None:
        """Watch the rows; None where nothing is watched."""
        if self.replay is None or self.curator is None:
            return None
        seen = dynamics_for(self.curator, n_rows(X), self.n_classes)
        self.replay.show(X, seen)
        return seen


@dataclass(frozen=True)
class Verdict:
    """How the pseudo-labels were judged after a round."""

    keeps_all: bool = False  # the curator found no row useful, so every row is
    rescued: Cut | None = None  # the most confident rows of classes that would be left with none

    def useful(
        self, look: Look, t: int, labels: Array, seen: Dynamics, rows: Rows, first: int
    ) -> tuple[Array, Reduced]:
        """Mask of rows with these labels that are useful, and their statistics."""
        assert look.curator is not None
        evidence = gather_evidence(
            seen, labels, np.zeros(labels.size, dtype=bool), t, features=_unavailable, out_of_fold=_unavailable
        )
        statistics = {name: evidence.statistics[name] for name in ("confidence", "aleatoric")}
        if self.keeps_all:
            return np.ones(labels.size, dtype=bool), statistics
        mask = np.asarray(look.curator.judge_pseudo(evidence))
        if self.rescued is not None:
            mask |= self.rescued.takes(labels, score_places(evidence.confidence), tie_places(rows, first))
        return mask, statistics


@dataclass(frozen=True)
class Rule:
    """One round: its model, what the labeler chose, how far down each class it went, and the verdict on all labels."""

    look: Look
    choose: Choice
    totals: tuple[Array, ...] = ()  # sums over all rows that the labeler asked for
    cut: Cut | None = None  # None until it is found
    verdict: Verdict | None = None  # None where pseudo-labels are not judged


@dataclass(frozen=True)
class Rules:
    """All rounds so far; called with rows and their table, what became of these rows.

    Attributes
    ----------
    rules : one for each round that proposed
    grow : whether labels stay from round to round
    first : the lowest row number of the pool
    """

    rules: Sequence[Rule]
    grow: bool
    first: int

    def __call__(self, rows: Rows, X: Any) -> Reduced:
        """Return label, round, useful, confidence and aleatoric of each row, and whether it was useful a round ago."""
        label = np.full(rows.size, UNLABELED, dtype=np.int32)
        since = np.full(rows.size, NEVER, dtype=np.int32)
        useful = np.zeros(rows.size, dtype=bool)
        statistics = {name: np.full(rows.size, np.nan, dtype=np.float32) for name in ("confidence", "aleatoric")}
        was_useful = useful
        for t, rule in enumerate(self.rules, start=1):
            was_useful = useful.copy()
            seen = rule.look.dynamics(X)
            p = rule.look.probabilities(X) if seen is None else seen.probabilities
            taken, labels = self._taken(rule, p, label, rows)
            if not self.grow:
                label[:], since[:] = UNLABELED, NEVER
            label[taken], since[taken] = labels[taken], t
            useful = label != UNLABELED
            if rule.verdict is not None and seen is not None:
                at = np.flatnonzero(useful)
                some = np.where(useful, label, 0)
                mask, measured = rule.verdict.useful(rule.look, t, some, seen, rows, self.first)
                useful &= mask
                for name, values in measured.items():
                    statistics[name][:] = np.nan
                    statistics[name][at] = values[at]
        return {"label": label, "round": since, "useful": useful, "was_useful": was_useful, **statistics}

    def _taken(self, rule: Rule, p: Array, label: Array, rows: Rows) -> tuple[Array, Array]:
        labels, scores, eligible = rule.choose(p)
        taken = eligible & (label == UNLABELED) if self.grow else np.asarray(eligible)
        if rule.cut is not None:
            taken &= rule.cut.takes(labels, score_places(scores), tie_places(rows, self.first))
        return taken, labels

    def are_open(self, rows: Rows, X: Any) -> Array:
        """Mask of the rows that the next round may take: those without a label, or all if labels do not stay."""
        if not self.grow or not self.rules:
            return np.ones(rows.size, dtype=bool)
        return self(rows, X)["label"] == UNLABELED

    def followed_by(self, rule: Rule) -> Rules:
        """Return the rules with one more round."""
        return replace(self, rules=(*self.rules, rule))


@dataclass(frozen=True)
class OpenRows:
    """Places of the rows that the next round may take."""

    rules: Rules
    next: Rule

    def __call__(self, rows: Rows, X: Any) -> tuple[Array, Array, Array]:
        """Return class, score place and tie place of these rows."""
        labels, scores, eligible = self.next.choose(self.next.look.probabilities(X))
        at = np.flatnonzero(eligible & self.rules.are_open(rows, X))
        return labels[at], score_places(scores[at]), tie_places(rows[at], self.rules.first)


@dataclass(frozen=True)
class OpenTotal:
    """Adds up a function of the probabilities of the rows that the next round may take."""

    rules: Rules
    look: Look
    function: Any

    def __call__(self, rows: Rows, X: Any) -> Reduced:
        """Return the total over these rows."""
        return {"total": self.function(self.look.probabilities(X)[self.rules.are_open(rows, X)])}


def _unavailable(*_: Any) -> Any:
    raise NotImplementedError("A pseudo-label is judged by itself here: features and folds are not available.")
