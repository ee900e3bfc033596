"""An executor that is lost, with its JVM and its workers, changes nothing in the result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dips
from tests.spark.driver import COLUMNS

_NEEDED = 4 << 30  # bytes of memory for a driver and two executors


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the executor is found through /proc")
def test_a_lost_executor_changes_nothing(java, claims, tmp_path):
    if os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") < _NEEDED:
        pytest.skip("local-cluster needs 4 GB of free memory")
    X, y, folder = claims
    labeled = tmp_path / "labeled.parquet"
    X[COLUMNS].assign(y=y).to_parquet(labeled, index=False)
    source, tests = Path(dips.__file__).parents[1], Path(__file__).parents[2]
    places = {"PYTHONPATH": f"{source}{os.pathsep}{tests}", "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-W", "ignore", "-m", "tests.spark.lost_executor", labeled, folder, tmp_path]
    environment = os.environ | places | {"SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"lost": True, "same": True}
