"""What a pass over a pool on Spark costs, beside the same pass over Parquet files and beside one that only counts.

python benchmarks/spark.py [--quick] [--only passes]

Needs pyspark and Java. A bare pass only counts the rows that its Python workers are handed: the columns of the table,
or the same with the number of each row, which all other passes need too. CPU seconds are those of this process and all
it started: the JVM and its Python workers.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from common import show
from data import make_table, write_parquet
from harness import MB, against, keep, one_thread, options
from xgboost import XGBClassifier

from dips import ParquetPool, PseudoLabelClassifier, SparkPool
from dips._rounds.rule_rounds import CountFates, add
from dips._rounds.rules import Look, OpenRows, Rule, Rules, Verdict
from dips._rounds.selection import Cut, add_counts, score_places
from dips.backbones import find_backbone
from dips.curators import DIPS
from dips.datasets import flip_labels
from dips.labelers import Greedy

N_LABELED, N_TREES = 2_000, 200
SIZES, QUICK_SIZES = (1_000_000, 10_000_000), (2_000_000,)
TURNS, BAR = 3, 1.5
PARTS = ("passes", "rest")
BARE, BARE_NUMBERED = "bare mapInArrow", "bare mapInArrow, with row numbers"
TICKS = os.sysconf("SC_CLK_TCK")


def session() -> Any:
    """Two workers' worth of cores, nothing on the console."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2,4]").config("spark.driver.memory", "2g")
    quiet = {"spark.ui.enabled": "false", "spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"}
    for name, value in quiet.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def cpu_s() -> float:
    """CPU seconds of this process and of all its descendants, the dead included."""
    stats = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # ended meanwhile
            continue
        stats[int(folder.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    ours, grew = {os.getpid()}, True
    while grew:
        more = {pid for pid, (parent, _) in stats.items() if parent in ours} - ours
        ours, grew = ours | more, bool(more)
    return sum(stats[pid][1] for pid in ours if pid in stats) / TICKS


def peak_mb() -> float:
    """The most memory that this process, the driver's Python, has held since the peak was last forgotten."""
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / MB


def count_only(batches: Any) -> Any:
    """The least that a Python worker can do with all columns."""
    n = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_arrays([pa.array([n], pa.int64())], names=["n"])


def passes(X: np.ndarray, y: np.ndarray) -> dict[str, Callable[[Any, Any], Any]]:
    """The passes that a round is made of, with 200 trees: one selects, the other watches every checkpoint."""
    fitted = XGBClassifier(n_estimators=N_TREES, max_depth=3, learning_rate=0.05, n_jobs=1).fit(X, y)
    backbone, curator = find_backbone(fitted), DIPS(aleatoric=0.2)
    look = Look(2, backbone, fitted, backbone.replay_anywhere(fitted, X), curator)
    rule, none = Rule(look, Greedy().rule(lambda f: f(np.empty((0, 2))))), Rules((), True, 0)
    best_half = Cut(score_places(np.full(2, 0.9)).astype(np.int64), np.full(2, 2**63, dtype=np.uint64))
    watched = none.followed_by(replace(rule, cut=best_half, verdict=Verdict()))
    return {"selection": partial(count_places, OpenRows(none, rule)), "watch": CountFates(watched, 2)}


def count_places(places: OpenRows, rows: Any, X: Any) -> dict[str, np.ndarray]:
    """Count the highest bits of the places, as the first pass of a selection does."""
    classes, score, _ = places(rows, X)
    keys, counts = np.unique(classes.astype(np.int64) << 20 | score >> 12, return_counts=True)
    return {"keys": keys, "counts": counts}


def by_rules() -> PseudoLabelClassifier:
    """Two rounds over all rows: watch, select, judge, count; few trees, because it is Spark that is measured."""
    backbone = XGBClassifier(n_estimators=30, max_depth=3, n_jobs=1)
    return PseudoLabelClassifier(backbone, curator="adaptive", n_rounds=2, random_state=0, n_jobs=1)


def measured(what: str, n: int, act: Callable[[], Any]) -> dict[str, Any]:
    """Wall and CPU time of an act over n rows, and the peak memory of the driver's Python meanwhile."""
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
    wall, cpu = time.perf_counter(), cpu_s()
    act()
    used = {"wall_s": time.perf_counter() - wall, "cpu_s": cpu_s() - cpu}
    return {"rows": n, "what": what} | used | {"us_a_row": used["cpu_s"] / n * 1e6, "driver_mb": peak_mb()}


def records_of(spark: Any, folder: Path, n: int, passes_alone: bool) -> list[dict[str, Any]]:
    """All acts over one folder; passes take turns, the first turn warms Spark up, and the best of the others counts."""
    X, y = make_table(N_LABELED, dtype=np.float32)
    noisy, _ = flip_labels(y, 0.2, random_state=0)
    df = spark.read.parquet(str(folder))
    pool, files, work = SparkPool(df).like(X), ParquetPool(folder).like(X), passes(X, noisy)
    model = PseudoLabelClassifier(random_state=0, n_jobs=1)
    account = folder.parent / f"account-{n}"
    turns = {
        BARE: lambda: df.mapInArrow(count_only, "n bigint").collect(),
        BARE_NUMBERED: lambda: pool._scan().mapInArrow(count_only, "n bigint").collect(),
        "SparkPool: a selection pass": lambda: pool.reduce(work["selection"], add_counts),
        "SparkPool: a watch pass": lambda: pool.reduce(work["watch"], add),
    }
    acts = {
        "SparkPool: count, check and checksum, in the JVM": lambda: pool.n_rows,
        "ParquetPool: the same watch pass": lambda: files.reduce(work["watch"], add),
        "SparkPool: a sample of 2,000": lambda: pool.sample(2_000, 1),
        "fit, two rounds by rules": lambda: by_rules().fit(X, noisy, SparkPool(df, max_train_rows=100_000)),
        "fit, default": lambda: model.fit(X, noisy, SparkPool(df)),
        "predict_frame, written": lambda: model.predict_frame(df).write.parquet(f"{account}-predicted"),
        "write_samples": lambda: model.write_samples(account),
    }
    taken = [[measured(what, n, act) for what, act in turns.items()] for _ in range(1 + TURNS)]
    best = [min(records, key=lambda r: r["cpu_s"]) for records in zip(*taken[1:], strict=True)]
    records = best + [measured(what, n, act) for what, act in acts.items() if not passes_alone]
    bare, numbered = (r["cpu_s"] for r in best[:2])
    return [r | {"of_bare": r["cpu_s"] / bare, "of_same_columns": r["cpu_s"] / numbered} for r in records]


def main() -> None:
    """Measure, print, keep."""
    warnings.simplefilter("ignore")
    told = options(__doc__, PARTS)
    sizes = QUICK_SIZES if told.quick else SIZES
    records = []
    with one_thread(), tempfile.TemporaryDirectory() as place:
        spark = session()
        for n in sizes:
            folder = Path(place) / f"rows-{n}"
            folder.mkdir()
            write_parquet(folder, n, rows_per_file=250_000)
            records += records_of(spark, folder, n, passes_alone="rest" not in told.only)
        spark.stop()
    frame = pd.DataFrame(records).set_index(["rows", "what"])
    for column in ("of_bare", "of_same_columns"):
        frame[column] = [against(r[column], BAR if r["what"].endswith(" pass") else None) for r in records]
    show("Spark on two cores, 20 columns", frame.round({"wall_s": 1, "cpu_s": 1, "us_a_row": 2, "driver_mb": 0}))
    keep("spark", {"runs": records})


if __name__ == "__main__":
    main()
