"""A fit on a Delta table with row tracking: DELTA_JARS=... python -m tests.spark.delta LABELED FOLDER WORK."""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import pandas as pd

from dips import ParquetPool, SparkPool
from dips.exceptions import DataError, InputError
from tests.spark.driver import COLUMNS, fitted
from tests.spark.sessions import new_session

WITH_DELTA = {
    "spark.jars": os.environ.get("DELTA_JARS", ""),
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def written(df, path, tracked):
    df.write.format("delta").option("delta.enableRowTracking", str(tracked).lower()).save(path)
    return df.sparkSession.read.format("delta").load(path)


def refusal(call):
    try:
        call()
    except (DataError, InputError) as error:
        return str(error)
    return ""


def ids_of(table):
    return dict(table.selectExpr("number", "_metadata.row_id").collect())


if __name__ == "__main__":
    labeled, folder, work = sys.argv[1:]
    spark = new_session("local[2,4]", **WITH_DELTA)
    rows = spark.read.parquet(folder).select(*COLUMNS, "number").repartitionByRange(3, "number")
    table = written(rows.sortWithinPartitions("number"), f"{work}/tracked", tracked=True)
    ids = ids_of(table)
    pool = SparkPool(table, columns=COLUMNS)
    model, from_files = fitted(labeled, pool), fitted(labeled, ParquetPool(folder, columns=COLUMNS, stays=True))
    X = pd.read_parquet(folder)[COLUMNS]
    model.write_samples(f"{work}/account")
    spark.sql(f"OPTIMIZE delta.`{work}/tracked`")
    compacted = spark.read.format("delta").load(f"{work}/tracked")
    same_ids = ids_of(compacted) == ids
    spark.sql(f"DELETE FROM delta.`{work}/tracked` WHERE number = 7")
    first_version = spark.read.format("delta").option("versionAsOf", 0).load(f"{work}/tracked")
    plain = written(rows, f"{work}/plain", tracked=False)
    answers = {
        "named_by": pool.identity_columns,
        "ids_are_the_numbers": ids == {number: number for number in range(400)},
        "same": bool(np.array_equal(model.predict_proba(X), from_files.predict_proba(X))),
        "account": sorted(pd.read_parquet(f"{work}/account")["row_id"]) == list(range(400)),
        "ids_survive_compaction": same_ids,
        "rows_of_the_first_version": SparkPool(first_version, columns=COLUMNS).n_rows,
        "change": refusal(lambda: model.write_samples(f"{work}/again")),
        "without_row_tracking": refusal(lambda: SparkPool(plain, columns=COLUMNS).n_rows),
    }
    print(json.dumps(answers))
