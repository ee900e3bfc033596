"""Rounds on images: labels are judged before the semi-supervised training, and again after each round."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from dips._data.verified import Verified
from dips._dynamics import Dynamics
from dips._rounds.curation import dynamics_for
from dips._tools.arrays import Array, Rows
from dips._tools.locks import only_writer
from dips._tools.observer import Observer
from dips._tools.seeds import MAX_SEED
from dips.curators._base import Curator
from dips.curators._image_auto import ImageAuto
from dips.vision import _checkpoint, _distributed
from dips.vision._gate import Gate
from dips.vision._image_pool import ImagePool
from dips.vision._parts import TRAINING, Progress, steps_of_parts
from dips.vision._pretraining import check_pretrainable, pretrain
from dips.vision._training import Recipe, Training
from dips.vision._turns import steps
from dips.vision._unfinished import Unfinished
from dips.vision._verdicts import Verdicts


@dataclass(frozen=True)
class CurationPlan:
    """When labels are judged, and on what evidence.

    Attributes
    ----------
    warm_up_steps : steps on the labeled images alone, after which labels are judged for the first time
    pilot_steps : steps of each pilot; None takes a tenth of the training, but from 2,000 to 4,000
    n_rounds : number of rounds; labels are judged after each but the last
    n_checkpoints : checkpoints in each round, and in the warm-up
    pseudo_labels : judge pseudo-labels too; costs a prediction of all images at every checkpoint
    """

    warm_up_steps: int = 1000
    n_rounds: int = 20
    n_checkpoints: int = 5
    pseudo_labels: bool = False
    pilot_steps: int | None = None


class Judging(Protocol):
    """Judges the labels of a run."""

    def start(self) -> Iterator[None]:
        """Judge the labels before the training."""
        ...

    def begin_round(self) -> Rows:
        """Rows whose labels are trained on in this round."""
        ...

    def after_round(self, dynamics: Dynamics, watched: Rows, trained_on: Rows) -> None:
        """Judge the labels of the watched rows by how they were learned in the round."""
        ...


class ImageRounds:
    """One training with a curator, in rounds; :meth:`proceed` advances it a few steps at a time.

    Parameters
    ----------
    pool, recipe, plan
        What to train on, how to train, and when to judge labels.
    curator : Curator
        Judges labels; :class:`~dips.curators.ImageAuto` does so only if pilots show that some are wrong.
    seed : int
        Seeds everything random.
    validation : (images, labels), optional
        Their accuracy is recorded at every checkpoint; nothing is chosen by it.
    observer : Observer, optional
        Told of every few steps, of every round, and of every checkpoint and curation with a record.
    path : Path, optional
        Where to save a checkpoint, every few minutes in pretraining and pilots and then after every round; if the
        file exists, training continues from it.
    verified : Verified, optional
        Labels that somebody has checked; they are always trained on.
    """

    def __init__(
        self,
        pool: ImagePool,
        recipe: Recipe,
        plan: CurationPlan,
        curator: Curator,
        seed: int = 0,
        *,
        validation: tuple[Tensor, Array] | None = None,
        observer: Observer | None = None,
        path: Path | None = None,
        verified: Verified | None = None,
    ) -> None:
        self.pool, self.recipe, self.plan, self.curator = pool, recipe, plan, curator
        self.validation, self.path = validation, path
        self.observer = observer or Observer()
        self.progress = Progress(self.observer, steps_of_parts(recipe, plan, curator))
        self.unfinished = Unfinished(self.progress, self._save)
        self.labels = pool.labels.cpu().numpy()  # (n,)
        self.is_given = self.labels >= 0
        self.verified = verified or Verified.nothing(self.labels.size)
        self.described = _checkpoint.describe(
            pool, replace(recipe, start=None), plan, curator, seed, verified=self.verified
        )
        self.rows = np.flatnonzero(self.is_given)
        self.seed = seed
        rng = np.random.RandomState(seed)
        self.order = rng.permutation(self.rows.size)
        seeds = rng.randint(MAX_SEED, size=5).tolist()
        self._seed_of_training, self.seed_of_warm_up, self.seed_of_folds, self.seed_of_pilots = seeds[:4]
        self._seed_of_pretraining = seeds[4]
        self.training = Training(pool, recipe, self.rows, self._seed_of_training)
        if recipe.pretrain_steps:
            check_pretrainable(self.training.network)
        self.useful = np.ones(self.labels.size, dtype=bool)  # labels to train on, and pseudo-labels that may be used
        self.confidence, self.aleatoric, self.p_wrong = np.full((3, self.labels.size), np.nan)
        self.p_wrong[self.verified.mask] = 0.0
        self.unseen: Array | None = None  # (n_given, C) by networks not trained on the label, or not in the last round
        self.curves: dict[tuple[int, int], Array] = {}  # (round, checkpoint): probability of each given label
        self.round, self.elapsed_s, self.history = 0, 0.0, list[dict[str, Any]]()
        self.judging = _judging_of(self)

    def proceed(self) -> Iterator[None]:
        """Train to the end, yielding after every few steps, so that several trainings can share one device."""
        writes = self.path is not None and _distributed.rank() == 0
        with only_writer(self.path) if writes and self.path else contextlib.nullcontext():
            yield from self._proceed()

    def _proceed(self) -> Iterator[None]:
        if self.path is not None:
            _checkpoint.load(self.path, self)
        self._began = time.perf_counter() - self.elapsed_s
        if self.round == 0:
            yield from self._start()
        while self.round <= self.plan.n_rounds:
            yield from self._one_round()
            self.round += 1
            self._save()

    def _start(self) -> Iterator[None]:
        """Pretrain the network, and judge the labels before the training."""
        if self.recipe.pretrain_steps and self.recipe.start is None:
            start = yield from pretrain(self.pool, self.recipe, self._seed_of_pretraining, self.unfinished)
            self.unfinished.forget()
            self.begin_from(start)
            self._save()
        if self.judging is not None:
            was_useful = self.useful.copy()
            yield from self.judging.start()
            self._note({"n_given": self.rows.size} | self._changed(was_useful))
        self.unfinished.forget()
        self.round = 1
        self._save()

    def _save(self) -> None:
        """Keep what was done, so that a run that is stopped later continues from here."""
        self.elapsed_s = time.perf_counter() - self._began
        if self.path is not None and _distributed.rank() == 0:
            _checkpoint.save(self.path, self)

    def begin_from(self, start: dict[str, Tensor] | None) -> None:
        """Begin the training with these weights; None draws them."""
        self.recipe = replace(self.recipe, start=start)
        self.training = Training(self.pool, self.recipe, self.rows, self._seed_of_training)

    def _one_round(self) -> Iterator[None]:
        """Train, watch, and judge the labels again."""
        plan = self.plan
        watched = np.arange(self.labels.size) if plan.pseudo_labels else self.rows
        trained_on = self.rows if self.judging is None else self.judging.begin_round()
        self.training.use(trained_on)
        is_last = self.round == plan.n_rounds
        dynamics = self.new_dynamics(watched.size) if self.judging is not None and not is_last else None
        state: dict[str, Any] = {}
        for e in range(1, plan.n_checkpoints + 1):
            share = (self.round - 1 + e / plan.n_checkpoints) / plan.n_rounds
            yield from self._train_until(share)
            if dynamics is not None:
                dynamics.update(self.noted(e, self.training.probabilities(rows=watched), watched))
            state = {"n_given": trained_on.size} | self._state()
            self.observer.on_record({"event": "checkpoint", "round": self.round, **state})
        if self.judging is not None and dynamics is not None:
            dynamics.finish()
            was_useful = self.useful.copy()
            self.judging.after_round(dynamics, watched, trained_on)
            if plan.pseudo_labels:
                self.training.use_pseudo_labels_of(self.useful | self.is_given)
            state |= self._changed(was_useful)
        self._note(state)

    def _train_until(self, fraction: float) -> Iterator[None]:
        """Train until this fraction of all steps is done."""
        n_steps = self.recipe.schedule.n_steps
        for _ in steps(self.training, round(n_steps * fraction)):
            self.progress.tell(TRAINING, self.training.n_done)
            yield
        self.progress.tell(TRAINING, self.training.n_done)

    def noted(self, checkpoint: int, p: Array, watched: Rows) -> Array:
        """Keep the probability of each given label at a checkpoint, and return all probabilities."""
        self.curves[self.round, checkpoint] = p[self.is_given[watched], self.labels[self.rows]]
        return p

    def given(self) -> tuple[Rows, Array, Rows]:
        """Labeled rows, their labels, and the order in which they are dealt out to folds."""
        return self.rows, self.labels[self.rows], self.order

    def new_dynamics(self, n_rows: int) -> Dynamics:
        """Return empty dynamics of so many rows over the checkpoints of a round."""
        dynamics = dynamics_for(self.curator, n_rows, self.pool.n_classes)
        dynamics.begin(self.plan.n_checkpoints)
        return dynamics

    def _changed(self, was_useful: Array) -> dict[str, Any]:
        """What a judgment changed; observers are told."""
        changed = {
            "n_new_suspects": int((was_useful & ~self.useful)[self.is_given].sum()),
            "n_useful_again": int((self.useful & ~was_useful)[self.is_given].sum()),
            "n_suspect_pseudo": int((~self.useful[~self.is_given]).sum()),
        }
        useful = np.flatnonzero(self.useful & self.is_given)
        self.observer.on_record({"event": "curation", "round": self.round, "useful": useful, **changed})
        return changed

    def _state(self) -> dict[str, Any]:
        training = self.training
        if np.isnan(float(training.loss)):
            training.refuse_to_go_on()
        state = {"step": training.n_done, "loss": float(training.loss), "coverage": float(training.coverage)}
        if self.validation is not None:
            images, labels = self.validation
            state["accuracy"] = float((training.probabilities(images).argmax(axis=1) == labels).mean())
        return state | {"elapsed_s": time.perf_counter() - self._began}

    def _note(self, state: dict[str, Any]) -> None:
        defaults = {"step": 0, "n_new_suspects": 0, "n_useful_again": 0, "n_suspect_pseudo": 0}
        self.history.append({"round": self.round} | defaults | {"elapsed_s": time.perf_counter() - self._began} | state)
        self.observer.on_round(self.history[-1], self.plan.n_rounds)


def _judging_of(run: ImageRounds) -> Judging | None:
    if isinstance(run.curator, ImageAuto) and run.curator.has_pilots:
        return Gate(run, run.curator)
    return Verdicts(run) if run.curator.curates else None
