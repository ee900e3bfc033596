"""The rounds of Algorithm 1: fit, watch, propose, curate."""

from __future__ import annotations

import time

import numpy as np
from sklearn.base import BaseEstimator

from dips._data.labels import UNLABELED
from dips._data.verified import Verified
from dips._dynamics import Dynamics, Moments
from dips._rounds.curation import dynamics_for, gather_evidence, judge
from dips._rounds.plan import RoundPlan
from dips._rounds.state import RoundsState
from dips._rounds.training import Trainer
from dips._tools.arrays import Array, Rows
from dips._tools.observer import Observer
from dips.curators import Curator
from dips.exceptions import InputError
from dips.labelers._base import Candidates, Labeler, caps_of_round, checked_proposal, class_frequencies

_NO_ROWS = np.empty(0, dtype=np.intp)


class Rounds:
    """Algorithm 1, on a pool whose labels are codes.

    One deliberate deviation: the paper goes on with D(1) = r(D_lab), so a label that is a suspect at the start is lost
    for good. Here it stays in D, is not trained on, and is judged again in every round that curates.

    Parameters
    ----------
    trainer, labeler, curator
        What fits, proposes and curates. `labeler` None means no pseudo-labels: curate, then fit once.
    plan : how many rounds, and where to curate
    track : rows whose whole trajectory is kept, as positions among the given labels
    observer : told of every round
    among : rows that the labeler may propose; by default all that have no label
    """

    def __init__(
        self,
        trainer: Trainer,
        labeler: Labeler | None,
        curator: Curator,
        plan: RoundPlan,
        track: Array | None = None,
        observer: Observer | None = None,
        among: Rows | None = None,
    ) -> None:
        self.trainer, self.labeler, self.curator, self.plan, self.among = trainer, labeler, curator, plan, among
        self.at_start = plan.at_start and curator.curates
        self.in_rounds = plan.in_rounds and curator.curates and labeler is not None
        self.track = _NO_ROWS if track is None else track
        self.observer = observer or Observer()
        if self.at_start or self.in_rounds:
            trainer.backbone.check(trainer.estimator)
        elif labeler is not None and labeler.member_window is not None:
            _check_checkpoints(trainer, labeler)

    def run(self, given: Array, verified: Verified | None = None) -> RoundsState:
        """Train f(0) and curate the labels; then T rounds; return the last model and the account."""
        state = RoundsState(given, verified)
        if self.at_start or (self.in_rounds and not self._unlabeled(state).size):  # no round to curate in: curate once
            self._start(state)
            self.observer.on_round(state.history[-1], self.plan.n_rounds)
        for t in range(1, self.plan.n_rounds + 1):
            self._round(state, t)
            self.observer.on_round(state.history[-1], self.plan.n_rounds)
            if state.termination:
                break
        return state

    def _start(self, state: RoundsState) -> None:
        """Lines 1 and 2: train f(0) on all labels, keep the useful ones."""
        began, given = time.perf_counter(), np.flatnonzero(state.is_given)
        dynamics = dynamics_for(self.curator, given.size, self.trainer.n_classes, self.track)
        state.estimator = self._fit(state, dynamics, watched=given)
        self._judge(state, given, np.arange(given.size), 0, dynamics)
        state.trajectories = dynamics.trajectories if self.track.size else None
        self._record(state, 0, state.is_given, _NO_ROWS, began)

    def _round(self, state: RoundsState, t: int) -> None:
        """Lines 4 to 8, and the record of them."""
        began, trained_on, proposed = time.perf_counter(), state.useful.copy(), _NO_ROWS
        state.termination = self._why_last(state, t)
        if state.termination:
            state.estimator = self._fit(state)
        else:
            proposed = self._fit_propose_curate(state, t)
            if proposed.size == 0 and (state.useful == trained_on).all():
                state.termination = "no_change"
        self._record(state, t, trained_on, proposed, began)
        if state.termination:
            state.useful = trained_on

    def _why_last(self, state: RoundsState, t: int) -> str:
        """Why round t is the last, where that is known before it is trained."""
        if self.labeler is None or not self._unlabeled(state).size:
            return "all_labeled"
        return "max_iter" if t == self.plan.n_rounds else ""

    def _fit_propose_curate(self, state: RoundsState, t: int) -> Rows:
        """Train f(t), propose labels, and curate; what was seen of the pool is forgotten afterwards."""
        n = state.given.size
        dynamics = dynamics_for(self.curator, n, self.trainer.n_classes) if self.in_rounds else None
        members = self._member_dynamics(n)
        state.estimator = self._fit(state, dynamics, members)
        proposed = self._propose(state, t, dynamics, members)
        if dynamics is None:
            state.useful[proposed] = True
        else:  # line 8: judge all of D again, so that a suspect may become useful
            rows = np.flatnonzero(state.labels != UNLABELED)
            self._judge(state, rows, rows, t, dynamics)
        return proposed

    def _fit(self, state: RoundsState, *dynamics: Dynamics | None, watched: Rows | None = None) -> BaseEstimator:
        rows = np.flatnonzero(state.useful)
        return self.trainer.fit(rows, state.labels[rows], *(d for d in dynamics if d is not None), watched=watched)

    def _propose(self, state: RoundsState, t: int, dynamics: Dynamics | None, members: Dynamics | None) -> Rows:
        """Lines 6 and 7: pseudo-label rows that have no label yet."""
        assert self.labeler is not None
        unlabeled = self._unlabeled(state)
        rows, labels = checked_proposal(self.labeler, self._candidates(state, unlabeled, t, dynamics, members))
        proposed = unlabeled[rows]
        if not self.plan.grow:
            state.forget_pseudo_labels()
        state.label(proposed, labels, t)
        return proposed

    def _candidates(
        self, state: RoundsState, unlabeled: Rows, t: int, dynamics: Dynamics | None, members: Dynamics | None
    ) -> Candidates:
        trainer, estimator = self.trainer, state.estimator
        assert estimator is not None
        useful = np.flatnonzero(state.useful)
        useful_labels, useful_is_given = state.labels[useful], state.is_given[useful]
        counted = useful_labels[useful_is_given] if useful_is_given.any() else useful_labels
        frequencies = class_frequencies(counted, trainer.n_classes, self.curator.evens_classes)
        seen = dynamics or members
        return Candidates(
            probabilities=trainer.predict(estimator, unlabeled) if seen is None else seen.probabilities[unlabeled],
            class_frequencies=frequencies,
            round=t,
            n_rounds=self.plan.n_rounds,
            caps=caps_of_round(frequencies, t, self.plan.n_rounds, unlabeled.size),
            ensemble=lambda n_models: trainer.ensemble(useful, useful_labels, unlabeled, n_models),
            checkpoints=lambda n_models: Moments.of_checkpoints(members, unlabeled, n_models),
            features=lambda: trainer.features(estimator, unlabeled),
            map_features=lambda function: trainer.map_features(estimator, unlabeled, function),
            useful_labels=useful_labels,
            useful_is_given=useful_is_given,
            useful_features=lambda: trainer.features(estimator, useful),
        )

    def _judge(self, state: RoundsState, rows: Rows, positions: Rows, t: int, dynamics: Dynamics) -> None:
        """Curate `rows` of the pool, which are at these positions among the rows watched."""
        labels, is_given, estimator = state.labels[rows], state.is_given[rows], state.estimator
        assert estimator is not None

        evidence = gather_evidence(
            dynamics,
            labels,
            is_given,
            t,
            features=lambda: self.trainer.features(estimator, rows),
            out_of_fold=lambda n_folds: self.trainer.out_of_fold(rows[is_given], labels[is_given], n_folds),
            at=positions,
            groups=self.trainer.groups_of(rows),
            weights=self.trainer.weights_of(rows),
        )
        useful = judge(self.curator, evidence, state.is_verified[rows], self.trainer.weighs(rows))
        state.judge(rows, useful, evidence.confidence, evidence.aleatoric)

    def _unlabeled(self, state: RoundsState) -> Rows:
        """Rows a labeler may propose: not yet labeled, or in Version 2 all that came without a label."""
        is_open = state.labels == UNLABELED if self.plan.grow else ~state.is_given
        return np.flatnonzero(is_open) if self.among is None else self.among[is_open[self.among]]

    def _member_dynamics(self, n_rows: int) -> Dynamics | None:
        """What to keep of the checkpoints that the labeler uses as members of an ensemble, if it does."""
        window = None if self.labeler is None else self.labeler.member_window
        return window and Dynamics(n_rows, self.trainer.n_classes, ("confidence", "variability"), window)

    def _record(self, state: RoundsState, t: int, trained_on: Array, proposed: Rows, began: float) -> None:
        useful_again = state.useful & ~trained_on
        useful_again[proposed] = False
        state.record_round(
            t,
            began,
            n_given=int((trained_on & state.is_given).sum()),
            n_pseudo=int((trained_on & ~state.is_given).sum()),
            n_proposed=int(proposed.size),
            n_left=int(self._unlabeled(state).size),
            n_new_suspects=int((trained_on & ~state.useful).sum()),
            n_useful_again=int(useful_again.sum()),
        )


def _check_checkpoints(trainer: Trainer, labeler: Labeler) -> None:
    """Refuse a backbone that has no checkpoints to use as members."""
    try:
        trainer.backbone.check(trainer.estimator)
    except ValueError as error:
        reason = str(error).partition("; ")[0]
        raise InputError(
            f"{type(labeler).__name__} takes its members from the checkpoints of one training, but {reason}; "
            'use members="trained", or a boosted or a neural backbone.'
        ) from None
