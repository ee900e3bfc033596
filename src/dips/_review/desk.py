"""The desk: what a reviewer can ask for, without anything of the web. Every answer is plain data."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import numpy as np

from dips._review.decisions import OPEN, Decisions
from dips._review.material import GIVEN, SUGGESTED, Material
from dips._review.queue import Queue
from dips._review.statistics import agreement, progress
from dips._review.store import KEEP, LABEL, Event, EventStore
from dips.exceptions import ReviewError

SUSPECTS, DISAGREEMENTS = "suspects", "disagreements"
_MAX_NOTE, _MAX_NAME, _MAX_CLIENT = 2_000, 80, 100
_MAX_FOUND = 50


class Desk:
    """One review: the material, the order, and what was decided so far.

    Parameters
    ----------
    material : what is reviewed
    store : where decisions go
    blinded : show neither the given nor the suggested label, nor what tells of them, before one has answered
    """

    def __init__(self, material: Material, store: EventStore, blinded: bool = False) -> None:
        self.material, self.store, self.blinded = material, store, blinded
        self.queue = Queue(material)
        self._decisions = Decisions(material.given)
        self._lock = threading.Lock()

    @property
    def decisions(self) -> Decisions:
        """What holds now, also by other processes that write to the same store."""
        with self._lock:
            self._decisions.add(self.store.events(after=self._decisions.last_seq))
            return self._decisions

    def start(self, reviewer: str) -> dict[str, Any]:
        """What the page needs once."""
        m = self.material
        return {
            "title": m.title,
            "target": m.target,
            "unit": m.unit,
            "classes": m.classes,
            "class_keys": m.class_keys,
            "key_names": m.key_names,
            "columns": m.showing.columns,
            "examples": m.examples,
            "blinded": self.blinded,
            "reviewer": reviewer,
            "n_checkpoints": m.n_checkpoints,
            "n_warm_up": m.n_warm_up,
            "map": {} if self.blinded else m.map,
            "knows_truth": m.truth is not None,
        }

    def line(self, reviewer: str, kind: str = SUSPECTS) -> dict[str, Any]:
        """The rows to look at, and what this reviewer said of each."""
        decisions = self.decisions
        rows = self.queue.disagreements(reviewer, decisions) if kind == DISAGREEMENTS else self.queue.rows
        return {"kind": kind, "rows": rows, "status": [decisions.status(reviewer, row) for row in rows]}

    def card(self, reviewer: str, row: int) -> dict[str, Any]:
        """One row; while it is blinded and not answered, nothing that tells its label."""
        position = self._position(row)
        answer = self.decisions.answer(reviewer, row)
        shown = {
            "row": row,
            "key": self.material.key_of(row),
            **self.material.showing.of(position),
            "status": self.decisions.status(reviewer, row),
            "answer": None if answer is None else answer.label,
            "note": "" if answer is None else answer.event.note,
        }
        if self.blinded and answer is None:
            return shown
        near = [self.material.given.get(n["row"]) for n in shown.get("neighbors", [])]
        return shown | {"label": self._told(position) | {"neighbors": near}}

    def decide(
        self, reviewer: str, client: str, row: int, action: str, label: str | None = None, note: str = ""
    ) -> Event:
        """Write a decision down; it is on disk when this returns."""
        self._position(row)
        _refuse_long(client=(client, _MAX_CLIENT), note=(note, _MAX_NOTE))
        if (action == LABEL) != (label is not None) or (label is not None and label not in self.material.classes):
            raise ReviewError(f"{label!r} is not a class of {self.material.target!r}.")
        if action == KEEP and self.blinded and self.decisions.answer(reviewer, row) is None:
            raise ReviewError("The given label is hidden, so it cannot be kept unseen; choose a class.")
        if action == LABEL and label == self.material.given[row] and not self.blinded:
            action, label = KEEP, None
        key = self.material.key_of(row)
        return self.store.append(client, reviewer, row, key, action, label, note, self.blinded)

    def undo(self, reviewer: str, client: str) -> Event | None:
        """Take back this reviewer's last decision."""
        _refuse_long(client=(client, _MAX_CLIENT))
        return self.store.undo(client, reviewer)

    def progress(self, reviewer: str) -> dict[str, Any]:
        """Where this reviewer stands."""
        decisions = self.decisions
        n_divided = len(self.queue.disagreements(reviewer, decisions))
        return progress(self.material, self.queue, decisions, reviewer) | {"disagreements": n_divided}

    def agreement(self) -> dict[str, Any]:
        """How far reviewers agree; of their answers it says nothing."""
        decisions = self.decisions
        n_divided, reviewers = len(decisions.disagreements()), decisions.reviewers()
        return {"pairs": agreement(decisions), "divided": n_divided, "reviewers": reviewers}

    def find(self, reviewer: str, text: str, kind: str = SUSPECTS) -> list[dict[str, Any]]:
        """Rows of the line whose number, name or cells hold every word."""
        rows = self.line(reviewer, kind)["rows"]
        words = text.split()[:10]
        if not words:
            return []
        positions = [self.material.position[row] for row in rows]
        names = self._names
        named = [p for p in positions if all(w.lower() in names[p].lower() for w in words)]
        matching = dict.fromkeys([*named, *self.material.showing.find(words, positions)])
        numbers = self.material.account["row"].to_numpy()
        decisions = self.decisions
        return [
            {"row": (row := int(numbers[p])), "name": names[p], "open": decisions.status(reviewer, row) == OPEN}
            for p in list(matching)[:_MAX_FOUND]
        ]

    @cached_property
    def _names(self) -> list[str]:
        """What each row is found by, by its position."""
        account = self.material.account
        return [f"{row} {key}".strip() for row, key in zip(account["row"], account["key"], strict=True)]

    def prepare(self) -> None:
        """Do ahead what the first search would wait for."""
        self.material.showing.find([""], [self.material.position[row] for row in self.queue.rows])

    def _position(self, row: int) -> int:
        if row not in self.material.position:
            raise ReviewError(f"There is no labeled {self.material.unit} {row} in this run.")
        return self.material.position[row]

    def _told(self, position: int) -> dict[str, Any]:
        """What is known of a row's label, and how it was learned."""
        line = self.material.account.iloc[position]
        numbers = {k: None if np.isnan(line[k]) else float(line[k]) for k in ("p_wrong", "height", "across")}
        return {
            "given": int(line[GIVEN]),
            "suggested": int(line[SUGGESTED]),
            "suspicion": None if np.isnan(line["suspicion"]) else int(line["suspicion"]),
            "useful": bool(line["useful"]),
            "opens": int(line["row"]) in self.queue.openers,
            "reason": line["reason"],
            "curve": self.material.curve(position),
            **numbers,
        }


def _refuse_long(**texts: tuple[str, int]) -> None:
    for name, (text, limit) in texts.items():
        if not isinstance(text, str) or len(text) > limit or (name == "client" and not text):
            raise ReviewError(f"The {name} must be a text of at most {limit:,} characters.")


def checked_name(name: Any) -> str:
    """A reviewer's name, without blanks around it."""
    if not isinstance(name, str) or not 0 < len(name.strip()) <= _MAX_NAME or not name.strip().isprintable():
        raise ReviewError(f"A reviewer's name has 1 to {_MAX_NAME} printable characters.")
    return name.strip()
