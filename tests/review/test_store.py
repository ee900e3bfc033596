"""The trail of decisions: append-only, chained, each retry counted once, and nothing acknowledged is ever lost."""

import signal
import sqlite3
import subprocess
import sys

import pytest

from dips._review.store import EventStore
from dips.exceptions import ReviewError

RUN = "a" * 64


@pytest.fixture
def store(tmp_path):
    store = EventStore(tmp_path / "decisions.sqlite", RUN)
    yield store
    store.close()


def test_an_event_says_who_when_what_and_about_which_run(store):
    event = store.append("k1", "anna", 7, "P0007", "label", "ill", note="see scan", blinded=True)
    assert (event.seq, event.reviewer, event.row, event.key, event.label) == (1, "anna", 7, "P0007", "ill")
    assert (event.note, event.blinded, event.run) == ("see scan", True, RUN)
    assert event.time.endswith("+00:00")
    assert store.events() == [event]


def test_a_retry_counts_once(store):
    first = store.append("k1", "anna", 7, "", "keep")
    assert store.append("k1", "anna", 7, "", "keep") == first
    assert len(store.events()) == 1


def test_a_client_key_cannot_be_used_for_something_else(store):
    store.append("k1", "anna", 7, "", "keep")
    with pytest.raises(ReviewError, match="was used for another decision"):
        store.append("k1", "anna", 8, "", "keep")


def test_undo_is_an_event_and_takes_back_one_after_the_other(store):
    for row in (1, 2):
        store.append(f"k{row}", "anna", row, "", "keep")
    store.append("k3", "bob", 3, "", "keep")
    assert [store.undo(f"u{n}", "anna").undoes for n in (1, 2)] == [2, 1]
    assert store.undo("u3", "anna") is None
    assert store.undo("u1", "anna").undoes == 2  # the retry
    assert [e.action for e in store.events()] == ["keep"] * 3 + ["undo"] * 2


def test_events_are_never_changed_nor_deleted(store):
    store.append("k1", "anna", 1, "", "keep")
    other = sqlite3.connect(store.path)
    for statement in ("UPDATE events SET label = 'x'", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            other.execute(statement)


def test_a_changed_trail_is_noticed(store):
    for row in range(3):
        store.append(f"k{row}", "anna", row, "", "keep")
    assert store.verify() == 3
    other = sqlite3.connect(store.path)
    other.executescript("DROP TRIGGER never_changed; UPDATE events SET reviewer = 'bob' WHERE seq = 2")
    with pytest.raises(ReviewError, match=r"Event 2 .* does not fit"):
        store.verify()


def test_a_removed_event_is_noticed(store):
    for row in range(3):
        store.append(f"k{row}", "anna", row, "", "keep")
    sqlite3.connect(store.path).executescript("DROP TRIGGER never_deleted; DELETE FROM events WHERE seq = 2")
    with pytest.raises(ReviewError, match="Event 2"):
        store.verify()


def test_decisions_on_another_run_are_refused(store):
    store.append("k1", "anna", 1, "", "keep")
    with pytest.raises(ReviewError, match="holds 1 decisions on another run"):
        EventStore(store.path, "b" * 64)


WRITER = """
import sys
from pathlib import Path
from dips._review.store import EventStore
store, name, first = EventStore(Path(sys.argv[1]), "a" * 64), sys.argv[2], int(sys.argv[3])
for n in range(first, first + 40):
    store.append(f"{name}-{n}", name, n, "", "keep")
    print(n, flush=True)
"""


def test_what_was_acknowledged_survives_being_killed(tmp_path):
    """Two writers at once, killed with -9 and started again three times; benchmarks/review_crash.py does a thousand."""
    path = tmp_path / "decisions.sqlite"
    EventStore(path, RUN).close()
    told = {"anna": [], "bob": []}  # what each was told to be written
    for _ in range(3):
        commands = {name: [sys.executable, "-c", WRITER, str(path), name, str(len(n))] for name, n in told.items()}
        processes = {name: subprocess.Popen(c, stdout=subprocess.PIPE, text=True) for name, c in commands.items()}
        for name, process in processes.items():
            lines = [process.stdout.readline() for _ in range(15)]
            process.send_signal(signal.SIGKILL)
            rest = process.communicate()[0]
            told[name] += [int(line) for line in "".join([*lines, rest]).split("\n")[:-1]]
    store = EventStore(path, RUN)
    events = store.events()
    for name, rows in told.items():
        assert rows == list(range(len(rows)))
        assert len(rows) >= 45
        written = [e.row for e in events if e.reviewer == name]
        assert written[: len(rows)] == rows  # nothing lost, nothing twice
        assert len(written) <= len(rows) + 1  # the last may have been written and not told of
    assert store.verify() == len(events)
