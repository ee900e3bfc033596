"""A run folder is there in full or not at all; finished parts of a stopped run are found again."""

import os
import subprocess
import sys

import numpy as np
import pytest

from dips._files import OutputError
from dips._study.folder import RunFolder
from dips._study.run import Run


def finished(path, force=False):
    folder = RunFolder(path, force)
    folder.begin("f")
    (folder.staging / "config.json").write_text("{}")
    folder.finish()


def test_nothing_is_at_the_place_before_the_run_is_whole(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.begin("f")
    assert not (tmp_path / "run").exists()
    (folder.staging / "config.json").write_text("{}")
    folder.finish()
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["config.json"]


def test_a_finished_part_is_computed_once(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return {"p": np.arange(3.0)}

    for _ in range(2):
        folder = RunFolder(tmp_path / "run")
        folder.begin("same study")
        assert folder.cached("plain-0", compute)["p"].tolist() == [0, 1, 2]
    assert len(calls) == 1


def test_another_study_begins_anew(tmp_path):
    folder = RunFolder(tmp_path / "run")
    assert not folder.begin("one")
    folder.cached("plain-0", lambda: {"p": np.zeros(1)})
    assert folder.begin("one")
    assert not folder.begin("another")
    assert not folder.is_cached("plain-0")


def test_a_part_that_was_cut_off_is_computed_again(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.begin("f")
    folder.cached("plain-0", lambda: {"p": np.zeros(100)})
    path = folder.staging / "state" / "plain-0.npz"
    path.write_bytes(path.read_bytes()[:50])
    assert folder.cached("plain-0", lambda: {"p": np.ones(1)})["p"].tolist() == [1]


def test_what_is_there_stays_without_force(tmp_path):
    finished(tmp_path / "run")
    with pytest.raises(OutputError, match="exists already; choose another name, or replace it with force=True"):
        RunFolder(tmp_path / "run")
    finished(tmp_path / "run", force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_force_never_replaces_what_is_no_run(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.jpg").write_text("x")
    with pytest.raises(OutputError, match="is not a run folder of dips"):
        RunFolder(tmp_path / "photos", force=True)


def test_an_empty_folder_is_a_fine_place(tmp_path):
    (tmp_path / "run").mkdir()
    finished(tmp_path / "run")
    assert (tmp_path / "run" / "config.json").exists()


def test_force_never_replaces_a_plain_file(tmp_path):
    (tmp_path / "notes").write_text("x")
    with pytest.raises(OutputError, match="is a file, and this command makes a folder"):
        RunFolder(tmp_path / "notes", force=True)
    assert (tmp_path / "notes").read_text() == "x"


def test_two_processes_cannot_write_one_run(tmp_path):
    with RunFolder(tmp_path / "run").held():
        with pytest.raises(OutputError, match=rf"is being written by process {os.getpid()} on .*; wait for it to end"):
            RunFolder(tmp_path / "run").held().__enter__()
        assert (tmp_path / ".run.lock").exists()
    assert not any(tmp_path.iterdir())


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path):
    hold = (
        "import sys\nfrom dips._study.folder import RunFolder\n"
        "with RunFolder(sys.argv[1]).held(): print(1, flush=True); input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", hold, tmp_path / "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    process.stdout.readline()
    with pytest.raises(OutputError, match=f"is being written by process {process.pid}"):
        RunFolder(tmp_path / "run").held().__enter__()
    process.kill()
    process.communicate()
    assert (tmp_path / ".run.lock").exists()
    with RunFolder(tmp_path / "run").held() as folder:
        folder.begin("f")


def test_a_lock_does_not_ask_what_time_it_is(tmp_path):
    lock = tmp_path / ".run.lock"
    lock.write_text("process 1 on elsewhere since 2099-01-01\n")  # left by a killed process whose clock was wrong
    for moment in (0, 2**33):
        os.utime(lock, (moment, moment))
        held = pytest.raises(OutputError, match=f"is being written by process {os.getpid()} ")
        with RunFolder(tmp_path / "run").held(), held:
            RunFolder(tmp_path / "run").held().__enter__()
        lock.touch()


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_run_is_replaced_in_one_step_or_recovered(tmp_path, monkeypatch, can_exchange):
    finished(tmp_path / "run")
    (tmp_path / "run" / "old").touch()
    if not can_exchange:
        monkeypatch.setattr("dips._study.folder.exchanged", lambda one, other: False)
    steps = []

    def killed_at_the_second(source, destination, move=os.replace):
        if "unfinished" in str(source) and not (tmp_path / "run").exists():
            raise KeyboardInterrupt
        steps.append(source)
        move(source, destination)

    monkeypatch.setattr("os.replace", killed_at_the_second)
    try:
        finished(tmp_path / "run", force=True)
    except KeyboardInterrupt:
        assert not can_exchange
        assert not (tmp_path / "run").exists()
    monkeypatch.undo()
    assert Run(tmp_path / "run").config == {}
    assert (tmp_path / "run" / "old").exists() != can_exchange


def test_a_folder_in_the_place_of_the_fingerprint_is_no_fingerprint(tmp_path):
    folder = RunFolder(tmp_path / "run")
    (folder.staging / "state" / "fingerprint").mkdir(parents=True)
    assert not folder.begin("f")
    assert folder.begin("f")


def test_a_name_that_no_record_can_hold_is_refused_at_once(tmp_path):
    with pytest.raises(OutputError, match="is not valid UTF-8; choose another name"):
        RunFolder(tmp_path / os.fsdecode(b"r\xff"))
