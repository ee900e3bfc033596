"""A run: warm-up on the labels, then a semi-supervised training in rounds, after each of which all labels are judged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from dips._typing import Array, Rows
from dips.curators.base import Curator, Evidence, checked_mask, keep_every_class
from dips.curators.none import KeepAll
from dips.dynamics import Dynamics
from dips.folds import training_and_test
from dips.vision import checkpoint, distributed
from dips.vision.method import Supervised
from dips.vision.pool import Pool
from dips.vision.training import Recipe, Training

_STEPS_A_TURN = 8
_MAX_SEED = 2**31 - 1


@dataclass(frozen=True)
class Plan:
    """When labels are judged, and by what.

    Attributes
    ----------
    warm_up_steps : on the labeled images alone, by which labels are judged before the training
    n_rounds : the training is cut into so many; after each but the last, labels are judged
    n_checkpoints : the network is looked at so many times in each round, and in the warm-up
    n_sit_out : of so many parts of the labels one sits out in each round, in turn, so that it is judged by a network that
        was not told the label lately; 0 lets none sit out
    pseudo_labels : judge pseudo-labels too, at the price of a look at all images at every checkpoint
    """

    warm_up_steps: int = 1000
    n_rounds: int = 10
    n_checkpoints: int = 10
    n_sit_out: int = 0
    pseudo_labels: bool = False


class Run:
    """One training with a curator, advanced a few steps at a time by :meth:`proceed`.

    Parameters
    ----------
    pool, recipe, plan
        What is trained on, how, and when labels are judged.
    curator : Curator
        Who judges.
    seed : int
        Decides everything random.
    validation : (images, labels), optional
        To note the accuracy on, at every checkpoint; nothing is chosen by it.
    log : callable
        Told a record at every checkpoint and curation.
    path : Path, optional
        Where to keep a checkpoint at the end of every round; a run that finds one there goes on from it.
    """

    def __init__(
        self,
        pool: Pool,
        recipe: Recipe,
        plan: Plan,
        curator: Curator,
        seed: int = 0,
        *,
        validation: tuple[Tensor, Array] | None = None,
        log: Callable[[dict[str, Any]], None] = lambda record: None,
        path: Path | None = None,
    ) -> None:
        self.pool, self.recipe, self.plan, self.curator = pool, recipe, plan, curator
        self.validation, self.log, self.path = validation, log, path
        self.rows = pool.labeled_rows
        self.labels = pool.labels.cpu().numpy()  # (n,)
        rng = np.random.RandomState(seed)
        self._order, self._seeds = rng.permutation(self.rows.size), rng.randint(_MAX_SEED, size=2)
        self._folds = rng.randint(_MAX_SEED, size=100)
        self.training = Training(pool, recipe, self.rows, int(self._seeds[0]))
        self.curates = not isinstance(curator, KeepAll)
        n = pool.images.shape[0]
        self.useful = np.ones(n, dtype=bool)  # a given label to train on, or a pseudo-label that may be used
        self.confidence, self.aleatoric = np.full((2, n), np.nan)
        self.unseen: Array | None = None  # (n_labeled, C) by networks not trained on the row, or not lately
        self.round, self.elapsed_s, self.history = 0, 0.0, list[dict[str, Any]]()

    def proceed(self) -> Iterator[None]:
        """Train to the end, yielding after every few steps, so that several runs can share one device."""
        settings = checkpoint.settings(self.pool, self.recipe, self.plan, self.curator)
        if self.path is not None:
            checkpoint.load(self.path, self, settings)
        self._began = time.perf_counter() - self.elapsed_s
        if self.round == 0:
            yield from self._start()
        while self.round <= self.plan.n_rounds:
            yield from self._one_round()
            self.round += 1
            self.elapsed_s = time.perf_counter() - self._began
            if self.path is not None and distributed.rank() == 0:
                checkpoint.save(self.path, self, settings)

    def _start(self) -> Iterator[None]:
        """Judge the labels by a network trained on them alone."""
        if self.curates:
            plan = self.plan
            warm_up = self._warm_up(self.rows, int(self._seeds[1]))
            dynamics = self._dynamics(self.rows.size)
            for e in range(1, plan.n_checkpoints + 1):
                yield from _steps(warm_up, plan.warm_up_steps * e // plan.n_checkpoints)
                dynamics.update(warm_up.probabilities(rows=self.rows))
            dynamics.finish()
            self._curate(dynamics, self.rows)
        self.round = 1

    def _one_round(self) -> Iterator[None]:
        """Train, watch, and judge again what is trained on."""
        plan, n_steps = self.plan, self.recipe.schedule.n_steps
        watched = np.arange(self.labels.size) if plan.pseudo_labels else self.rows
        trained_on = self._trained_on()
        self.training.use(trained_on)
        is_last = self.round == plan.n_rounds
        dynamics = self._dynamics(watched.size) if self.curates and not is_last else None
        for e in range(1, plan.n_checkpoints + 1):
            share = (self.round - 1 + e / plan.n_checkpoints) / plan.n_rounds
            yield from _steps(self.training, round(n_steps * share))
            if dynamics is not None:
                dynamics.update(self.training.probabilities(rows=watched))
            self._report(trained_on.size)
        if dynamics is not None:
            dynamics.finish()
            sat_out = ~np.isin(self.rows, trained_on)
            if self.unseen is not None:
                self.unseen[sat_out] = dynamics.probabilities[np.isin(watched, self.rows)][sat_out]
            self._curate(dynamics, watched)

    def _trained_on(self) -> Rows:
        """Useful labels, less the part that sits out in this round."""
        useful = self.useful[self.rows]
        if self.plan.n_sit_out and self.curates and self.round < self.plan.n_rounds:
            part = np.empty(self.rows.size, dtype=np.intp)
            part[self._order] = np.arange(self.rows.size) % self.plan.n_sit_out
            useful = useful & (part != self.round % self.plan.n_sit_out)
        return self.rows[useful]

    def _curate(self, dynamics: Dynamics, watched: Rows) -> None:
        """Judge the labels of the watched rows, given or pseudo."""
        evidence = self._evidence(dynamics, watched)
        was_useful = self.useful.copy()
        self.useful[watched] = keep_every_class(checked_mask(self.curator, evidence), evidence)
        self.confidence[watched], self.aleatoric[watched] = evidence.confidence, evidence.aleatoric
        is_given = self.labels >= 0
        if self.plan.pseudo_labels and self.round > 0:
            self.training.trust(self.useful | is_given)
        record = {
            "round": self.round,
            "n_given": int(was_useful[is_given].sum()),
            "n_dropped": int((was_useful & ~self.useful)[is_given].sum()),
            "n_returned": int((self.useful & ~was_useful)[is_given].sum()),
            "n_untrusted": int((~self.useful[~is_given]).sum()),
            "elapsed_s": time.perf_counter() - self._began,
        }
        self.history.append(record)
        self.log({"event": "curation", "useful": np.flatnonzero(self.useful & is_given), **record})

    def _evidence(self, dynamics: Dynamics, watched: Rows) -> Evidence:
        is_given = self.labels[watched] >= 0
        labels = np.where(is_given, self.labels[watched], dynamics.probabilities.argmax(axis=1))

        def out_of_fold(n_folds: int) -> Array:
            if self.unseen is None:
                self.unseen = self._out_of_fold(n_folds)
            p = np.full((watched.size, self.pool.n_classes), np.nan)
            p[is_given] = self.unseen
            return p

        return Evidence(
            labels=labels,
            is_given=is_given,
            n_classes=self.pool.n_classes,
            round=self.round,
            statistics=dynamics.at(labels),
            mean_probabilities=dynamics["confidence"],
            probabilities=dynamics.probabilities,
            features=lambda: self.pool.images.cpu().numpy()[watched],
            out_of_fold=out_of_fold,
        )

    def _out_of_fold(self, n_folds: int) -> Array:
        """Class probabilities of the labeled rows, each from a warm-up without it; all folds are trained side by side."""
        folds = list(training_and_test(self.labels[self.rows], n_folds, self._order))
        trainings = [
            self._warm_up(self.rows[train], int(seed)) for (train, _), seed in zip(folds, self._folds, strict=False)
        ]
        together([_steps(training, self.plan.warm_up_steps) for training in trainings])
        p = np.empty((self.rows.size, self.pool.n_classes))
        for (_, test), training in zip(folds, trainings, strict=True):
            p[test] = training.probabilities(rows=self.rows[test])
        return p

    def _warm_up(self, rows: Rows, seed: int) -> Training:
        schedule = replace(self.recipe.schedule, n_steps=self.plan.warm_up_steps)
        return Training(self.pool, replace(self.recipe, method=Supervised(), schedule=schedule), rows, seed)

    def _dynamics(self, n_rows: int) -> Dynamics:
        statistics = {*self.curator.statistics, "confidence", "aleatoric"}  # the account shows these two
        dynamics = Dynamics(n_rows, self.pool.n_classes, statistics, self.curator.window)
        dynamics.begin(self.plan.n_checkpoints)
        return dynamics

    def _report(self, n_given: int) -> None:
        record: dict[str, Any] = {"event": "checkpoint", "round": self.round, "step": self.training.n_done}
        record |= {"loss": float(self.training.loss), "coverage": float(self.training.coverage), "n_given": n_given}
        if self.validation is not None:
            images, labels = self.validation
            record["accuracy"] = float((self.training.probabilities(images).argmax(axis=1) == labels).mean())
        self.log(record | {"elapsed_s": time.perf_counter() - self._began})


def together(advancing: Iterable[Iterator[None]]) -> None:
    """Advance several in turn until all are done; on a GPU each has a stream of its own and they overlap."""
    pending = list(advancing)
    while pending:
        pending = [one for one in pending if next(one, "done") != "done"]


def _steps(training: Training, until: int) -> Iterator[None]:
    while training.n_done < until:
        training.step()
        if training.n_done % _STEPS_A_TURN == 0:
            yield
