"""Rounds on images: a warm-up on the labels, then semi-supervised training; after each round all labels are judged."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from dips._data.folds import training_and_test
from dips._dynamics import Dynamics
from dips._rounds.curation import dynamics_for, gather_evidence, judge
from dips._tools.arrays import Array, Rows
from dips._tools.locks import only_writer
from dips._tools.observer import Observer
from dips.curators._base import Curator, Evidence
from dips.vision import _checkpoint, _distributed
from dips.vision._image_pool import ImagePool
from dips.vision._method import Supervised
from dips.vision._training import Recipe, Training

_STEPS_PER_TURN = 8
_MAX_SEED = 2**31 - 1


@dataclass(frozen=True)
class CurationPlan:
    """When labels are judged, and on what evidence.

    Attributes
    ----------
    warm_up_steps : steps on the labeled images alone, by which labels are judged before the training
    n_rounds : number of rounds; labels are judged after each but the last
    n_checkpoints : checkpoints in each round, and in the warm-up
    pseudo_labels : judge pseudo-labels too; costs a prediction of all images at every checkpoint
    """

    warm_up_steps: int = 1000
    n_rounds: int = 20
    n_checkpoints: int = 5
    pseudo_labels: bool = False


class ImageRounds:
    """One training with a curator, in rounds; :meth:`proceed` advances it a few steps at a time.

    Parameters
    ----------
    pool, recipe, plan
        What to train on, how to train, and when to judge labels.
    curator : Curator
        If it has an ``n_sit_out``, the labels are divided into so many parts, which sit out of the rounds in turn; so
        each is judged by a network that has not been trained on it in that round.
    seed : int
        Seeds everything random.
    validation : (images, labels), optional
        Their accuracy is recorded at every checkpoint; nothing is chosen by it.
    observer : Observer, optional
        Told of every few steps, of every round, and of every checkpoint and curation with a record.
    path : Path, optional
        Where to save a checkpoint after every round; if the file exists, training continues from it.
    is_verified : (n,) mask, optional
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
        is_verified: Array | None = None,
    ) -> None:
        self.pool, self.recipe, self.plan, self.curator = pool, recipe, plan, curator
        self.validation, self.path = validation, path
        self.observer = observer or Observer()
        self.labels = pool.labels.cpu().numpy()  # (n,)
        self.is_given = self.labels >= 0
        self.is_verified = np.zeros(self.labels.size, dtype=bool) if is_verified is None else is_verified
        self.described = _checkpoint.describe(pool, recipe, plan, curator, seed, is_verified=self.is_verified)
        self.rows = np.flatnonzero(self.is_given)
        rng = np.random.RandomState(seed)
        self._order = rng.permutation(self.rows.size)
        seed_of_training, self._seed_of_warm_up, self._seed_of_folds = rng.randint(_MAX_SEED, size=3).tolist()
        self.training = Training(pool, recipe, self.rows, seed_of_training)
        self.curates = curator.curates
        self.useful = np.ones(self.labels.size, dtype=bool)  # labels to train on, and pseudo-labels that may be used
        self.confidence, self.aleatoric = np.full((2, self.labels.size), np.nan)
        self.unseen: Array | None = None  # (n_given, C) by networks not trained on the label, or not in the last round
        self.curves: dict[tuple[int, int], Array] = {}  # (round, checkpoint): probability of each given label
        self.round, self.elapsed_s, self.history = 0, 0.0, list[dict[str, Any]]()

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
            self.elapsed_s = time.perf_counter() - self._began
            if self.path is not None and _distributed.rank() == 0:
                _checkpoint.save(self.path, self)

    def _start(self) -> Iterator[None]:
        """Judge the labels by a network trained on them alone."""
        if self.curates:
            plan = self.plan
            warm_up = self._warm_up(self.rows, self._seed_of_warm_up)
            dynamics = self._dynamics(self.rows.size)
            for e in range(1, plan.n_checkpoints + 1):
                yield from _steps(warm_up, plan.warm_up_steps * e // plan.n_checkpoints)
                dynamics.update(self._noted(e, warm_up.probabilities(rows=self.rows), self.rows))
            dynamics.finish()
            self._note({"n_given": self.rows.size} | self._curate(dynamics, self.rows))
        self.round = 1

    def _one_round(self) -> Iterator[None]:
        """Train, watch, and judge all labels again."""
        plan = self.plan
        watched = np.arange(self.labels.size) if plan.pseudo_labels else self.rows
        trained_on = self._trained_on()
        self.training.use(trained_on)
        is_last = self.round == plan.n_rounds
        dynamics = self._dynamics(watched.size) if self.curates and not is_last else None
        state: dict[str, Any] = {}
        for e in range(1, plan.n_checkpoints + 1):
            share = (self.round - 1 + e / plan.n_checkpoints) / plan.n_rounds
            yield from self._train_until(share)
            if dynamics is not None:
                dynamics.update(self._noted(e, self.training.probabilities(rows=watched), watched))
            state = {"n_given": trained_on.size} | self._state()
            self.observer.on_record({"event": "checkpoint", "round": self.round, **state})
        if dynamics is not None:
            dynamics.finish()
            if self.unseen is not None:
                sat_out = ~np.isin(self.rows, trained_on)
                self.unseen[sat_out] = dynamics.probabilities[self.is_given[watched]][sat_out]
            state |= self._curate(dynamics, watched)
        self._note(state)

    def _train_until(self, fraction: float) -> Iterator[None]:
        """Train until this fraction of all steps is done."""
        n_steps = self.recipe.schedule.n_steps
        for _ in _steps(self.training, round(n_steps * fraction)):
            self.observer.on_step(self.training.n_done, n_steps)
            yield
        self.observer.on_step(self.training.n_done, n_steps)

    def _noted(self, checkpoint: int, p: Array, watched: Rows) -> Array:
        """Keep the probability of each given label at a checkpoint, and return all probabilities."""
        self.curves[self.round, checkpoint] = p[self.is_given[watched], self.labels[self.rows]]
        return p

    def _trained_on(self) -> Rows:
        """Rows of the useful labels without the part that sits out in this round; no class sits out entirely."""
        useful, n_parts = self.useful[self.rows], getattr(self.curator, "n_sit_out", 0)
        if n_parts and self.round < self.plan.n_rounds:
            labels = self.labels[self.rows]
            folds = list(training_and_test(labels, n_parts, self._order))
            stays = folds[self.round % len(folds)][0]
            useful = useful & (stays | self.is_verified[self.rows] | ~np.isin(labels, labels[useful & stays]))
        return self.rows[useful]

    def _curate(self, dynamics: Dynamics, watched: Rows) -> dict[str, Any]:
        """Judge the labels of the watched rows, given or pseudo; return what changed."""
        evidence = self._evidence(dynamics, watched)
        was_useful = self.useful.copy()
        self.useful[watched] = judge(self.curator, evidence, self.is_verified[watched])
        self.confidence[watched], self.aleatoric[watched] = evidence.confidence, evidence.aleatoric
        if self.plan.pseudo_labels and self.round > 0:
            self.training.use_pseudo_labels_of(self.useful | self.is_given)
        changed = {
            "n_new_suspects": int((was_useful & ~self.useful)[self.is_given].sum()),
            "n_useful_again": int((self.useful & ~was_useful)[self.is_given].sum()),
            "n_suspect_pseudo": int((~self.useful[~self.is_given]).sum()),
        }
        useful = np.flatnonzero(self.useful & self.is_given)
        self.observer.on_record({"event": "curation", "round": self.round, "useful": useful, **changed})
        return changed

    def _evidence(self, dynamics: Dynamics, watched: Rows) -> Evidence:
        is_given = self.is_given[watched]
        labels = np.where(is_given, self.labels[watched], dynamics.probabilities.argmax(axis=1))

        def out_of_fold(n_folds: int) -> Array:
            if self.unseen is None:
                self.unseen = self._out_of_fold(n_folds)
            return self.unseen

        return gather_evidence(
            dynamics,
            labels,
            is_given,
            self.round,
            features=lambda: self.pool.images.cpu().numpy()[watched],
            out_of_fold=out_of_fold,
        )

    def _out_of_fold(self, n_folds: int) -> Array:
        """Class probabilities of the labeled rows, each from a warm-up without it; the folds train in parallel."""
        folds = list(training_and_test(self.labels[self.rows], n_folds, self._order))
        trainings = [self._warm_up(self.rows[train], self._seed_of_folds + k) for k, (train, _) in enumerate(folds)]
        interleave([_steps(training, self.plan.warm_up_steps) for training in trainings])
        p = np.empty((self.rows.size, self.pool.n_classes))
        for (_, test), training in zip(folds, trainings, strict=True):
            p[test] = training.probabilities(rows=self.rows[test])
        return p

    def _warm_up(self, rows: Rows, seed: int) -> Training:
        schedule = replace(self.recipe.schedule, n_steps=self.plan.warm_up_steps)
        return Training(self.pool, replace(self.recipe, method=Supervised(), schedule=schedule), rows, seed)

    def _dynamics(self, n_rows: int) -> Dynamics:
        dynamics = dynamics_for(self.curator, n_rows, self.pool.n_classes)
        dynamics.begin(self.plan.n_checkpoints)
        return dynamics

    def _state(self) -> dict[str, Any]:
        training = self.training
        state = {"step": training.n_done, "loss": float(training.loss), "coverage": float(training.coverage)}
        if self.validation is not None:
            images, labels = self.validation
            state["accuracy"] = float((training.probabilities(images).argmax(axis=1) == labels).mean())
        return state | {"elapsed_s": time.perf_counter() - self._began}

    def _note(self, state: dict[str, Any]) -> None:
        defaults = {"step": 0, "n_new_suspects": 0, "n_useful_again": 0, "n_suspect_pseudo": 0}
        self.history.append({"round": self.round} | defaults | {"elapsed_s": time.perf_counter() - self._began} | state)
        self.observer.on_round(self.history[-1], self.plan.n_rounds)


def interleave(advancing: Iterable[Iterator[None]]) -> None:
    """Advance several trainings in turn until all are done; on a GPU each has its own stream, so that they overlap."""
    pending = list(advancing)
    while pending:
        pending = [one for one in pending if next(one, "done") != "done"]


def _steps(training: Training, until: int) -> Iterator[None]:
    while training.n_done < until:
        training.step()
        if training.n_done % _STEPS_PER_TURN == 0:
            yield
