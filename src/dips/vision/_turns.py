"""Trainings that take turns, so that several share one device."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import TypeVar

from dips.vision._training import Training

_STEPS_PER_TURN = 8
T = TypeVar("T")


def steps(training: Training, until: int) -> Iterator[None]:
    """Train up to a step, yielding after every few; on a CPU, after each."""
    while training.n_done < until:
        training.step()
        if training.stream is None or training.n_done % _STEPS_PER_TURN == 0:  # without a GPU, each step is slow
            yield


def in_turn(advancing: Iterable[Iterator[None]]) -> Iterator[None]:
    """Advance several trainings in turn until all are done; on a GPU each has its own stream, so that they overlap."""
    pending = list(advancing)
    while pending:
        pending = [one for one in pending if next(one, "done") != "done"]
        yield


def interleave(advancing: Iterable[Iterator[None]]) -> None:
    """Advance several trainings in turn, and return when all are done."""
    for _ in in_turn(advancing):
        pass


def outcome_of(advancing: Generator[None, None, T]) -> T:
    """Advance one training to its end, and return what it returns."""
    while True:
        try:
            next(advancing)
        except StopIteration as end:
            return end.value
