"""Trainings before the rounds: kept every few minutes, so that a run that is stopped among them loses little."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dips._tools.checkpoints import restoring
from dips.vision._parts import Progress
from dips.vision._training import Training
from dips.vision._turns import in_turn, steps

_EVERY_S = 180.0


class Unfinished:
    """Trains the parts that go before the rounds, each from where a stopped run had come.

    Parameters
    ----------
    progress : told of every few steps
    save : called every few minutes
    """

    def __init__(self, progress: Progress, save: Callable[[], None] = lambda: None) -> None:
        self.progress, self._save = progress, save
        self._begun: dict[str, Sequence[Training]] = {}
        self._stored: dict[str, list[dict[str, Any]]] = {}
        self._path = Path()
        self._saved_at = time.monotonic()

    def train(self, part: str, trainings: Sequence[Training], n_steps: int) -> Iterator[None]:
        """Train a part up to a step, its trainings in turn."""
        if part in self._stored:
            with restoring(self._path):
                for training, state in zip(trainings, self._stored.pop(part), strict=True):
                    training.restore(state)
        self._begun[part] = trainings
        for _ in in_turn([steps(training, n_steps) for training in trainings]):
            self.progress.tell(part, sum(training.n_done for training in trainings))
            if time.monotonic() - self._saved_at > _EVERY_S:
                self._save()
                self._saved_at = time.monotonic()
            yield

    def forget(self) -> None:
        """The parts so far are done, and what they found is kept elsewhere."""
        self._begun.clear()

    def state(self) -> dict[str, list[dict[str, Any]]]:
        """What is needed to continue: the trainings of each part that was begun."""
        begun = {part: [training.state() for training in trainings] for part, trainings in self._begun.items()}
        return self._stored | begun

    def restore(self, state: dict[str, list[dict[str, Any]]], path: Path) -> None:
        """Continue from the state in a file, when its parts are trained."""
        self._stored, self._path = dict(state), path
