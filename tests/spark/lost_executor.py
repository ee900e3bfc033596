"""A fit during which an executor is killed: python -m tests.spark.lost_executor LABELED FOLDER MARKS.

``local-cluster`` starts two executors, each a JVM with Python workers of its own, as a cluster does.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pandas as pd

from dips import ParquetPool, SparkPool
from tests.spark.driver import COLUMNS, fitted
from tests.spark.sessions import new_session

N_CALLS_BEFORE = 4  # the executor is lost in the middle of the fit


def lost_in_the_middle(marks):
    """Return a function of a table that kills the executor it runs on, once, and changes nothing."""

    def kill_once(table):
        calls = Path(marks) / "calls"
        with calls.open("ab") as stream:
            stream.write(b".")
        if calls.stat().st_size > N_CALLS_BEFORE:
            try:
                mark = os.open(Path(marks) / "killed", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            except FileExistsError:
                return table
            executor = parent_of(os.getppid())  # worker, daemon, executor
            assert b"CoarseGrainedExecutorBackend" in Path(f"/proc/{executor}/cmdline").read_bytes()
            os.write(mark, str(executor).encode())
            os.kill(executor, signal.SIGKILL)
        return table

    return kill_once


def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


if __name__ == "__main__":
    labeled, folder, marks = sys.argv[1:]
    environment = {"spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"], "spark.executor.memory": "512m"}
    spark = new_session("local-cluster[2,1,1024]", **environment)
    df = spark.read.parquet(folder).select(*COLUMNS, "number").repartition(4)
    pool = SparkPool(df, key="number")
    on_cluster = fitted(labeled, pool.transformed(lost_in_the_middle(marks)))
    from_files = fitted(labeled, ParquetPool(folder, columns=COLUMNS, stays=True))
    killed = Path(marks) / "killed"
    lost = killed.exists() and not Path(f"/proc/{killed.read_text()}").exists()
    same_account = on_cluster.samples_.equals(from_files.samples_)
    p, q = (model.predict_proba(pd.read_parquet(folder)[COLUMNS]) for model in (on_cluster, from_files))
    print(json.dumps({"lost": lost, "same": bool((p == q).all()) and same_account}))
