"""Labels judged by verdicts: each is useful or a suspect, as a curator says of how it was learned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dips._data.folds import training_and_test
from dips._dynamics import Dynamics
from dips._rounds.curation import gather_evidence, judge
from dips._tools.arrays import Array, Rows
from dips.curators._base import Evidence
from dips.vision._method import Supervised
from dips.vision._parts import OUT_OF_FOLD, WARM_UP
from dips.vision._pilots import Pilots, shortened
from dips.vision._training import Recipe, Training
from dips.vision._turns import in_turn, steps

if TYPE_CHECKING:
    from dips.vision._rounds import ImageRounds


class Verdicts:
    """Asks a curator after a warm-up on the labels alone, and after each round.

    If the curator has an ``n_sit_out``, the labels are divided into so many parts, which sit out of the rounds in turn;
    so each is judged by a network that has not been trained on it in that round.
    """

    def __init__(self, run: ImageRounds) -> None:
        self.run = run
        self._n_parts = getattr(run.curator, "n_sit_out", 0)

    @property
    def _warm_up(self) -> Recipe:
        return shortened(self.run.recipe, self.run.plan.warm_up_steps, Supervised())

    def start(self) -> Iterator[None]:
        """Judge the labels by a network trained on them alone."""
        run, plan = self.run, self.run.plan
        warm_up = Training(run.pool, self._warm_up, run.rows, run.seed_of_warm_up)
        dynamics = run.new_dynamics(run.rows.size)
        for e in range(1, plan.n_checkpoints + 1):
            for _ in steps(warm_up, plan.warm_up_steps * e // plan.n_checkpoints):
                run.progress.tell(WARM_UP, warm_up.n_done)
                yield
            dynamics.update(run.noted(e, warm_up.probabilities(rows=run.rows), run.rows))
        dynamics.finish()
        self._judge(dynamics, run.rows)

    def begin_round(self) -> Rows:
        """Rows of the useful labels without the part that sits out in this round; no class sits out entirely."""
        run = self.run
        useful = run.useful[run.rows]
        if self._n_parts and run.round < run.plan.n_rounds:
            labels = run.labels[run.rows]
            folds = list(training_and_test(labels, self._n_parts, run.order))
            stays = folds[run.round % len(folds)][0]
            useful = useful & (stays | run.verified.mask[run.rows] | ~np.isin(labels, labels[useful & stays]))
        return run.rows[useful]

    def after_round(self, dynamics: Dynamics, watched: Rows, trained_on: Rows) -> None:
        """Judge the labels of the watched rows, given or pseudo."""
        run = self.run
        if run.unseen is not None:
            sat_out = ~np.isin(run.rows, trained_on)
            run.unseen[sat_out] = dynamics.probabilities[run.is_given[watched]][sat_out]
        self._judge(dynamics, watched)

    def _judge(self, dynamics: Dynamics, watched: Rows) -> None:
        run, evidence = self.run, self._evidence(dynamics, watched)
        run.useful[watched] = judge(run.curator, evidence, run.verified.mask[watched])
        run.confidence[watched], run.aleatoric[watched] = evidence.confidence, evidence.aleatoric

    def _evidence(self, dynamics: Dynamics, watched: Rows) -> Evidence:
        run = self.run
        return gather_evidence(
            dynamics,
            self._labels_of(watched, dynamics),
            run.is_given[watched],
            run.round,
            features=lambda: run.pool.images.cpu().numpy()[watched],
            out_of_fold=self._out_of_fold,
        )

    def _labels_of(self, watched: Rows, dynamics: Dynamics) -> Array:
        """Labels of the watched rows: those given, and elsewhere the class that the network now takes for the truth."""
        run = self.run
        return np.where(run.is_given[watched], run.labels[watched], dynamics.probabilities.argmax(axis=1))

    def _out_of_fold(self, n_folds: int) -> Array:
        """Class probabilities of the labeled rows, each from a warm-up without it; the folds train in parallel."""
        run = self.run
        if run.unseen is None:
            pilots = Pilots(run.pool, self._warm_up, *run.given(), n_folds, run.seed_of_folds)
            for _ in in_turn([steps(training, run.plan.warm_up_steps) for training in pilots.trainings]):
                run.progress.tell(OUT_OF_FOLD, sum(training.n_done for training in pilots.trainings))
            run.unseen = pilots.answers()
        return run.unseen
