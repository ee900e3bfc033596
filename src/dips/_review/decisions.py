"""What holds after all events: each reviewer's decision on each row, and what several of them settle on."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from dips._review.store import DECISIONS, KEEP, LABEL, SKIP, UNDO, UNLABELED, Event

OPEN = "open"


@dataclass(frozen=True)
class Answer:
    """What one reviewer says of one row.

    Attributes
    ----------
    label : the class that the row has; None if no class fits
    is_wrong : whether the given label is another one
    event : the last word
    """

    label: str | None
    is_wrong: bool
    event: Event

    @property
    def action(self) -> str:
        """Return "unlabeled" if no class fits, "label" if another one does, else "keep"; also where it was blinded."""
        if self.label is None:
            return UNLABELED
        return LABEL if self.is_wrong else KEEP


class Decisions:
    """The present state of a review; events are added as they happen, while other threads may read it.

    Parameters
    ----------
    given : the label that each row came with, by its number
    """

    def __init__(self, given: dict[int, str]) -> None:
        self._given = given
        self._standing: dict[str, dict[int, list[Event]]] = {}  # by reviewer and row: events that were not taken back
        self._lock = threading.RLock()
        self.last_seq = 0

    def add(self, events: Iterable[Event]) -> None:
        """Take up events, in order."""
        with self._lock:
            for event in events:
                if event.seq <= self.last_seq:
                    continue
                of_row = self._standing.setdefault(event.reviewer, {}).setdefault(event.row, [])
                if event.action == UNDO:
                    of_row[:] = [e for e in of_row if e.seq != event.undoes]
                else:
                    of_row.append(event)
                self.last_seq = event.seq

    def reviewers(self) -> list[str]:
        """Whoever decided something that was not taken back, in order of first appearance."""
        with self._lock:
            return [who for who, rows in self._standing.items() if any(rows.values())]

    def status(self, reviewer: str, row: int) -> str:
        """Return "open", "skip", "keep", "unlabeled", or "label" where the given one is wrong."""
        last = self._last(reviewer, row)
        if last is None or last.action == SKIP:
            return OPEN if last is None else SKIP
        return self._read(last).action

    def answer(self, reviewer: str, row: int) -> Answer | None:
        """The reviewer's decision on a row; None if there is none, or the row was only skipped."""
        last = self._last(reviewer, row)
        return None if last is None or last.action not in DECISIONS else self._read(last)

    def answers_of(self, reviewer: str) -> dict[int, Answer]:
        """All decisions of a reviewer, by row."""
        with self._lock:
            rows = self._standing.get(reviewer, {})
            return {row: answer for row in rows if (answer := self.answer(reviewer, row)) is not None}

    def by_row(self) -> dict[int, dict[str, Answer]]:
        """All decisions: for each row, those of each reviewer."""
        by_row: dict[int, dict[str, Answer]] = {}
        with self._lock:
            for reviewer in self._standing:
                for row, answer in self.answers_of(reviewer).items():
                    by_row.setdefault(row, {})[reviewer] = answer
        return by_row

    def settled(self) -> dict[int, Answer]:
        """The answer that most reviewers of a row give; rows on which they are divided evenly are left out."""
        settled = {}
        for row, answers in self.by_row().items():
            votes = Counter(answer.label for answer in answers.values()).most_common(2)
            if len(votes) == 1 or votes[0][1] > votes[1][1]:
                agreeing = [a for a in answers.values() if a.label == votes[0][0]]
                settled[row] = max(agreeing, key=lambda a: a.event.seq)
        return settled

    def disagreements(self) -> list[int]:
        """Rows on which reviewers are divided evenly, in the order of the first reviewer."""
        settled = self.settled()
        return [row for row, answers in self.by_row().items() if len(answers) > 1 and row not in settled]

    def _last(self, reviewer: str, row: int) -> Event | None:
        with self._lock:
            events = self._standing.get(reviewer, {}).get(row)
            return events[-1] if events else None

    def _read(self, event: Event) -> Answer:
        given = self._given.get(event.row)
        label = {KEEP: given, LABEL: event.label, UNLABELED: None}[event.action]
        return Answer(label, label != given, event)
