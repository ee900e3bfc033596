"""A file is complete or absent, whatever happens while it is written."""

import os

import pytest

from dips._tools.files import whole_file, write_whole
from dips.exceptions import OutputError


def test_a_file_takes_its_place_when_it_is_complete(tmp_path):
    path = tmp_path / "a.txt"
    with whole_file(path) as stream:
        stream.write(b"one")
        assert not path.exists()
    assert path.read_bytes() == b"one"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def write_half():
        with whole_file(path) as stream:
            stream.write(b"new")
            raise KeyError

    with pytest.raises(KeyError):
        write_half()
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_place_that_cannot_be_written_is_refused_in_words(tmp_path):
    with pytest.raises(OutputError, match=r"a\.txt cannot be written: No such file or directory"):
        write_whole(tmp_path / "gone" / "a.txt", b"")


def test_a_file_that_the_disk_kept_only_half_of_is_no_file(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    monkeypatch.setattr("os.fsync", lambda handle: os.truncate(handle, 1))
    with pytest.raises(OutputError, match="only 1 of 3 bytes were kept"):
        write_whole(path, b"one")
    assert not any(tmp_path.iterdir())
