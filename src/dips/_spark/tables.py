"""Spark tables by name, for the command line: ``spark:claims``, ``spark:catalog.schema.claims``, ``spark:/folder``."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

from dips._spark import worker
from dips._spark.errors import in_one_sentence
from dips._spark.identity import identify
from dips._spark.worker import PART_SCHEMA, ROW
from dips._tools.observer import Observer
from dips.exceptions import DataError, UserError

_PREFIX = "spark:"


def is_spark_name(data: Any) -> bool:
    """Whether a path is meant for Spark.

    Examples
    --------
    >>> is_spark_name("spark:claims"), is_spark_name("claims.csv")
    (True, False)
    """
    return isinstance(data, str | Path) and str(data).startswith(_PREFIX)


def open_table(name: str | Path) -> Any:
    """Return the DataFrame of a table, or of a folder of Parquet files, in the session that there is or a new one."""
    where = str(name).removeprefix(_PREFIX)
    if not where:
        raise DataError("spark: names no table; write spark:TABLE, or spark:/FOLDER for Parquet files.")
    session = _session()
    with in_one_sentence(f"opening {where}"):
        return session.read.parquet(where) if "/" in where else session.table(where)


def draw_rows(df: Any, key: str | None, n: int, seed: int, observer: Observer) -> tuple[pa.Table, int]:
    """Return at most n rows, drawn by a hash of their numbers, as they are in the table, and how many there are."""
    began = time.perf_counter()
    observer.message("Spark: drawing a sample", 0.0)
    frame = identify(df, key).frame.selectExpr("*", f"xxhash64({ROW}, {seed}L) AS __dips_hash")
    with in_one_sentence("drawing a sample"):
        n_rows = frame.count()
        drawn = frame.orderBy("__dips_hash", ROW).limit(n).mapInArrow(worker.as_they_are, PART_SCHEMA).collect()
    if not drawn:
        raise DataError("The Spark table holds no rows; give one that does.")
    observer.message(f"Spark: drawing a sample, {n_rows / (time.perf_counter() - began):,.0f} rows a second", 0.0)
    table = pa.concat_tables([worker.unpacked_rows(bytes(row[0]))[1] for row in drawn]).sort_by(ROW)
    return table.select(df.columns), n_rows


def _session() -> Any:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else the workers of a local session run another Python
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise UserError('Spark is not installed: pip install "dips-ssl[spark]".') from None
    with in_one_sentence("starting a session"):
        return SparkSession.getActiveSession() or SparkSession.builder.appName("dips").getOrCreate()
