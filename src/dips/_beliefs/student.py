"""The student: the user's backbone, trained on beliefs."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from dips._beliefs.belief import probably_right
from dips._beliefs.effort import Effort
from dips._beliefs.learning import RowBeliefs, learn_beliefs
from dips._beliefs.synthetic_rows import with_synthetic_rows
from dips._data.hashing import lowest_hashes
from dips._data.known import Known
from dips._data.labels import UNLABELED
from dips._data.verified import Verified
from dips._rounds.curation import dynamics_for
from dips._rounds.plan import RoundPlan
from dips._rounds.rounds import Rounds
from dips._rounds.state import RoundsState
from dips._rounds.training import Trainer
from dips._tools.arrays import Array, Rows
from dips._tools.observer import Observer
from dips._tools.seeds import draw_seed
from dips.curators import Beliefs, KeepAll
from dips.exceptions import InputError
from dips.labelers import Labeler

_PLAUSIBLE = 0.02  # a class that is less probable is left out of a row's training


class BeliefTraining:
    """Learn beliefs about labels and unlabeled rows, then train the student on them.

    Parameters
    ----------
    trainer : trains the backbone on rows of its pool
    labeler : proposes which unlabeled rows the student learns from; None takes all of the sample
    curator : the settings of the beliefs; what was estimated is kept in it
    plan : of the labeler's rounds
    known : what is known of the errors
    track : labeled rows, by position, whose probabilities at every checkpoint are kept
    observer : told of the two stages
    use_unlabeled : whether unlabeled rows are looked at
    """

    def __init__(
        self,
        trainer: Trainer,
        labeler: Labeler | None,
        curator: Beliefs,
        plan: RoundPlan,
        known: Known | None,
        track: Array | None = None,
        observer: Observer | None = None,
        use_unlabeled: bool = True,
    ) -> None:
        self.trainer, self.labeler, self.curator, self.plan = trainer, labeler, curator, plan
        self.use_unlabeled, self.known = use_unlabeled, known
        self.track = np.empty(0, dtype=np.intp) if track is None else track
        self.observer = observer or Observer()
        self.has_checkpoints = _has_checkpoints(trainer, tracked=bool(self.track.size))

    def run(self, given: Array, verified: Verified | None = None) -> RoundsState:
        """Judge the labels, choose unlabeled rows, and train the student."""
        verified = replace(verified or Verified.nothing(given.size), error=self.curator.reviewer_error)
        state, began = RoundsState(given, verified), time.perf_counter()
        labeled, sample = np.flatnonzero(state.is_given), self._sample(given)
        effort = Effort.for_labels(labeled.size, self.curator.n_folds, self.curator.network)
        real = np.concatenate([labeled, sample])
        trainer, synthetic = with_synthetic_rows(self.trainer, real, max(0, effort.n_student - sample.size))
        beliefs = learn_beliefs(
            trainer, labeled, given[labeled], sample, effort, verified.at(labeled), self.known, synthetic
        )
        self._judge(state, labeled, beliefs)
        self._tell(state, 0, labeled.size, 0, began)

        began, chosen = time.perf_counter(), self._choose(state, sample)
        state.label(sample[chosen], beliefs.unlabeled[chosen].argmax(axis=1), 1)
        state.useful[sample[chosen]] = True
        believed = np.concatenate([beliefs.labeled, beliefs.unlabeled[chosen], beliefs.synthetic])
        self._train(state, trainer, np.concatenate([labeled, sample[chosen]]), synthetic, believed)
        state.termination = "all_labeled" if chosen.all() and sample.size == (~state.is_given).sum() else "max_iter"
        self._tell(state, 1, labeled.size, int(chosen.sum()), began)
        return state

    def _judge(self, state: RoundsState, labeled: Rows, beliefs: RowBeliefs) -> None:
        """Find the suspects among the labels, and keep what was estimated."""
        labels, noise = state.given[labeled], beliefs.noise
        self.curator.remember(noise.mean, (noise.low, noise.high), beliefs.teachers, beliefs.out_of_fold, labels)
        p_wrong = np.clip(1 - beliefs.labeled[np.arange(labels.size), labels], 0, 1)
        if self.known is not None:
            p_wrong[self.known.trusts(labels)] = 0  # up to rounding it is
        state.believe(labeled, p_wrong, probably_right(p_wrong, labels), _other_class(beliefs.labeled, labels))
        state.check_gain[labeled] = beliefs.check_gain
        state.by_class = class_records(labels, state.useful[labeled], beliefs)

    def _sample(self, given: Array) -> Rows:
        """Unlabeled rows that are looked at: all of them, or a sample, the same wherever they lie."""
        rows = np.flatnonzero(given == UNLABELED)
        most = self.curator.max_unlabeled if self.use_unlabeled else 0
        if rows.size <= most or not most:
            return rows[:most]
        return rows[lowest_hashes(np.arange(rows.size), most, draw_seed(self.trainer.rng))]

    def _choose(self, state: RoundsState, sample: Rows) -> Array:
        """Mask of the sampled rows that the student learns from."""
        if self.labeler is None or not sample.size:
            return np.ones(sample.size, dtype=bool)
        rounds = Rounds(self.trainer, self.labeler, KeepAll(), self.plan, among=sample)
        proposed = rounds.run(np.where(state.useful, state.given, UNLABELED))
        return proposed.labels[sample] != UNLABELED

    def _train(self, state: RoundsState, trainer: Trainer, real: Rows, synthetic: Rows, belief: Array) -> None:
        """Fit the student on real and synthetic rows, and watch the real ones where it has checkpoints."""
        rows, n_labeled = np.concatenate([real, synthetic]), int(state.is_given.sum())
        at, weights = np.arange(rows.size), None
        if trainer.backbone.takes_beliefs(trainer.estimator):
            at, codes, weights = weighted_rows(belief)
            trainer = trainer.balanced_for(rows[at], codes, weights)
        else:
            codes = drawn_classes(belief, n_labeled, trainer.rng)
        if not self.has_checkpoints:
            state.estimator = trainer.fit(rows[at], codes, weights=weights)
            return
        dynamics = dynamics_for(self.curator, real.size, trainer.n_classes, self.track)
        state.estimator = trainer.fit(rows[at], codes, dynamics, watched=real, weights=weights)
        statistics = dynamics.at(state.labels[real])
        state.confidence[real], state.aleatoric[real] = statistics["confidence"], statistics["aleatoric"]
        state.trajectories = dynamics.trajectories if self.track.size else None

    def _tell(self, state: RoundsState, t: int, n_given: int, n_pseudo: int, began: float) -> None:
        state.record_round(
            t,
            began,
            n_given=n_given,
            n_pseudo=n_pseudo,
            n_proposed=n_pseudo,
            n_left=int((state.labels == UNLABELED).sum()),
            n_new_suspects=int((state.is_given & ~state.useful).sum()) if t == 0 else 0,
        )
        self.observer.on_round(state.history[-1], 1)


def weighted_rows(belief: Array) -> tuple[Rows, Array, Array]:
    """Positions, classes and weights to train on: each row once for every plausible class.

    Examples
    --------
    >>> weighted_rows(np.array([[0.99, 0.01], [0.7, 0.3]]))
    (array([0, 1, 1]), array([0, 0, 1]), array([0.99, 0.7 , 0.3 ]))
    """
    rows, classes = np.nonzero(belief > _PLAUSIBLE)
    return rows, classes, belief[rows, classes]


def drawn_classes(belief: Array, n_labeled: int, rng: np.random.RandomState) -> Array:
    """A class for each row, where beliefs cannot be weighted.

    The first `n_labeled` rows count as their most probable class. Of the others a class is drawn from the belief:
    always the most probable one would make the model far too sure.
    """
    drawn = (belief.cumsum(axis=1) > rng.uniform(size=(len(belief), 1))).argmax(axis=1)
    return np.where(np.arange(len(belief)) < n_labeled, belief.argmax(axis=1), drawn)


def class_records(labels: Array, useful: Array, beliefs: RowBeliefs) -> list[dict[str, Any]]:
    """One record per class: its labels, the suspects among them, how many are expected to be wrong, and its recall.

    The recall is that of the teachers on rows they were not trained on, each row weighted by the belief that it is
    of the class. A class is in danger if its labels look wrong more often than the noise supports, or more often than
    not.
    """
    belief, recognized = beliefs.labeled, beliefs.out_of_fold.argmax(axis=1)
    records = []
    for c in range(belief.shape[1]):
        of_class, mass = labels == c, belief[:, c].sum()
        records.append(
            {
                "n_labels": int(of_class.sum()),
                "n_suspects": int((of_class & ~useful).sum()),
                "expected_wrong": float((1 - belief[of_class, c]).sum()),
                "recall": float(belief[recognized == c, c].sum() / mass) if mass else np.nan,
                "in_danger": bool(beliefs.in_danger[c] or 2 * (of_class & ~useful).sum() > of_class.sum()),
            }
        )
    return records


def _other_class(belief: Array, labels: Array) -> Array:
    """The most probable class other than the label, (n,)."""
    others = belief.copy()
    others[np.arange(labels.size), labels] = -1
    return others.argmax(axis=1)


def _has_checkpoints(trainer: Trainer, tracked: bool) -> bool:
    try:
        trainer.backbone.check(trainer.estimator)
    except InputError as error:
        if tracked:
            reason = str(error).partition("; ")[0]
            raise InputError(f"{reason}; leave out track, or use a boosted or a neural backbone.") from None
        return False
    return True
