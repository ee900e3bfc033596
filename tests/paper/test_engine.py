"""A run is a grid of small jobs: what is finished is never done again, and nothing that fails is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dips._paper.engine import Store, hashed, run
from dips.exceptions import UserError
from tests.paper.jobs import Countdown, Square, squares

KILLED = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from dips._paper.engine import Store, run
from tests.paper.jobs import squares
run(squares(30, marks={marks!r}, sleep_s=0.1), Store(Path({store!r})), n_jobs={n_jobs})
"""


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def marks(tmp_path):
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def outcomes(store, jobs):
    return [store.get(job.key())["outcome"] for job in jobs]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_job_leaves_one_record(store, n_jobs):
    tally = run(squares(5), store, n_jobs)
    assert (tally.already_there, tally.done, tally.failed) == (0, 5, 0)
    assert outcomes(store, squares(5)) == [{"square": i * i} for i in range(5)]


def test_a_repeated_run_does_nothing(store, marks):
    run(squares(5, marks=str(marks)), store)
    tally = run(squares(5, marks=str(marks)), store)
    assert (tally.already_there, tally.done) == (5, 0)
    assert len(list(marks.iterdir())) == 5


def test_a_job_that_appears_twice_is_done_once(store, marks):
    run([*squares(3, marks=str(marks)), *squares(3, marks=str(marks))], store)
    assert len(list(marks.iterdir())) == 3


def test_a_changed_setting_is_another_job(store):
    run([Square(7)], store)
    assert store.get(Square(7).key()) is not None
    assert store.get(Square(7, fails_below=1).key()) is None


def test_a_failed_job_is_recorded_with_its_error_and_the_others_go_on(store):
    tally = run(squares(5, fails_below=2), store)
    assert (tally.done, tally.failed) == (3, 2)
    record = store.get(Square(1, fails_below=2).key())
    assert record["status"] == "failed"
    assert record["error"] == "ArithmeticError: 1 is too small"
    assert "jobs.py" in record["traceback"]


def test_a_failed_job_is_counted_again_and_tried_again_only_if_asked(store, marks):
    jobs = squares(5, fails_below=2, marks=str(marks))
    run(jobs, store)
    again = run(jobs, store)
    assert (again.already_there, again.done, again.failed) == (5, 0, 2)
    retried = run(jobs, store, retry=True)
    assert (retried.already_there, retried.done, retried.failed) == (3, 0, 2)
    assert len(list(marks.iterdir())) == 5 + 2


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process group")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_killed_run_goes_on_where_it_stopped_with_the_same_results(store, marks, tmp_path, n_jobs):
    root = str(Path(__file__).parents[2])
    script = KILLED.format(root=root, marks=str(marks), store=str(store.folder), n_jobs=n_jobs)
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    deadline = time.monotonic() + 60
    while len(list(store.folder.glob("records/*/*.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = {p: p.read_bytes() for p in store.folder.glob("records/*/*.json")}
    assert 3 <= len(before) < 30

    tally = run(squares(30, marks=str(marks)), store)
    assert tally.already_there == len(before)
    assert all(p.read_bytes() == content for p, content in before.items())
    fresh = Store(tmp_path / "fresh")
    run(squares(30), fresh)
    assert outcomes(store, squares(30)) == outcomes(fresh, squares(30))


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process")
def test_a_worker_that_the_system_kills_is_one_sentence_and_the_rest_goes_on_later(store):
    with pytest.raises(UserError, match=r"A worker process was killed, perhaps because memory ran out.* fewer --jobs"):
        run(squares(6, killed_at=4), store, n_jobs=2)
    assert store.get(Square(4).key()) is None
    assert run(squares(6), store, n_jobs=2).failed == 0
    assert outcomes(store, squares(6)) == [{"square": i**2} for i in range(6)]


def test_a_record_cut_short_by_the_machine_is_made_again(store):
    run([Square(3)], store)
    (path,) = store.folder.glob("records/*/*.json")
    path.write_text('{"settings": ')
    assert run([Square(3)], store).done == 1
    assert json.loads(path.read_text())["outcome"] == {"square": 9}


@pytest.mark.parametrize(
    "content",
    [b"\x80", b"[]", b"3", b"{}", b'{"settings": {}}', b'{"status": "done", "outcome": {"square": 9}}',
     b'{"settings": {}, "status": "done", "outcome": null}', b'{"settings": {}, "status": "done"}'],
)  # fmt: skip
def test_what_is_no_record_is_made_again(store, content):
    run([Square(3)], store)
    (path,) = store.folder.glob("records/*/*.json")
    path.write_bytes(content)
    assert store.get(Square(3).key()) is None
    assert run([Square(3)], store).done == 1
    assert json.loads(path.read_text())["outcome"] == {"square": 9}


def test_a_record_that_was_edited_is_made_again(store):
    run([Square(3)], store)
    (path,) = store.folder.glob("records/*/*.json")
    path.write_text(path.read_text().replace('"square": 9', '"square": 7'))
    assert store.get(Square(3).key()) is None
    assert run([Square(3)], store).done == 1
    assert outcomes(store, [Square(3)]) == [{"square": 9}]


@pytest.mark.parametrize(("accuracy", "counts"), [(0.7, True), (7, False), (-0.1, False), ("much", False)])
def test_a_record_without_a_checksum_counts_if_its_shares_are_shares(store, accuracy, counts):
    key, record = Square(3).key(), {"settings": {}, "status": "done", "outcome": {"curve": [{"accuracy": accuracy}]}}
    store.put(key, record)
    (path,) = store.folder.glob("records/*/*.json")
    path.write_text(json.dumps(record))
    assert (store.get(key) == record) is counts


def test_warnings_of_a_job_are_kept_not_shown(store, recwarn):
    class Warns(Square):
        def run(self):
            import warnings

            warnings.warn("mind the gap", stacklevel=1)
            return {}

    run([Warns(1)], store)
    assert store.get(Square(1).key())["warnings"] == ["mind the gap"]
    assert not recwarn.list


def test_jobs_that_share_a_device_take_turns_and_the_next_begins_where_one_ends(store, recwarn):
    turns = []
    jobs = [Countdown(number, turns, fails=number == 2) for number in (3, 2, 4)]
    tally = run(jobs, store, n_jobs=2)
    assert (tally.done, tally.failed) == (2, 1)
    assert turns == [3, 2, 3, 2, 3, 4, 4, 4, 4]
    assert [store.get(job.key()).get("outcome") for job in jobs] == [{"counted": 3}, None, {"counted": 4}]
    failed = store.get(jobs[1].key())
    assert (failed["error"], failed["warnings"]) == ("ArithmeticError: 2 fails", ["2 is over"])
    assert not recwarn.list


def test_time_on_a_shared_device_counts_once(store):
    jobs = [Countdown(number, [], sleep_s=0.05) for number in (1, 2, 3)]
    began = time.perf_counter()
    run(jobs, store, n_jobs=3)
    elapsed = time.perf_counter() - began
    seconds = [store.get(job.key())["elapsed_s"] for job in jobs]
    assert all(s > 0.049 * job.number for s, job in zip(seconds, jobs, strict=True))
    assert sum(seconds) <= elapsed


def test_hashes_do_not_depend_on_the_order_of_names():
    assert hashed({"a": 1, "b": [1, 2]}) == hashed({"b": [1, 2], "a": 1})
    assert hashed({"a": 1}) != hashed({"a": 2})


def test_nothing_is_printed_where_there_is_no_terminal(store, capfd):
    run(squares(3), store)
    assert capfd.readouterr() == ("", "")
