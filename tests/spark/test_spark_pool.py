"""A fit on Spark is the fit on the same rows in memory and in Parquet files, however Spark splits them."""

from __future__ import annotations

import errno
import os
import shutil
import signal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from xgboost import XGBClassifier

from dips import ParquetPool, PseudoLabelClassifier, SparkPool
from dips._data.hashing import lowest_hashes
from dips.curators import Beliefs

COLUMNS = ["a", "b", "n", "ward", "group"]
SMALL_XGBOOST = XGBClassifier(n_estimators=15, max_depth=3, learning_rate=0.2, n_jobs=1)
ENCODE = make_column_transformer((OneHotEncoder(), ["ward", "group"]), ("passthrough", ["a", "n"]))
PIPELINE = make_pipeline(ENCODE, GradientBoostingClassifier(n_estimators=8, random_state=0))

SETTINGS = {
    "default": {"curator": Beliefs(max_unlabeled=60)},
    "default with a labeler": {"curator": Beliefs(max_unlabeled=60), "labeler": "greedy"},
    "greedy": {"curator": "none", "n_rounds": 2},
    "flexmatch, adaptive": {"labeler": "flexmatch", "curator": "adaptive", "n_rounds": 2},
    "dips": {"curator": "dips"},
    "confidence": {"curator": "confidence", "n_rounds": 2},
    "fluctuation": {"curator": "fluctuation", "grow": False, "n_rounds": 2},
    "pipeline": {"estimator": PIPELINE, "curator": "adaptive", "n_rounds": 2},
}
SPLITS = {  # one for each of the settings, in turn
    "as the files are": lambda df: SparkPool(df, columns=COLUMNS),
    "in five": lambda df: SparkPool(df.repartition(5), key="number"),
    "in order, in two": lambda df: SparkPool(df.repartitionByRange(2, "a"), key="number"),
}


@pytest.mark.filterwarnings("ignore:The curator")
@pytest.mark.parametrize(("name", "k"), [(name, k) for k, name in enumerate(SETTINGS)])
def test_the_same_as_in_memory_and_from_files(spark, claims, tmp_path, name, k):
    X, y, folder = claims
    split = list(SPLITS.values())[k % len(SPLITS)]
    settings = {"estimator": SMALL_XGBOOST, "n_rounds": 3, "random_state": 0} | SETTINGS[name]
    files = PseudoLabelClassifier(**settings).fit(X, y, ParquetPool(folder, columns=COLUMNS))
    memory = PseudoLabelClassifier(**settings).fit(X, y, pd.read_parquet(folder)[COLUMNS])
    tables = PseudoLabelClassifier(**settings).fit(X, y, split(spark.read.parquet(str(folder))))
    tables.write_samples(tmp_path / "account")
    account = pd.read_parquet(tmp_path / "account")
    account = account.sort_values([c for c in ("file", "row_index", "number") if c in account], ignore_index=True)
    rest = files.samples_[100:].reset_index(drop=True)
    assert (rest["round"] > 0).any()
    assert_array_equal(files.predict_proba(X), tables.predict_proba(X))
    assert_array_equal(memory.predict_proba(X), tables.predict_proba(X))
    pd.testing.assert_frame_equal(tables.samples_.reset_index(drop=True), files.samples_[:100].reset_index(drop=True))
    assert_array_equal(account["final_label"].fillna("").to_numpy(), rest["final_label"].fillna("").to_numpy())
    for column in ("source", "verified", "round", "check_gain", "useful", "confidence", "aleatoric"):
        assert_array_equal(account[column].to_numpy(), rest[column].to_numpy())
    counts = [c for c in files.history_ if c != "elapsed_s"]
    pd.testing.assert_frame_equal(files.history_[counts], tables.history_[counts])


def test_predictions_are_a_frame_with_the_key(spark, claims):
    X, y, folder = claims
    model = PseudoLabelClassifier(SMALL_XGBOOST, curator="none", n_rounds=2, random_state=0).fit(X, y, folder_of(X))
    rows = pd.read_parquet(folder)
    predicted = model.predict_frame(spark.read.parquet(str(folder)), key="number").toPandas().sort_values("number")
    assert list(predicted) == ["number", "predicted_label", "probability", "probability_ill", "probability_well"]
    expected = model.predict_proba(rows[COLUMNS])
    assert_array_equal(predicted[["probability_ill", "probability_well"]].to_numpy(), expected)
    assert_array_equal(predicted["predicted_label"], model.predict(rows[COLUMNS]))


def folder_of(X):
    """Some unlabeled rows in memory."""
    return X.iloc[::-1].reset_index(drop=True)


def test_a_sample_is_that_of_the_hashes(spark, claims):
    X, _, folder = claims
    pool = SparkPool(spark.read.parquet(str(folder)).repartition(3), key="number").like(X)
    rows, table = pool.sample(20, seed=5)
    assert_array_equal(rows, lowest_hashes(np.arange(400), 20, seed=5))
    assert_array_equal(table["a"], pd.read_parquet(folder)["a"].to_numpy()[rows])


def test_texts_can_be_keys(spark, claims):
    X, _, folder = claims
    df = spark.read.parquet(str(folder)).selectExpr("concat('claim ', number) AS id", *COLUMNS)
    pool = SparkPool(df, key="id").like(X)
    assert pool.n_rows == 400
    assert pool.identity_columns == ["id"]


def test_a_killed_worker_changes_nothing(spark, claims, tmp_path):
    X, _, folder = claims
    marker = str(tmp_path / "killed")

    def kill_once(table):
        if not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return table

    def count(rows, table):
        return {"n": np.array([rows.size]), "sum": np.array([rows.sum()])}

    def add(one, other):
        return {name: one[name] + other[name] for name in one}

    pool = SparkPool(spark.read.parquet(str(folder)), columns=COLUMNS).like(X)
    counted = pool.transformed(kill_once).reduce(count, add)
    assert os.path.exists(marker)
    assert (counted["n"][0], counted["sum"][0]) == (400, 399 * 200)


def test_a_source_that_changed_is_refused(spark, claims, tmp_path):
    X, _, folder = claims
    spark.read.parquet(str(folder)).write.parquet(str(tmp_path / "rows"))
    pool = SparkPool(spark.read.parquet(str(tmp_path / "rows")), key="number").like(X)
    assert pool.n_rows == 400
    pool.refuse_changes()
    other = SparkPool(spark.read.parquet(str(tmp_path / "rows")).where("number < 399"), key="number").like(X)
    pool._df, _ = other._df, vars(pool).pop("_identity")
    with pytest.raises(ValueError, match=r"The Spark table changed since the fit began .*400 rows, now 399"):
        pool.refuse_changes()


@pytest.mark.parametrize(
    ("table", "key", "message"),
    [
        ("SELECT id AS a FROM range(5)", None, r"cannot be told apart.* SparkPool\(df, key=...\)"),
        ("SELECT id AS a, id % 2 AS k FROM range(90)", "k", "key='k' has about 2 values for 90 rows"),
        ("SELECT id AS a, nullif(id, 3) AS k FROM range(5)", "k", "1 rows have no 'k'"),
        ("SELECT id AS a, current_date() AS k FROM range(5)", None, "Column 'k' of the Spark table holds date values"),
        ("SELECT id AS a FROM range(5)", "k", "key='k' is not a column"),
        ("SELECT double('infinity') AS a, id AS k FROM range(5)", "k", "contains infinity"),
        ("SELECT id AS a, id AS k FROM range(0)", "k", "holds no rows"),
        ("SELECT id AS b, id AS k FROM range(5)", "k", r"they differ in \['a', 'b'\]"),
    ],
)
def test_tables_that_cannot_serve_are_refused(spark, table, key, message):
    with pytest.raises(ValueError, match=message):
        _ = SparkPool(spark.sql(table), key=key).like(pd.DataFrame({"a": [1]})).n_rows


def test_a_snapshot_gives_rows_a_name(spark, tmp_path):
    pool = SparkPool(spark.range(30).withColumnRenamed("id", "a"), snapshot=str(tmp_path / "rows"))
    assert pool.like(pd.DataFrame({"a": [1]})).n_rows == 30


def test_an_error_on_an_executor_is_one_sentence_without_values(spark, claims):
    X, _, folder = claims

    def fail(table):
        return float("Smith")

    pool = SparkPool(spark.read.parquet(str(folder)), columns=COLUMNS).like(X).transformed(fail)
    with pytest.raises(ValueError, match="Spark failed while counting over the rows: ValueError at") as caught:
        pool.reduce(lambda rows, table: {}, lambda one, other: one)
    assert "Smith" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_full_disk_on_an_executor_is_one_sentence(spark, claims):
    X, _, folder = claims

    def spill(table):
        raise OSError(errno.ENOSPC, "no space", "/spill/Smith")

    pool = SparkPool(spark.read.parquet(str(folder)), columns=COLUMNS).like(X).transformed(spill)
    with pytest.raises(
        ValueError, match=r"^A disk of the cluster is full .*; make room there, .* spark.local"
    ) as caught:
        pool.reduce(lambda rows, table: {}, lambda one, other: one)
    assert "Smith" not in str(caught.value)


def test_a_missing_column_is_one_sentence(spark, claims):
    X, y, folder = claims
    df = spark.read.parquet(str(folder)).drop("ward")
    with pytest.raises(ValueError, match="The Spark table has no column 'ward'"):
        SparkPool(df, columns=COLUMNS)
    model = PseudoLabelClassifier(SMALL_XGBOOST, curator="none", n_rounds=2).fit(X, y, folder_of(X))
    with pytest.raises(ValueError, match="The Spark table has no column 'ward'"):
        model.predict_frame(df, key="number")


def test_files_that_go_away_are_one_sentence(spark, claims, tmp_path):
    X, _, folder = claims
    rows = tmp_path / "rows"
    shutil.copytree(folder, rows)
    pool = SparkPool(spark.read.parquet(str(rows)), columns=COLUMNS).like(X)
    assert pool.n_rows == 400
    (rows / "part-2.parquet").unlink()
    with pytest.raises(ValueError, match=r"^A file of the table is gone or was changed .*snapshot=path\)\.$"):
        pool.reduce(lambda rows, table: {}, lambda one, other: one)


def test_row_ids_of_delta_name_the_rows(spark, claims):
    """The hidden column of a Delta table is a plain one here; ``test_delta.py`` has a real one."""
    X, _, folder = claims
    ids = "named_struct('row_id', 1000 - number, 'file_path', 'x', 'row_index', 0L) AS _metadata"
    df = spark.read.parquet(str(folder)).selectExpr("*", ids).repartition(3)
    pool = SparkPool(df, columns=COLUMNS).like(X)
    assert pool.identity_columns == ["row_id"]
    assert pool.row_range == (601, 1000)
    rows, table = pool.sample(30, seed=2)
    assert_array_equal(table["a"], pd.read_parquet(folder)["a"].to_numpy()[1000 - rows])
    untracked = spark.read.parquet(str(folder)).selectExpr(*COLUMNS, "struct(nullif(number, 3) AS row_id) AS _metadata")
    with pytest.raises(ValueError, match="1 rows have no Delta row id"):
        _ = SparkPool(untracked, columns=COLUMNS).n_rows


def test_pandas_3_is_served_through_arrow(spark, claims):
    if int(pd.__version__.partition(".")[0]) < 3:
        pytest.skip("this is pandas 2")
    X, _, folder = claims
    rows = pd.read_parquet(folder)
    fetched = SparkPool(spark.read.parquet(str(folder)), columns=COLUMNS).like(X).sample(400, seed=0)[1]
    for column in COLUMNS:
        assert_array_equal(fetched[column].to_numpy(), rows[column].to_numpy())
    assert fetched["ward"].dtype == "str"
