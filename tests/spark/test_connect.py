"""Spark Connect, in a process of its own: one process has either kind of session."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from dips import ParquetPool, PseudoLabelClassifier

SCRIPT = """
import json, sys
import pandas as pd
from pyspark.sql import SparkSession
from dips import PseudoLabelClassifier, SparkPool
from dips.curators import Beliefs
from sklearn.linear_model import LogisticRegression

X, folder = pd.read_parquet(sys.argv[1]), sys.argv[2]
y = X.pop("y")
spark = SparkSession.builder.remote("local[1]").getOrCreate()
df = spark.read.parquet(folder).select("a", "n", "number")
model = PseudoLabelClassifier(LogisticRegression(), curator=Beliefs(max_unlabeled=50), random_state=0)
model.fit(X, y, SparkPool(df, key="number"))
predicted = model.predict_frame(df, key="number").orderBy("number").collect()
print(json.dumps({"p": model.predict_proba(X)[:, 1].tolist(), "kind": type(df).__module__, "rows": len(predicted)}))
"""


def test_a_fit_over_connect_is_the_same(claims, tmp_path):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    from sklearn.linear_model import LogisticRegression

    from dips.curators import Beliefs

    X, y, folder = claims
    X = X[["a", "n"]]
    X.assign(y=y).to_parquet(tmp_path / "labeled.parquet", index=False)
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(tmp_path / "labeled.parquet"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["kind"].startswith("pyspark.sql.connect")
    assert found["rows"] == 400
    model = PseudoLabelClassifier(LogisticRegression(), curator=Beliefs(max_unlabeled=50), random_state=0)
    model.fit(X, y, ParquetPool(folder, columns=["a", "n"]))
    np.testing.assert_array_equal(found["p"], model.predict_proba(X)[:, 1])
