"""Tables by name: from a folder, from the net (a server on this machine), and what is said when they cannot be had."""

import dataclasses
import functools
import hashlib
import http.server
import os
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dips.datasets import TABLES, available, describe, load
from dips.datasets._declaration import Source
from dips.datasets._download import Remote, cache_folder
from dips.exceptions import DataError

CSV = b"1,yes,3\n2,no,4\n3,yes,5\n"


def declared(**changes):
    plain = dataclasses.replace(
        TABLES["german"], name="tiny", file="tiny", label="label", classes={"yes": 1, "no": 0}, features=2
    )
    read = {"names": ["a", "label", "b"]}
    return dataclasses.replace(plain, **{"source": Source(read=read)} | changes)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DIPS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DIPS_DATA", raising=False)


@pytest.fixture
def add(monkeypatch):
    """Make a table known for the time of a test."""
    return lambda table: monkeypatch.setitem(TABLES, table.name, table)


@pytest.fixture
def served(tmp_path):
    """A folder, and its address on a server of this machine that counts what it hands out."""
    folder, requests = tmp_path / "served", []
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            requests.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}", requests
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_is_read_from_a_folder(tmp_path, add, ending):
    add(declared())
    frame = pd.DataFrame({"a": [1, 2], "label": ["yes", "no"], "b": [0.5, np.nan]})
    frame.to_csv(tmp_path / "tiny.csv", index=False) if ending == "csv" else frame.to_parquet(tmp_path / "tiny.parquet")
    loaded = load("tiny", folder=tmp_path)
    assert loaded.y.tolist() == [1, 0]
    assert list(loaded.X) == ["a", "b"]


def test_the_folder_may_be_named_in_the_environment(tmp_path, add, monkeypatch):
    add(declared())
    pd.DataFrame({"a": [1], "label": ["yes"], "b": [2]}).to_csv(tmp_path / "tiny.csv", index=False)
    monkeypatch.setenv("DIPS_DATA", str(tmp_path))
    assert load("tiny").y.tolist() == [1]
    assert available() == ["tiny"]


def test_a_table_is_downloaded_once_and_kept_in_the_cache(served, add):
    folder, address, requests = served
    (folder / "tiny.data").write_bytes(CSV)
    remote = Remote(f"{address}/tiny.data", hashlib.sha256(CSV).hexdigest())
    add(declared(source=Source(files=(remote,), read={"names": ["a", "label", "b"]})))
    first, again = load("tiny"), load("tiny")
    assert first.y.tolist() == again.y.tolist() == [1, 0, 1]
    assert len(requests) == 1
    assert (cache_folder() / "tables" / "tiny" / "tiny.data").read_bytes() == CSV


def test_files_are_stacked_with_what_their_names_say(served, add):
    folder, address, _ = served
    for part in ("here", "there"):
        (folder / f"{part}.data").write_bytes(CSV)
    files = tuple(Remote(f"{address}/{p}.data", adds={"site": p}) for p in ("here", "there"))
    add(declared(group="site", source=Source(files=files, read={"names": ["a", "label", "b"]})))
    assert load("tiny").groups.tolist() == ["here"] * 3 + ["there"] * 3


def test_a_member_of_an_archive_is_read(served, add):
    folder, address, _ = served
    with zipfile.ZipFile(folder / "tiny.zip", "w") as archive:
        archive.writestr("inside.csv", CSV)
    remote = Remote(f"{address}/tiny.zip", member="inside.csv")
    add(declared(source=Source(files=(remote,), read={"names": ["a", "label", "b"]})))
    assert load("tiny").y.size == 3


def test_rows_of_the_public_file_that_do_not_belong_are_left_out(served, add):
    folder, address, _ = served
    (folder / "tiny.data").write_bytes(CSV)
    source = Source(files=(Remote(f"{address}/tiny.data"),), read={"names": ["a", "label", "b"]}, rows="a < 3")
    add(declared(source=source))
    assert load("tiny").y.size == 2


def test_another_file_than_the_known_one_is_refused_and_not_kept(served, add):
    folder, address, _ = served
    (folder / "tiny.data").write_bytes(b"<html>moved</html>")
    add(declared(source=Source(files=(Remote(f"{address}/tiny.data", hashlib.sha256(CSV).hexdigest()),))))
    with pytest.raises(DataError, match=r"not the one we know: its checksum is .* instead of .* Try again"):
        load("tiny")
    assert not list(cache_folder().rglob("*.*data*"))


def test_a_file_without_a_known_checksum_is_checked_by_its_rows(served, add):
    folder, address, _ = served
    (folder / "tiny.data").write_bytes(CSV)
    files, read = (Remote(f"{address}/tiny.data"),), {"names": ["a", "label", "b"]}
    add(declared(source=Source(files=files, read=read, n_rows=3)))
    assert load("tiny").y.size == 3
    add(declared(source=Source(files=files, read=read, n_rows=1_885)))
    with pytest.raises(DataError, match=r"tiny.data in .* has 3 rows instead of 1,885.*Delete it"):
        load("tiny")


@pytest.mark.parametrize("member", [None, "inside.csv"], ids=["a table", "an archive"])
def test_a_damaged_file_in_the_cache_is_said_to_be_one(served, add, member):
    folder, address, _ = served
    (folder / "tiny.zip").write_bytes(b"")
    add(declared(source=Source(files=(Remote(f"{address}/tiny.zip", member=member),))))
    with pytest.raises(DataError, match=r"tiny.zip cannot be read .*; delete it to download it again"):
        load("tiny")


@pytest.mark.parametrize("name", [name for name, one in TABLES.items() if one.source is not None])
def test_every_public_file_has_something_to_be_checked_by(name):
    source = TABLES[name].source
    assert source.openml or source.n_rows or all(remote.sha256 or remote.md5 for remote in source.files)


def test_without_a_net_it_is_said_what_to_do(add):
    add(declared(source=Source(files=(Remote("http://127.0.0.1:1/tiny.data"),))))
    with pytest.raises(DataError, match=r"tiny.data could not be downloaded .*go online.*DIPS_DATA"):
        load("tiny")


def test_openml_that_cannot_be_reached_is_said_so(add, monkeypatch):
    def no_net(**_):
        raise OSError("no route to host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_net)
    with pytest.raises(
        DataError, match=r"OpenML's data set 42477 could not be downloaded \(no route to host\); go online"
    ):
        load("credit")


def test_openml_columns_are_named_as_the_official_ones(monkeypatch):
    from sklearn.utils import Bunch

    data = pd.DataFrame(np.arange(46).reshape(2, 23)).set_axis([f"x{i}" for i in range(1, 24)], axis=1)
    bunch = Bunch(data=data, target=pd.Series(["0", "1"], name="y"))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: bunch)
    credit = load("credit")
    assert credit.y.tolist() == [0, 1]
    assert list(credit.X.columns[:2]) == ["LIMIT_BAL", "SEX"]


def test_a_named_folder_without_the_table_is_an_error_not_a_download(tmp_path):
    with pytest.raises(DataError, match=r"adult is not in .*: put adult.parquet or adult.csv there"):
        load("adult", folder=tmp_path)


def test_a_private_table_is_asked_of_the_user():
    with pytest.raises(
        DataError, match=r"seer may not be redistributed and is not in .*: put seer.parquet or seer.csv"
    ):
        load("seer")


def test_an_unknown_name_gets_a_hint():
    with pytest.raises(DataError, match="No table is called 'adlut'; did you mean 'adult'"):
        load("adlut")


def test_every_table_is_described_with_its_file():
    for name, table in TABLES.items():
        assert f"file: {table.file}.parquet" in describe(name)


def test_the_cache_follows_the_system(monkeypatch, tmp_path):
    monkeypatch.delenv("DIPS_CACHE")
    assert cache_folder().is_relative_to(Path.home()) or "XDG_CACHE_HOME" in os.environ
    if sys.platform in ("darwin", "win32"):
        return
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "dips"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_folder().parts[-2:] == (".cache", "dips")
