"""A slow task, and a fit during which an executor is killed: python -m tests.spark.lost_executor LABELED FOLDER MARKS.

``local-cluster`` starts two executors, each a JVM with Python workers of its own, as a cluster does.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from dips import ParquetPool, SparkPool
from tests.spark.driver import COLUMNS, fitted
from tests.spark.sessions import new_session

SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "1s",
}
SLOW_S = 60
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


def slow_once(marks):
    """Return a function of a table that is slow on its first call: Spark then starts the task once more elsewhere."""

    def wait(table):
        from pyspark import TaskContext

        task = TaskContext.get()
        with (Path(marks) / "attempts").open("a") as stream:
            stream.write(f"{task.partitionId()} {task.attemptNumber()}\n")
        try:
            os.close(os.open(Path(marks) / "slow", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return table
        time.sleep(SLOW_S)
        return table

    return wait


def count(rows, table):
    return {"n": np.array([rows.size, rows.sum()])}


def speculated(pool, marks):
    """Whether a slow task was overtaken by its second run, and all rows counted once nevertheless."""
    began = time.perf_counter()
    counted = pool.transformed(slow_once(marks)).reduce(count, lambda one, other: {"n": one["n"] + other["n"]})
    was_overtaken = time.perf_counter() - began < SLOW_S
    ran_again = " 1\n" in (Path(marks) / "attempts").read_text()
    return was_overtaken and ran_again and counted["n"].tolist() == [pool.n_rows, pool.n_rows * (pool.n_rows - 1) // 2]


if __name__ == "__main__":
    labeled, folder, marks = sys.argv[1:]
    environment = {"spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"], "spark.executor.memory": "512m"}
    spark = new_session("local-cluster[2,1,1024]", **environment, **SPECULATION)
    df = spark.read.parquet(folder).select(*COLUMNS, "number").repartition(4)
    pool = SparkPool(df, key="number")
    twice = speculated(pool, marks)
    on_cluster = fitted(labeled, pool.transformed(lost_in_the_middle(marks)))
    from_files = fitted(labeled, ParquetPool(folder, columns=COLUMNS, stays=True))
    killed = Path(marks) / "killed"
    lost = killed.exists() and not Path(f"/proc/{killed.read_text()}").exists()
    same_account = on_cluster.samples_.equals(from_files.samples_)
    p, q = (model.predict_proba(pd.read_parquet(folder)[COLUMNS]) for model in (on_cluster, from_files))
    print(json.dumps({"speculated": twice, "lost": lost, "same": bool((p == q).all()) and same_account}))
