"""The rounds of Algorithm 1: fit, watch, propose, curate."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from dips._data.labels import UNLABELED
from dips._dynamics import Dynamics
from dips._rounds.training import Trainer
from dips._tools.arrays import Array, Rows
from dips._tools.observer import Observer
from dips.curators._base import Curator, Evidence, checked_mask, keep_every_class
from dips.curators._none import KeepAll
from dips.exceptions import InputError
from dips.labelers._base import Candidates, Labeler, Moments, caps_of_round, checked_proposal, class_frequencies

NEVER = -1
_NO_ROWS = np.empty(0, dtype=np.intp)


@dataclass
class RoundsState:
    """State of a run, one entry a row of the pool, and what it leaves behind."""

    given: Array  # codes, -1 where unlabeled
    labels: Array = field(init=False)  # given and pseudo-labels so far
    round: Array = field(init=False)  # 0 given, -1 never, else the round a pseudo-label was proposed in
    useful: Array = field(init=False)  # rows the next model is trained on
    confidence: Array = field(init=False)  # as last curated; NaN where never
    aleatoric: Array = field(init=False)
    estimator: BaseEstimator | None = None
    history: list[dict[str, Any]] = field(default_factory=list)  # a record a round; round 0 is the curated start
    termination: str = ""
    trajectories: Array | None = None

    def __post_init__(self) -> None:
        self.labels = self.given.astype(np.int32)
        self.round = np.where(self.is_given, np.int32(0), np.int32(NEVER))
        self.useful = self.is_given.copy()
        self.confidence, self.aleatoric = np.full((2, self.given.size), np.nan, dtype=np.float32)

    @property
    def is_given(self) -> Array:
        """Mask of the rows whose label came with the data."""
        return self.given != UNLABELED


class Rounds:
    """Algorithm 1, on a pool whose labels are codes.

    One deliberate deviation: the paper goes on with D(1) = r(D_lab), so that a label rejected at the start is lost for
    good. Here it stays in D, is not trained on, and is judged again in every round that curates.

    Parameters
    ----------
    trainer, labeler, curator
        What fits, proposes and curates. `labeler` None means no pseudo-labels: curate, then fit once.
    n_rounds : int
        T.
    grow : bool
        Keep pseudo-labels from one round to the next (Version 1), or propose anew each round (Version 2).
    at_start, in_rounds : bool
        Where to curate.
    """

    def __init__(
        self,
        trainer: Trainer,
        labeler: Labeler | None,
        curator: Curator,
        n_rounds: int = 1,
        grow: bool = True,
        at_start: bool = True,
        in_rounds: bool = True,
        track: Array | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.trainer, self.labeler, self.curator = trainer, labeler, curator
        self.n_rounds, self.grow = n_rounds, grow
        curates = not isinstance(curator, KeepAll)
        self.at_start, self.in_rounds = at_start and curates, in_rounds and curates and labeler is not None
        self.track = _NO_ROWS if track is None else track
        self.observer = observer or Observer()
        if self.at_start or self.in_rounds:
            trainer.backbone.check(trainer.estimator)
        elif labeler is not None and labeler.member_window is not None:
            _check_checkpoints(trainer, labeler)

    def run(self, given: Array) -> RoundsState:
        """Train f(0) and curate the labels; then T rounds; return the last model and the account."""
        run = RoundsState(given)
        if self.at_start or (self.in_rounds and not self._left(run).size):  # without a round to curate in, curate once
            self._start(run)
            self.observer.on_round(run.history[-1], self.n_rounds)
        for t in range(1, self.n_rounds + 1):
            self._round(run, t)
            self.observer.on_round(run.history[-1], self.n_rounds)
            if run.termination:
                break
        return run

    def _round(self, run: RoundsState, t: int) -> None:
        """Lines 4 to 8, and the record of them."""
        began, trained_on, proposed = time.perf_counter(), run.useful.copy(), _NO_ROWS
        run.termination = self._foreseen_end(run, t)
        if run.termination:
            run.estimator = self._fit(run)
        else:
            proposed = self._fit_and_label(run, t)
            if proposed.size == 0 and (run.useful == trained_on).all():
                run.termination = "no_change"
        run.history.append(self._record(run, t, trained_on, proposed, time.perf_counter() - began))
        if run.termination:
            run.useful = trained_on

    def _fit_and_label(self, run: RoundsState, t: int) -> Rows:
        """Train f(t), propose labels, and curate; what was seen of the pool is forgotten afterwards."""
        n = run.given.size
        dynamics, members = self._dynamics(n) if self.in_rounds else None, self._members(n)
        run.estimator = self._fit(run, dynamics, members)
        proposed = self._propose(run, t, dynamics, members)
        self._curate(run, t, dynamics, proposed)
        return proposed

    def _start(self, run: RoundsState) -> None:
        """Lines 1 and 2: train f(0) on all labels, keep the useful ones."""
        began, given = time.perf_counter(), np.flatnonzero(run.is_given)
        dynamics = self._dynamics(given.size)
        run.estimator = self._fit(run, dynamics, watched=given)
        self._apply_curator(run, given, np.arange(given.size), 0, dynamics)
        run.trajectories = dynamics.trajectories if self.track.size else None
        run.history.append(self._record(run, 0, run.is_given, _NO_ROWS, time.perf_counter() - began))

    def _foreseen_end(self, run: RoundsState, t: int) -> str:
        """Why round t is the last, where that is known before it is trained."""
        if self.labeler is None or not self._left(run).size:
            return "all_labeled"
        return "max_iter" if t == self.n_rounds else ""

    def _fit(self, run: RoundsState, *dynamics: Dynamics | None, watched: Rows | None = None) -> BaseEstimator:
        rows = np.flatnonzero(run.useful)
        return self.trainer.fit(rows, run.labels[rows], *(d for d in dynamics if d is not None), watched=watched)

    def _propose(self, run: RoundsState, t: int, dynamics: Dynamics | None, members: Dynamics | None) -> Rows:
        """Lines 6 and 7: pseudo-label what is left."""
        assert self.labeler is not None
        assert run.estimator is not None
        left = self._left(run)
        training = np.flatnonzero(run.useful)
        trusted = run.given[run.useful & run.is_given]
        labels = trusted if trusted.size else run.labels[training]
        frequencies = class_frequencies(labels, self.trainer.n_classes, self.curator.evens_classes)
        seen = dynamics or members
        candidates = Candidates(
            probabilities=self.trainer.predict(run.estimator, left) if seen is None else seen.probabilities[left],
            class_frequencies=frequencies,
            round=t,
            n_rounds=self.n_rounds,
            caps=caps_of_round(frequencies, t, self.n_rounds, left.size),
            ensemble=lambda n_models: self.trainer.ensemble(training, run.labels[training], left, n_models),
            checkpoints=lambda n_models: Moments.of_checkpoints(members, left, n_models),
        )
        rows, labels = checked_proposal(self.labeler, candidates)
        proposed = left[rows]
        if not self.grow:
            pseudo = ~run.is_given
            run.labels[pseudo], run.round[pseudo], run.useful[pseudo] = UNLABELED, NEVER, False
        run.labels[proposed], run.round[proposed] = labels, t
        return proposed

    def _curate(self, run: RoundsState, t: int, dynamics: Dynamics | None, proposed: Rows) -> None:
        """Line 8: judge all of D again, so that a row dropped before may return."""
        if dynamics is not None:
            rows = np.flatnonzero(run.labels != UNLABELED)
            self._apply_curator(run, rows, rows, t, dynamics)
        else:
            run.useful[proposed] = True

    def _apply_curator(self, run: RoundsState, rows: Rows, watched: Rows, t: int, dynamics: Dynamics) -> None:
        """Judge `rows` of the pool, found at the positions `watched` of the dynamics."""
        evidence = self._evidence(run, rows, watched, t, dynamics)
        useful = keep_every_class(checked_mask(self.curator, evidence), evidence)
        run.useful[:] = False
        run.useful[rows[useful]] = True
        for column, values in ((run.confidence, evidence.confidence), (run.aleatoric, evidence.aleatoric)):
            column[:] = np.nan
            column[rows] = values

    def _evidence(self, run: RoundsState, rows: Rows, watched: Rows, t: int, dynamics: Dynamics) -> Evidence:
        labels, is_given = run.labels[rows], run.is_given[rows]

        def out_of_fold(n_folds: int) -> Array:
            p = np.full((rows.size, self.trainer.n_classes), np.nan)
            p[is_given] = self.trainer.out_of_fold(rows[is_given], labels[is_given], n_folds)
            return p

        return Evidence(
            labels=labels,
            is_given=is_given,
            n_classes=self.trainer.n_classes,
            round=t,
            statistics=dynamics.at(labels, watched),
            mean_probabilities=dynamics["confidence"][watched],
            probabilities=dynamics.probabilities[watched],
            features=lambda: self._features(run, rows),
            out_of_fold=out_of_fold,
        )

    def _features(self, run: RoundsState, rows: Rows) -> Any:
        X = self.trainer.pool.take(rows)
        transformers = run.estimator[:-1] if isinstance(run.estimator, Pipeline) else None
        return transformers.transform(X) if transformers else X

    def _left(self, run: RoundsState) -> Rows:
        """Rows a labeler may propose: not yet labeled, or in Version 2 all that came without a label."""
        return np.flatnonzero(run.labels == UNLABELED if self.grow else ~run.is_given)

    def _dynamics(self, n_rows: int) -> Dynamics:
        statistics = {*self.curator.statistics, "confidence", "aleatoric"}  # the account shows these two
        return Dynamics(n_rows, self.trainer.n_classes, statistics, self.curator.window, self.track)

    def _members(self, n_rows: int) -> Dynamics | None:
        """What to keep of the checkpoints that the labeler takes for members of an ensemble, if it does."""
        window = None if self.labeler is None else self.labeler.member_window
        return window and Dynamics(n_rows, self.trainer.n_classes, ("confidence", "variability"), window)

    def _record(self, run: RoundsState, t: int, trained_on: Array, proposed: Rows, elapsed_s: float) -> dict[str, Any]:
        dropped = (trained_on & ~run.useful).sum()
        returns = run.useful & ~trained_on
        returns[proposed] = False
        return {
            "round": t,
            "n_given": int((trained_on & run.is_given).sum()),
            "n_pseudo": int((trained_on & ~run.is_given).sum()),
            "n_proposed": int(proposed.size),
            "n_dropped": int(dropped),
            "n_returned": int(returns.sum()),
            "n_left": int(self._left(run).size),
            "elapsed_s": elapsed_s,
        }


def _check_checkpoints(trainer: Trainer, labeler: Labeler) -> None:
    """Refuse a backbone out of whose one training no ensemble can be had."""
    try:
        trainer.backbone.check(trainer.estimator)
    except ValueError as error:
        reason = str(error).partition("; ")[0]
        raise InputError(
            f"{type(labeler).__name__} takes its members from the checkpoints of one training, but {reason}; "
            'use members="trained", or a boosted or a neural backbone.'
        ) from None
