"""Delta Lake's own row ids, where its jars are at hand: DELTA_JARS=delta-spark.jar,delta-storage.jar pytest ..."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dips
from tests.spark.driver import COLUMNS


@pytest.mark.skipif("DELTA_JARS" not in os.environ, reason="DELTA_JARS names no jars of Delta Lake")
def test_the_row_ids_of_delta_name_the_rows(java, claims, tmp_path):
    X, y, folder = claims
    labeled = tmp_path / "labeled.parquet"
    X[COLUMNS].assign(y=y).to_parquet(labeled, index=False)
    source, tests = Path(dips.__file__).parents[1], Path(__file__).parents[2]
    places = {"PYTHONPATH": f"{source}{os.pathsep}{tests}", "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-W", "ignore", "-m", "tests.spark.delta", str(labeled), str(folder), str(tmp_path)]
    environment = os.environ | places | {"SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    answers = json.loads(done.stdout.splitlines()[-1])
    assert "changed since the fit began (it had 400 rows, now 399" in answers.pop("change")
    assert "'delta.enableRowTracking' = true" in answers.pop("without_row_tracking")
    assert answers == {
        "named_by": ["row_id"],
        "ids_are_the_numbers": True,
        "same": True,
        "account": True,
        "ids_survive_compaction": True,
        "rows_of_the_first_version": 400,
    }
