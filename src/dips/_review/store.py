"""Decisions on disk: an append-only table of events in SQLite, each chained to the one before by its hash.

An event is written and synced before anybody is told of it. Whoever repeats a request, because the answer was lost,
sends the same client key again and gets the event that is already there.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dips.exceptions import OutputError, ReviewError

LABEL, KEEP, UNLABELED, SKIP, UNDO = "label", "keep", "unlabeled", "skip", "undo"
DECISIONS = (LABEL, KEEP, UNLABELED)
_START = "0" * 64  # what the first event is chained to
_WAIT_S = 30.0  # for another process that is writing

_TABLES = """
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY, client TEXT NOT NULL UNIQUE, time TEXT NOT NULL, reviewer TEXT NOT NULL,
    row INTEGER NOT NULL, key TEXT NOT NULL, action TEXT NOT NULL, label TEXT, note TEXT NOT NULL,
    blinded INTEGER NOT NULL, undoes INTEGER, run TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS undone_once ON events (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_reviewer ON events (reviewer, seq);
CREATE TRIGGER IF NOT EXISTS never_changed BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER IF NOT EXISTS never_deleted BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'append only'); END;
"""
_LAST_OF = """
SELECT * FROM events AS e WHERE reviewer = ? AND action != 'undo'
AND NOT EXISTS (SELECT 1 FROM events AS u WHERE u.undoes = e.seq) ORDER BY seq DESC LIMIT 1
"""


@dataclass(frozen=True)
class Event:
    """One line of the trail.

    Attributes
    ----------
    seq : 1 for the first
    client : chosen by whoever asked, the same in every retry
    time : when it was written, in UTC
    reviewer : who
    row, key : which row: its number, and its name where it has one
    action : a decision, "skip" or "undo"
    label : the class, if the action is "label"
    note : what the reviewer wrote beside it
    blinded : whether the given and the suggested label were hidden
    undoes : the event that an undo takes back
    run : checksum of the run that was reviewed
    previous, hash : the chain
    """

    seq: int
    client: str
    time: str
    reviewer: str
    row: int
    key: str
    action: str
    label: str | None
    note: str
    blinded: bool
    undoes: int | None
    run: str
    previous: str
    hash: str

    def computed_hash(self) -> str:
        """Checksum of everything else in the event, the hash of the one before included."""
        record = {k: v for k, v in asdict(self).items() if k != "hash"}
        return hashlib.sha256(json.dumps(record, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


_COLUMNS = [f.name for f in fields(Event)]
_INSERT = f"INSERT INTO events ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
_ASKED = ("reviewer", "row", "action", "label", "note")  # what a retry must repeat


class EventStore:
    """The events of one run's review. Several threads and processes may use the same file.

    Parameters
    ----------
    path : the SQLite file; made if it is not there
    run : checksum of the run
    """

    def __init__(self, path: Path, run: str) -> None:
        self.path, self.run = path, run
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript(_TABLES)
        except (OSError, sqlite3.Error) as error:
            raise OutputError(f"{path} cannot be opened to keep decisions: {error}.") from error
        self._refuse_other_runs()

    def append(
        self,
        client: str,
        reviewer: str,
        row: int,
        key: str,
        action: str,
        label: str | None = None,
        note: str = "",
        blinded: bool = False,
    ) -> Event:
        """Write a decision, or find it where the same client key was written before."""
        if action not in (*DECISIONS, SKIP):
            raise ReviewError(f"The action {action!r} is not one of {', '.join((*DECISIONS, SKIP))}.")
        with self._writing():
            known = self._by_client(client)
            asked = {"reviewer": reviewer, "row": row, "action": action, "label": label, "note": note}
            if known is None:
                return self._write(client=client, key=key, blinded=blinded, undoes=None, **asked)
            if any(getattr(known, name) != asked[name] for name in _ASKED):
                raise ReviewError(f"The client key {client!r} was used for another decision; use a new one for each.")
            return known

    def undo(self, client: str, reviewer: str) -> Event | None:
        """Take back the reviewer's last decision that is not taken back yet; None if there is none."""
        with self._writing():
            known = self._by_client(client)
            if known is not None:
                if known.action != UNDO or known.reviewer != reviewer:
                    raise ReviewError(f"The client key {client!r} was used for another decision; use a new one.")
                return known
            values = self._db.execute(_LAST_OF, (reviewer,)).fetchone()
            if values is None:
                return None
            last = _event(values)
            return self._write(
                client=client, reviewer=reviewer, row=last.row, key=last.key, action=UNDO, label=None, note="",
                blinded=last.blinded, undoes=last.seq,
            )  # fmt: skip

    def events(self, after: int = 0) -> list[Event]:
        """Events later than one, in order."""
        with self._lock:
            records = self._db.execute("SELECT * FROM events WHERE seq > ? ORDER BY seq", (after,)).fetchall()
        return [_event(values) for values in records]

    def verify(self) -> int:
        """Follow the chain from the start; return how many events it holds, or refuse a broken one."""
        previous, events = _START, self.events()
        for number, event in enumerate(events, start=1):
            if event.seq != number or event.previous != previous or event.hash != event.computed_hash():
                raise ReviewError(
                    f"Event {number} of {self.path} does not fit the one before: the file was changed by something "
                    "other than dips. Restore it from a backup."
                )
            previous = event.hash
        return len(events)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One writer at a time, in this process and in all others; what is written is synced at the end."""
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                raise OutputError(f"{self.path} cannot be written: {error}.") from error
            try:
                yield
                self._db.execute("COMMIT")
            except sqlite3.Error as error:
                self._roll_back()
                raise OutputError(f"{self.path} cannot be written: {error}.") from error
            except BaseException:
                self._roll_back()
                raise

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def _by_client(self, client: str) -> Event | None:
        values = self._db.execute("SELECT * FROM events WHERE client = ?", (client,)).fetchone()
        return None if values is None else _event(values)

    def _write(self, **values: Any) -> Event:
        last = self._db.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchone() or (0, _START)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        draft = Event(seq=last[0] + 1, time=now, run=self.run, previous=last[1], hash="", **values)
        event = Event(**asdict(draft) | {"hash": draft.computed_hash()})
        self._db.execute(_INSERT, list(asdict(event).values()))
        return event

    def _refuse_other_runs(self) -> None:
        other = self._db.execute("SELECT COUNT(*) FROM events WHERE run != ?", (self.run,)).fetchone()[0]
        if other:
            self._db.close()
            raise ReviewError(
                f"{self.path} holds {other:,} decisions on another run, whose rows may differ; move the file away "
                "to begin a new review here."
            )


def _event(values: tuple[Any, ...]) -> Event:
    record = dict(zip(_COLUMNS, values, strict=True))
    return Event(**record | {"blinded": bool(record["blinded"])})
