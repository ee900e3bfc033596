"""The rounds of Algorithm 1 over unlabeled rows that stay where they are: the state is rules, not an entry per row.

The same rounds as in ``rounds``, for labelers and curators that have rules. The given labels are in memory; of the
unlabeled rows only those that a model is trained on are fetched.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dips._data.hashing import row_hashes
from dips._data.labels import UNLABELED
from dips._data.pool import Pool, Reduced, StackedPool, TablePool, in_order
from dips._data.verified import Verified
from dips._dynamics import Dynamics
from dips._rounds.checkpoint import Checkpoint
from dips._rounds.curation import dynamics_for, gather_evidence
from dips._rounds.plan import RoundPlan
from dips._rounds.rules import Look, OpenRows, OpenTotal, Rule, Rules, Verdict
from dips._rounds.selection import TIE_BITS, Cut, RankedPool, find_cut, score_places, tie_places
from dips._rounds.state import RoundsState
from dips._rounds.training import Trainer
from dips._tools.arrays import Array, Rows
from dips._tools.locks import only_writer
from dips._tools.observer import Observer
from dips._tools.seeds import draw_seed
from dips.backbones import find_backbone
from dips.curators import Curator
from dips.curators._base import (
    SHARE_USEFUL_OF_A_LOST_CLASS,
    Evidence,
    checked_mask,
    warn_of_lost_classes,
    warn_of_no_useful_row,
)
from dips.labelers._base import Labeler, caps_of_round, class_frequencies


class RuleRounds:
    """Algorithm 1 on given labels in memory and a pool of unlabeled rows.

    Parameters
    ----------
    trainer : over the rows with given labels
    pool : the unlabeled rows, as the backbone wants them
    labeler, curator, plan, observer : as for ``Rounds``
    checkpoint : keeps the state after every round but the last; a killed run continues from it
    """

    def __init__(
        self,
        trainer: Trainer,
        pool: Pool,
        labeler: Labeler,
        curator: Curator,
        plan: RoundPlan,
        observer: Observer,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.trainer, self.pool, self.labeler, self.curator = trainer, pool, labeler, curator
        self.plan, self.observer, self.checkpoint = plan, observer, checkpoint
        self.at_start, self.in_rounds = plan.at_start and curator.curates, plan.in_rounds and curator.curates
        self.n_given = trainer.pool.n_rows
        lowest, highest = pool.row_range
        first = lowest - self.n_given  # rows with given labels come before
        self.rules, self.tie_bits = Rules((), plan.grow, first), (highest - first).bit_length()
        self.counts = _Counts.none(trainer.n_classes)
        if self.at_start or self.in_rounds:
            trainer.backbone.check(trainer.estimator)

    def run(self, given: Array, verified: Verified | None = None) -> RoundsState:
        """Train and curate; return the account of the given labels. That of the others is in ``rules``."""
        state = RoundsState(given, verified)
        if self.checkpoint is None:
            self._run(state)
            return state
        with only_writer(self.checkpoint.path):
            self.checkpoint.restore(self, state)
            for record in state.history:
                self.observer.on_round(record, self.plan.n_rounds)
            self._run(state)
        return state

    def _run(self, state: RoundsState) -> None:
        """Go on after the last round in the history."""
        if self.at_start and not state.history:
            self._start(state)
            self._end_round(state)
        for t in range(state.history[-1]["round"] + 1 if state.history else 1, self.plan.n_rounds + 1):
            self._round(state, t)
            self._end_round(state)
            if state.termination:
                break

    def _end_round(self, state: RoundsState) -> None:
        self.observer.on_round(state.history[-1], self.plan.n_rounds)
        if self.checkpoint is not None and not state.termination:
            self.checkpoint.save(self, state)

    @property
    def _n_left(self) -> int:
        return self.pool.n_rows - (int(self.counts.labeled.sum()) if self.plan.grow else 0)

    def _start(self, state: RoundsState) -> None:
        """Train f(0) on all labels, keep the useful ones."""
        began, rows = time.perf_counter(), np.arange(self.n_given)
        dynamics = dynamics_for(self.curator, self.n_given, self.trainer.n_classes)
        state.estimator = self.trainer.fit(rows, state.labels, dynamics, watched=rows)
        evidence = self._evidence(state, 0, dynamics)
        mask = checked_mask(self.curator, evidence) | state.is_verified
        useful, _ = self._keep_every_class(mask, evidence, self.counts, None)
        state.judge(rows, useful, evidence.confidence, evidence.aleatoric)
        counts = replace(self.counts, new_suspects=int((~state.useful).sum()))
        self._record(state, 0, np.ones(self.n_given, dtype=bool), 0, counts, began)

    def _round(self, state: RoundsState, t: int) -> None:
        """Fit; propose and curate unless the round is the last."""
        began, trained_on, n_pseudo = time.perf_counter(), state.useful.copy(), int(self.counts.useful.sum())
        state.termination = "all_labeled" if not self._n_left else "max_iter" if t == self.plan.n_rounds else ""
        state.estimator = self._fit(state)
        counts = replace(self.counts, new=0, new_suspects=0, useful_again=0)
        if not state.termination:
            counts = self._propose_and_curate(state, t)
            if not (counts.new or counts.new_suspects or counts.useful_again) and (state.useful == trained_on).all():
                state.termination = "no_change"
        self.counts = counts
        self._record(state, t, trained_on, n_pseudo, counts, began)

    def _fit(self, state: RoundsState) -> BaseEstimator:
        """Train on the useful given labels and on useful pseudo-labels, which are fetched for it."""
        given = np.flatnonzero(state.useful)
        n_pseudo, labels, trainer = int(self.counts.useful.sum()), state.labels[given], self.trainer
        if n_pseudo:
            fetched, pseudo_labels = self._fetch(n_pseudo)
            trainer = trainer.over(StackedPool([trainer.pool, TablePool(fetched)]))
            given = np.append(given, self.n_given + np.arange(pseudo_labels.size))
            labels = np.append(labels, pseudo_labels)
        return trainer.fit(given, labels)

    def _fetch(self, n_pseudo: int) -> tuple[Any, Array]:
        """Return the useful pseudo-labeled rows in the order of their numbers; of too many, a sample of each class."""
        cut, seed, most = None, 0, self.pool.max_train_rows
        if most is not None and n_pseudo > most:
            seed = draw_seed(self.trainer.rng)
            caps = np.ceil(self.counts.useful * (most / n_pseudo)).astype(np.int64)
            cut = find_cut([(self.pool, _HashPlaces(self.rules, seed))], caps)
        parts = list(self.pool.select(_Useful(self.rules, cut, seed)))
        rows, labels = np.concatenate([r for r, *_ in parts]), np.concatenate([said["label"] for _, said, _ in parts])
        order = np.argsort(rows, kind="stable")
        return in_order([table for *_, table in parts], order), labels[order]

    def _propose_and_curate(self, state: RoundsState, t: int) -> _Counts:
        """Propose labels by one more rule, judge all labels again, and count what that changed."""
        assert state.estimator is not None
        look = self.look(state.estimator)
        totals = _Totals(self.pool, self.rules, look)
        rule = Rule(look, self.labeler.rule(totals), tuple(totals.results))
        frequencies = class_frequencies(self._counted_labels(state), self.trainer.n_classes, self.curator.evens_classes)
        caps = caps_of_round(frequencies, t, self.plan.n_rounds, self._n_left)
        cut = find_cut([(self.pool, OpenRows(self.rules, rule))], caps, self.tie_bits)
        rule = replace(rule, cut=cut, verdict=Verdict() if self.in_rounds else None)
        rules = self.rules.followed_by(rule)
        counts = self._count(rules)
        if self.in_rounds:
            evidence = self._evidence(state, t, self._watched(look))
            mask = checked_mask(self.curator, evidence) | state.is_verified
            useful, verdict = self._keep_every_class(mask, evidence, counts, rules)
            if verdict != Verdict():
                rules = self.rules.followed_by(replace(rule, verdict=verdict))
                counts = self._count(rules)
            counts = replace(
                counts,
                new_suspects=counts.new_suspects + int((state.useful & ~useful).sum()),
                useful_again=counts.useful_again + int((useful & ~state.useful).sum()),
            )
            state.judge(np.arange(self.n_given), useful, evidence.confidence, evidence.aleatoric)
        self.rules = rules
        return counts

    def look(self, estimator: BaseEstimator) -> Look:
        """Return a round's model as it is sent to the rows; it predicts on as many threads as the pool allows."""
        backbone, n_classes, n_threads = find_backbone(estimator), self.trainer.n_classes, self.pool.n_threads
        estimator = backbone.on_threads(estimator, n_threads)
        if not self.in_rounds:
            return Look(n_classes, backbone, estimator)
        replay = backbone.replay_anywhere(estimator, self.trainer.pool.take(np.arange(self.n_given)))
        assert replay is not None  # refused before any work
        return Look(n_classes, backbone, estimator, replace(replay, n_threads=n_threads), self.curator)

    def _watched(self, look: Look) -> Dynamics:
        """Return the dynamics of the given labels."""
        seen = look.dynamics(self.trainer.pool.take(np.arange(self.n_given)))
        assert seen is not None
        return seen

    def _counted_labels(self, state: RoundsState) -> Array:
        """Labels whose frequencies the classes are to have: useful given ones, or else pseudo-labels."""
        if state.useful.any():
            return state.labels[state.useful]
        return np.repeat(np.arange(self.trainer.n_classes), self.counts.useful)

    def _count(self, rules: Rules) -> _Counts:
        counted = self.pool.reduce(CountFates(rules, self.trainer.n_classes), add)
        return _Counts(counted["labeled"], counted["useful"], *(int(n) for n in counted["changes"]))

    def _evidence(self, state: RoundsState, t: int, dynamics: Dynamics) -> Evidence:
        estimator, rows = state.estimator, np.arange(self.n_given)
        assert estimator is not None
        return gather_evidence(
            dynamics,
            state.labels,
            np.ones(self.n_given, dtype=bool),
            t,
            features=lambda: self.trainer.features(estimator, rows),
            out_of_fold=lambda n_folds: self.trainer.out_of_fold(rows, state.labels, n_folds),
            groups=self.trainer.groups_of(rows),
            weights=self.trainer.weights_of(rows),
        )

    def _keep_every_class(
        self, useful: Array, evidence: Evidence, counts: _Counts, rules: Rules | None
    ) -> tuple[Array, Verdict]:
        """Keep the most confident rows of every class that would be left with none; all rows, if none is useful."""
        if not useful.any() and not counts.useful.sum():
            warn_of_no_useful_row()
            return np.ones_like(useful), Verdict(keeps_all=True)
        n_classes, weighs = self.trainer.n_classes, self.trainer.weighs(np.arange(self.n_given))
        present = np.bincount(evidence.labels[weighs], minlength=n_classes) + counts.labeled
        n_useful = np.bincount(evidence.labels[useful & weighs], minlength=n_classes) + counts.useful
        lost = (present > 0) & (n_useful == 0)
        if not lost.any():
            return useful, Verdict()
        caps = np.where(lost, np.ceil(SHARE_USEFUL_OF_A_LOST_CLASS * present), 0).astype(np.int64)
        given = _GivenPlaces(evidence.labels, evidence.confidence, weighs)
        sources: list[RankedPool] = [(self.trainer.pool, given)]
        if rules is not None:
            sources.append((self.pool, _ConfidencePlaces(rules)))
        cut = find_cut(sources, caps, self.tie_bits)
        warn_of_lost_classes(int(lost.sum()), n_classes)
        useful = useful.copy()
        useful[weighs] |= cut.takes(*given(np.arange(self.n_given), None))
        return useful, Verdict(rescued=cut)

    def _record(
        self, state: RoundsState, t: int, trained_on: Array, n_pseudo: int, counts: _Counts, began: float
    ) -> None:
        state.record_round(
            t,
            began,
            n_given=int(trained_on.sum()),
            n_pseudo=n_pseudo,
            n_proposed=counts.new,
            n_left=self._n_left,
            n_new_suspects=counts.new_suspects,
            n_useful_again=counts.useful_again,
        )


class _Totals:
    """Adds up over the rows that the next round may take, and remembers the results."""

    def __init__(self, pool: Pool, rules: Rules, look: Look) -> None:
        self.pool, self.rules, self.look = pool, rules, look
        self.results: list[Array] = []

    def __call__(self, function: Any) -> Array:
        self.results.append(self.pool.reduce(OpenTotal(self.rules, self.look, function), add)["total"])
        return self.results[-1]


@dataclass(frozen=True)
class _Counts:
    """Pseudo-labeled rows: by class those labeled and those useful, and what the last round changed."""

    labeled: Array
    useful: Array
    new: int = 0
    new_suspects: int = 0
    useful_again: int = 0

    @classmethod
    def none(cls, n_classes: int) -> _Counts:
        return cls(*np.zeros((2, n_classes), dtype=np.int64))


@dataclass(frozen=True)
class CountFates:
    """Counts the fates of rows; what was useful before, and is not now, is a new suspect."""

    rules: Rules
    n_classes: int

    def __call__(self, rows: Rows, X: Any) -> Reduced:
        """Return how many rows of each class are labeled and useful, and what the last round changed."""
        fate = self.rules(rows, X)
        label, useful, was_useful = fate["label"], fate["useful"], fate["was_useful"]
        new = fate["round"] == len(self.rules.rules)
        changes = [new.sum(), (was_useful & ~useful).sum(), (useful & ~was_useful & ~new).sum()]
        return {
            "labeled": np.bincount(label[label != UNLABELED], minlength=self.n_classes),
            "useful": np.bincount(label[useful], minlength=self.n_classes),
            "changes": np.array(changes, dtype=np.int64),
        }


@dataclass(frozen=True)
class _Useful:
    """Chooses the useful rows, of which there may be a sample."""

    rules: Rules
    cut: Cut | None
    seed: int

    def __call__(self, rows: Rows, X: Any) -> tuple[Array, Reduced]:
        fate = self.rules(rows, X)
        useful, label = fate["useful"], fate["label"]
        if self.cut is not None:
            places = _hash_places(rows, self.seed)
            useful &= self.cut.takes(np.maximum(label, 0), np.zeros(rows.size, dtype=np.uint32), places)
        return useful, {"label": label}


@dataclass(frozen=True)
class _HashPlaces:
    """Places of the useful rows in an order that the seed alone decides."""

    rules: Rules
    seed: int

    def __call__(self, rows: Rows, X: Any) -> tuple[Array, Array, Array]:
        fate = self.rules(rows, X)
        at = np.flatnonzero(fate["useful"])
        return fate["label"][at], np.zeros(at.size, dtype=np.uint32), _hash_places(rows[at], self.seed)


@dataclass(frozen=True)
class _ConfidencePlaces:
    """Places of the pseudo-labeled rows by the confidence in their labels."""

    rules: Rules

    def __call__(self, rows: Rows, X: Any) -> tuple[Array, Array, Array]:
        fate = self.rules(rows, X)
        at = np.flatnonzero(fate["label"] != UNLABELED)
        return fate["label"][at], score_places(fate["confidence"][at]), tie_places(rows[at], self.rules.first)


@dataclass(frozen=True)
class _GivenPlaces:
    """The same of the rows with given labels that weigh something, which come before all others."""

    labels: Array
    confidence: Array
    weighs: Array

    def __call__(self, rows: Rows, X: Any) -> tuple[Array, Array, Array]:
        rows = rows[self.weighs[rows]]
        return self.labels[rows], score_places(self.confidence[rows]), rows.astype(np.uint64)


def _hash_places(rows: Rows, seed: int) -> Array:
    return row_hashes(rows, seed).view(np.uint64) ^ np.uint64(1 << (TIE_BITS - 1))


def add(one: Reduced, other: Reduced) -> Reduced:
    """Add counts, name by name."""
    return {name: one[name] + other[name] for name in one}
