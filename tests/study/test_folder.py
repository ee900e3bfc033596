"""A run folder is there in full or not at all; finished parts of a stopped run are found again."""

import numpy as np
import pytest

from dips._files import OutputError
from dips._study.folder import RunFolder


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
