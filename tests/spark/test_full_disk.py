"""A disk that is really full: one sentence, nothing half written that could be taken for whole, and room mends it."""

from __future__ import annotations

import os
import subprocess

import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from xgboost import XGBClassifier

from dips import ParquetPool, PseudoLabelClassifier, SparkPool
from dips.exceptions import OutputError

COLUMNS = ["a", "b", "n", "ward", "group"]
IS_FULL = r"^A disk of the cluster is full .* while writing the (snapshot|account); make room there, .*\.$"


class SmallDisk:
    """A file system of a few pages in memory, mounted on a folder."""

    def __init__(self, folder):
        self.folder = folder

    def mount(self, pages):
        return subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={pages * os.sysconf('SC_PAGE_SIZE')}", "dips", str(self.folder)],
            capture_output=True,
            text=True,
        )

    def leave(self, free_pages):
        """Fill the disk but for a few pages."""
        space = os.statvfs(self.folder)
        (self.folder / "filler").write_bytes(bytes(space.f_frsize * (space.f_bavail - free_pages)))

    def make_room(self):
        (self.folder / "filler").unlink()

    def files(self):
        return [path.name for path in self.folder.rglob("*") if path.is_file() and path.name != "filler"]


@pytest.fixture
def disk(tmp_path):
    """Skip where no file system can be mounted."""
    small = SmallDisk(tmp_path / "disk")
    small.folder.mkdir()
    try:
        mounted = small.mount(pages=64)
    except FileNotFoundError:
        pytest.skip("a full disk needs mount, which this system lacks")
    if mounted.returncode:
        pytest.skip(f"a full disk needs the right to mount one: {mounted.stderr.strip()}")
    yield small
    subprocess.run(["umount", str(small.folder)], check=True)


def small_model(**settings):
    backbone = XGBClassifier(n_estimators=15, max_depth=3, learning_rate=0.2, n_jobs=1)
    return PseudoLabelClassifier(backbone, curator="none", random_state=0, **settings)


def test_a_snapshot_is_written_whole_or_not_at_all(spark, claims, disk):
    df = spark.read.parquet(str(claims[2])).repartition(4)
    disk.leave(free_pages=7)  # enough for two of the four parts
    with pytest.raises(ValueError, match=IS_FULL) as caught:
        SparkPool(df, snapshot=str(disk.folder / "rows"))
    assert "\n" not in str(caught.value)
    assert disk.files() == []
    disk.make_room()
    with pytest.raises(ValueError, match="exists already; choose another name, or remove it"):
        SparkPool(df, snapshot=str(disk.folder / "rows"))
    SparkPool(df, snapshot=str(disk.folder / "again"))
    assert len(pd.read_parquet(disk.folder / "again")) == 400


def test_an_account_is_written_whole_or_not_at_all(spark, claims, disk):
    X, y, folder = claims
    model = small_model(n_rounds=2).fit(X, y, SparkPool(spark.read.parquet(str(folder)), columns=COLUMNS))
    disk.leave(free_pages=1)
    with pytest.raises(ValueError, match=IS_FULL):
        model.write_samples(disk.folder / "account")
    assert disk.files() == []
    disk.make_room()
    model.write_samples(disk.folder / "again")
    assert len(pd.read_parquet(disk.folder / "again")) == 400


def test_a_checkpoint_on_a_full_disk_stays_that_of_the_round_before(claims, disk):
    X, y, folder = claims
    pool = ParquetPool(folder, columns=COLUMNS, stays=True, checkpoint=disk.folder / "run")
    disk.leave(free_pages=8)  # enough for one round, which is kept until the next is written
    with pytest.raises(OutputError, match=r"run cannot be written: No space left on device\.$"):
        small_model(n_rounds=5).fit(X, y, pool)
    assert disk.files() == ["run"]
    disk.make_room()
    continued = small_model(n_rounds=5).fit(X, y, pool)
    through = small_model(n_rounds=5).fit(X, y, ParquetPool(folder, columns=COLUMNS, stays=True))
    assert_array_equal(continued.predict_proba(X), through.predict_proba(X))
