"""The default for images: labels are judged only if pilots show that some are wrong, and can tell which."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dips._beliefs.belief import believe
from dips._beliefs.transitions import transition
from dips._dynamics import Dynamics
from dips._tools.arrays import Array, Rows
from dips.curators._image_auto import ImageAuto
from dips.vision._label_noise import estimate_label_noise, predicts_better
from dips.vision._parts import PILOTS, PLAIN_PILOTS, steps_of_a_pilot
from dips.vision._pilots import Pilots, shortened
from dips.vision._training import Recipe
from dips.vision._verdicts import Verdicts

if TYPE_CHECKING:
    from dips.vision._rounds import ImageRounds

_MAX_COMPARED = 2_000  # images on which the pilots are compared


class Gate(Verdicts):
    """Asks :class:`~dips.curators.ImageAuto` where it is open; elsewhere all labels are trained on, none sits out.

    A pretraining is kept only where it helps: pilots that begin with it must predict labels that they were not shown
    better than pilots that do not. There are images of which a part in other colors is no longer the same thing.
    """

    def __init__(self, run: ImageRounds, curator: ImageAuto) -> None:
        super().__init__(run)
        self.curator = curator

    def start(self) -> Iterator[None]:
        """Estimate the noise, and judge the labels if it is shown to be there."""
        run = self.run
        pilots = yield from self._pilots(run.recipe, PILOTS)
        answers, labels = pilots.answers(), run.labels[run.rows]
        if run.recipe.start is not None:
            plain = yield from self._pilots(replace(run.recipe, start=None), PLAIN_PILOTS)
            if not predicts_better(answers, plain.answers(), labels):
                run.begin_from(None)
                pilots, answers = plain, plain.answers()
        noise = estimate_label_noise(answers, pilots.opinions(self._compared()), labels, run.verified.at(run.rows))
        self.curator.remember(noise.rate, (noise.low, noise.high), answers, labels)
        self._remember(noise.p_wrong, run.rows)
        run.unseen = answers
        if self.curator.is_open:
            yield from super().start()

    def _pilots(self, recipe: Recipe, part: str) -> Generator[None, None, Pilots]:
        """Train pilots by this recipe."""
        run = self.run
        n_steps = steps_of_a_pilot(recipe, run.plan)
        pilots = Pilots(run.pool, shortened(recipe, n_steps), *run.given(), self.curator.n_pilots, run.seed_of_pilots)
        yield from run.unfinished.train(part, pilots.trainings, n_steps)
        return pilots

    def begin_round(self) -> Rows:
        """Rows to train on: all labeled ones where the gate is closed."""
        return super().begin_round() if self.curator.is_open else self.run.rows

    def after_round(self, dynamics: Dynamics, watched: Rows, trained_on: Rows) -> None:
        """Judge the labels again where the gate is open; else only note how they were learned."""
        if self.curator.is_open:
            super().after_round(dynamics, watched, trained_on)
            self._believe(~np.isin(self.run.rows, trained_on))
            return
        run, learned = self.run, dynamics.at(self._labels_of(watched, dynamics))
        run.confidence[watched], run.aleatoric[watched] = learned["confidence"], learned["aleatoric"]

    def _believe(self, sat_out: Array) -> None:
        """Renew the probability to be wrong of labels that sat out: the network knows more than the pilots did."""
        run = self.run
        if run.unseen is not None:
            labels, p = run.labels[run.rows[sat_out]], run.unseen[sat_out]
            T = transition(self.curator.noise_rate_, p.shape[1])
            right = believe(p, labels, T)[np.arange(labels.size), labels]
            self._remember(1 - right, run.rows[sat_out])

    def _remember(self, p_wrong: Array, rows: Rows) -> None:
        self.run.p_wrong[rows] = np.where(self.run.verified.mask[rows], 0.0, p_wrong)

    def _compared(self) -> Rows:
        """Return unlabeled images on which to compare the pilots, or labeled ones if there are no others."""
        run = self.run
        unlabeled = np.flatnonzero(~run.is_given)
        rows = unlabeled if unlabeled.size else run.rows
        return np.random.RandomState(run.seed_of_pilots).permutation(rows)[:_MAX_COMPARED]
