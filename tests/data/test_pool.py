from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from dips._data import pool
from dips._data.parquet import ParquetPool
from dips._data.pool import StackedPool, TablePool, as_pool, in_order


def write(folder, frame, sizes, group=7):
    """A folder of files with so many rows each, in small row groups."""
    start = 0
    for i, size in enumerate(sizes):
        frame.iloc[start : start + size].to_parquet(folder / f"part-{i:03}.parquet", row_group_size=group, index=False)
        start += size
    return folder


def frame(n=60):
    rng = np.random.RandomState(0)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n).astype(np.float32),
            "b": rng.normal(size=n).astype(np.float32),
            "c": rng.normal(size=n).astype(np.float32),
        }
    )


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(pool, "BATCH", 5)
    monkeypatch.setattr("dips._data.parquet.BATCH", 5)


@pytest.fixture(params=["table", "stacked", "parquet", "stacked with parquet"])
def any_pool(request, tmp_path):
    """The same rows, wherever they lie."""
    X = frame().to_numpy()
    if request.param == "table":
        return TablePool(X)
    if request.param == "stacked":
        return StackedPool([TablePool(X[:13]), TablePool(X[13:14]), TablePool(X[14:])])
    if request.param == "parquet":
        return ParquetPool(write(tmp_path, frame(), [20, 1, 39])).like(X)
    rest = ParquetPool(write(tmp_path, frame().iloc[13:], [30, 17])).like(X)
    return StackedPool([TablePool(X[:13]), rest])


def gathered(pool, rows=None):
    """All batches put together, at the places they claim."""
    n = pool.n_rows if rows is None else rows.size
    together = np.full((n, 3), np.nan, dtype=np.float32)
    for place, table in pool.batches(rows):
        assert np.isnan(together[place]).all()
        together[place] = table
    return together


def test_batches_are_all_rows_each_once(any_pool):
    assert (any_pool.n_rows, any_pool.n_columns) == (60, 3)
    assert_array_equal(gathered(any_pool), frame().to_numpy())


@given(rows=st.sets(st.integers(0, 59)))
@settings(deadline=None, max_examples=60)
def test_batches_of_some_rows_are_these(tmp_path_factory, rows):
    X, rows = frame().to_numpy(), np.array(sorted(rows), dtype=np.intp)
    files = ParquetPool(write(tmp_path_factory.mktemp("pool"), frame().iloc[13:], [30, 17])).like(X)
    both = StackedPool([TablePool(X[:13]), files])
    assert_array_equal(gathered(both, rows), X[rows])
    if rows.size:
        assert_array_equal(both.take(rows), X[rows])


def test_rows_are_taken_in_any_order(any_pool):
    rows = np.random.RandomState(1).permutation(60)[:25]
    if not isinstance(any_pool, ParquetPool):
        assert_array_equal(any_pool.take(rows), frame().to_numpy()[rows])
    assert_array_equal(any_pool.take(np.sort(rows)), frame().to_numpy()[np.sort(rows)])


def test_no_batch_is_larger_than_it_may_be(any_pool):
    sizes = [len(table) for _, table in any_pool.batches(np.arange(60))]
    assert max(sizes) <= 5


def test_a_function_is_mapped_over_the_rows(any_pool):
    sums = any_pool.map(lambda X: X.sum(axis=1, keepdims=True), np.arange(10, 50))
    assert sums.dtype == np.float32
    assert_array_equal(sums[:, 0], frame().to_numpy()[10:50].sum(axis=1))


def test_a_transformed_pool_has_other_values_in_the_same_rows(any_pool):
    doubled = any_pool.transformed(lambda X: 2 * X)
    assert_array_equal(gathered(doubled), 2 * frame().to_numpy())
    assert_array_equal(gathered(any_pool), frame().to_numpy())


@pytest.mark.parametrize(
    "as_table",
    [lambda f: f, lambda f: sp.csr_matrix(f.to_numpy()), lambda f: f.to_numpy().tolist()],
    ids=["frame", "sparse", "list"],
)
def test_tables_of_any_kind_are_stacked(as_table):
    whole = frame()
    stacked = StackedPool([TablePool(as_table(whole.iloc[:20])), TablePool(as_table(whole.iloc[20:]))])
    taken = stacked.take(np.array([3, 19, 20, 44]))
    values = taken.toarray() if sp.issparse(taken) else np.asarray(taken)
    assert_array_equal(values.astype(np.float32), whole.to_numpy()[[3, 19, 20, 44]])


@pytest.mark.parametrize("kinds", [(np.float32, np.float64), (np.float64, np.float32), (np.int64, np.float32)], ids=str)
def test_no_digit_is_lost_between_parts_of_different_precision(kinds):
    parts = [np.full((10, 2), value).astype(kind) for value, kind in zip((3, 0.1), kinds, strict=True)]
    taken = StackedPool([TablePool(part) for part in parts]).take(np.array([4, 15]))
    assert_array_equal(taken, np.concatenate(parts)[[4, 15]])


def test_a_pool_is_its_own_pool():
    table = TablePool(frame())
    assert as_pool(table) is table
    assert as_pool(frame()).n_rows == 60


def test_rows_are_put_in_order_without_joining_them_first():
    tables = [np.array([[2.0], [0.0]]), np.array([[1.0]], dtype=np.float32)]
    assert in_order(tables, np.array([1, 2, 0])).ravel().tolist() == [0, 1, 2]
    frames = [pd.DataFrame({"a": [2, 0]}), pd.DataFrame({"a": [1]})]
    assert in_order(frames, np.array([1, 2, 0]))["a"].tolist() == [0, 1, 2]
