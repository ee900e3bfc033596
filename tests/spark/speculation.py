"""A fit with a slow task of which Spark starts a second run: python -m tests.spark.speculation LABELED FOLDER MARKS.

Spark never runs one task twice on the same host, so the master's two workers have two of the machine's own addresses.
Tasks have two cores each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pandas as pd

from dips import ParquetPool, SparkPool
from tests.spark.driver import COLUMNS, fitted
from tests.spark.sessions import free_port, new_session

HOSTS = ("127.0.0.1", "127.0.0.2")
LONG_S = 600  # a run that sleeps so long never ends by itself
SETTINGS = {
    "spark.speculation": "true",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "1s",
    "spark.task.cpus": "2",
    "spark.executor.memory": "512m",
}


def slow_once(marks):
    """Return a function of a table that sleeps in the first run of one task, and changes nothing."""

    def sleep_once(table):
        from pyspark import TaskContext

        task = TaskContext.get()
        if task is None:  # the driver reads the rows that it fetched
            return table
        run = {"task": [task.stageId(), task.partitionId()], "run": task.attemptNumber()}
        run["threads"] = os.environ["OMP_NUM_THREADS"]
        with (Path(marks) / "runs").open("a") as stream:
            stream.write(json.dumps(run) + "\n")
        try:
            (Path(marks) / "slow").open("x").write(json.dumps(run))
        except FileExistsError:
            return table
        time.sleep(LONG_S)
        return table

    return sleep_once


@contextmanager
def spark_daemon(kind, *arguments):
    """A master, or a worker, while the context lasts."""
    import pyspark

    home = Path(pyspark.__file__).parent
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *arguments]
    environment = os.environ | {"SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def answers(spark, labeled, folder, marks):
    df = spark.read.parquet(folder).select(*COLUMNS, "number").repartition(4)
    pool = SparkPool(df, key="number")
    on_cluster = fitted(labeled, pool.transformed(slow_once(marks)))
    from_files = fitted(labeled, ParquetPool(folder, columns=COLUMNS, stays=True))
    X = pd.read_parquet(folder)[COLUMNS]
    same = bool((on_cluster.predict_proba(X) == from_files.predict_proba(X)).all())
    slow = json.loads((Path(marks) / "slow").read_text())
    runs = [json.loads(line) for line in (Path(marks) / "runs").read_text().splitlines()]
    return {
        "same": same and on_cluster.samples_.equals(from_files.samples_),
        "runs_of_the_slow_task": sorted(run["run"] for run in runs if run["task"] == slow["task"]),
        "threads": [pool.n_threads, int(slow["threads"])],
    }


if __name__ == "__main__":
    with ExitStack() as cluster:
        port = free_port()
        master = f"spark://{HOSTS[0]}:{port}"
        cluster.enter_context(
            spark_daemon("master.Master", "--host", HOSTS[0], "--port", str(port), "--webui-port", "0")
        )
        for host in HOSTS:
            resources = ("--cores", "2", "--memory", "600m", "--webui-port", "0")
            cluster.enter_context(spark_daemon("worker.Worker", master, "--host", host, *resources))
        session = new_session(master, **SETTINGS, **{"spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"]})
        print(json.dumps(answers(session, *sys.argv[1:])))
        session.stop()
