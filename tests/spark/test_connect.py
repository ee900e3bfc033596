"""Spark Connect, in a process of its own: one process has either kind of session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import json, sys
import pandas as pd
from pyspark.sql import SparkSession
from sklearn.linear_model import LogisticRegression
from dips import ParquetPool, PseudoLabelClassifier, SparkPool
from dips.curators import Beliefs

X, folder = pd.read_parquet(sys.argv[1]), sys.argv[2]
y = X.pop("y")
df = SparkSession.builder.remote("local[1]").getOrCreate().read.parquet(folder).select("a", "n", "number")

def fitted(pool):
    model = PseudoLabelClassifier(LogisticRegression(), curator=Beliefs(max_unlabeled=50), random_state=0)
    return model.fit(X, y, pool)

over_connect, from_files = fitted(SparkPool(df, key="number")), fitted(ParquetPool(folder, columns=["a", "n"]))
print(json.dumps({
    "kind": type(df).__module__,
    "rows": over_connect.predict_frame(df, key="number").count(),
    "same": bool((over_connect.predict_proba(X) == from_files.predict_proba(X)).all()),
}))
"""


def pyspark_folder():
    import pyspark

    return Path(pyspark.__file__).parent


def test_a_fit_over_connect_is_the_same(java, claims, tmp_path):
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio")
    if not list((pyspark_folder() / "jars").glob("spark-connect_*.jar")):
        pytest.skip("this PySpark has no Connect server; that of 3.5 is a download of its own")
    X, y, folder = claims
    X[["a", "n"]].assign(y=y).to_parquet(tmp_path / "labeled.parquet", index=False)
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(tmp_path / "labeled.parquet"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    over_connect = json.loads(done.stdout.splitlines()[-1])
    assert over_connect.pop("kind").startswith("pyspark.sql.connect")
    assert over_connect == {"rows": 400, "same": True}
