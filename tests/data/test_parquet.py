from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from dips._data.arrow import as_array
from dips._data.parquet import ParquetPool
from dips.exceptions import UserError


def patients(n=40):
    rng = np.random.RandomState(0)
    return pd.DataFrame(
        {
            "age": rng.randint(20, 90, n),
            "ward": rng.choice(["north", "south", "east"], n),
            "smoker": rng.choice([True, False], n),
            "group": pd.Categorical(rng.choice(["x", "y"], n)),
        }
    )


@pytest.fixture
def folder(tmp_path):
    whole = patients()
    whole.iloc[:25].to_parquet(tmp_path / "b.parquet", index=False)
    whole.iloc[25:].to_parquet(tmp_path / "c.parquet", index=False)
    return tmp_path


def test_files_are_read_in_the_order_of_their_names(folder):
    read = pd.concat([table for _, table in ParquetPool(folder).batches()], ignore_index=True)
    assert read["ward"].tolist() == patients()["ward"].tolist()


def test_one_file_will_do(folder):
    assert ParquetPool(folder / "b.parquet").n_rows == 25


def test_folders_are_read_with_those_inside(folder):
    (folder / "more").mkdir()
    patients(5).to_parquet(folder / "more" / "d.parquet", index=False)
    assert ParquetPool(folder).n_rows == 45


def test_columns_come_in_the_order_of_the_labeled_table(folder):
    labeled = patients()[["ward", "group", "age", "smoker"]]
    _, table = next(ParquetPool(folder).like(labeled).batches())
    assert list(table.columns) == list(labeled.columns)


def test_polars_rows_for_a_polars_table(folder):
    pl = pytest.importorskip("polars")
    _, table = next(ParquetPool(folder).like(pl.from_pandas(patients())).batches())
    assert isinstance(table, pl.DataFrame)


def test_only_some_columns_can_be_read(folder):
    assert ParquetPool(folder, columns=["age"]).like(np.zeros((3, 1))).take(np.array([0, 30])).shape == (2, 1)


def test_missing_numbers_are_nan(tmp_path):
    pd.DataFrame({"a": [1, None, 3], "b": [0.5, 1.5, None]}).astype({"a": "Int64"}).to_parquet(tmp_path / "f.parquet")
    values = ParquetPool(tmp_path).like(np.zeros((1, 2))).take(np.arange(3))
    assert_array_equal(values, [[1, 0.5], [np.nan, 1.5], [3, np.nan]])


def test_the_vocabulary_holds_every_text_and_category(folder):
    vocabulary = ParquetPool(folder).vocabulary()
    assert set(vocabulary["ward"].dropna()) == {"north", "south", "east"}
    assert set(vocabulary["group"].dropna()) == {"x", "y"}
    assert vocabulary["age"].notna().all()
    assert len(vocabulary) == 3


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: f / "nowhere", "There is no .*nowhere; give a Parquet file, or a folder of them"),
        (lambda f: (f / "empty").mkdir() or f / "empty", "holds no .parquet file"),
        (lambda f: (f / "d.parquet").write_bytes(b"PAR1 not really") and f, "is not a complete Parquet file"),
        (lambda f: patients().drop(columns="age").to_parquet(f / "d.parquet") or f, r"differ: \['age'\] is not in"),
        (
            lambda f: patients().assign(age="old").to_parquet(f / "d.parquet") or f,
            r"differ: \['age'\] is not of the same type in every one of them",
        ),
        (lambda f: patients(0).to_parquet(f / "none.pq") or f / "none.pq", "holds no rows"),
    ],
    ids=["missing", "empty", "broken", "column missing", "type differs", "no rows"],
)
def test_files_that_cannot_serve_are_refused(folder, spoil, message):
    with pytest.raises(UserError, match=message):
        ParquetPool(spoil(folder))


def test_at_least_one_row_must_be_trained_on(folder):
    with pytest.raises(ValueError, match="max_train_rows must be at least 1; got 0"):
        ParquetPool(folder, stays=True, max_train_rows=0)


def test_other_columns_than_the_labeled_are_refused(folder):
    with pytest.raises(ValueError, match=r"they differ in \['age', 'weight'\]. ParquetPool\(path, columns=\[...\]\)"):
        ParquetPool(folder).like(patients().rename(columns={"age": "weight"}))
    with pytest.raises(ValueError, match=r"got labeled rows of shape \(3, 9\) and 4 columns in"):
        ParquetPool(folder).like(np.zeros((3, 9)))


def test_a_pass_leaves_no_rows_in_memory(folder):
    pool, before = ParquetPool(folder), pa.total_allocated_bytes()
    assert sum(len(table) for _, table in pool.batches()) == 40
    assert pa.total_allocated_bytes() == before


def test_a_file_that_changed_since_the_pool_was_made_is_refused(folder):
    pool = ParquetPool(folder)
    patients(30).to_parquet(folder / "c.parquet", index=False)
    with pytest.raises(ValueError, match=r"c.parquet is gone or was changed .*; make the pool and fit again"):
        pool.take(np.array([30]))


def test_a_matrix_is_made_of_columns_in_any_number_of_chunks():
    chunks = pa.chunked_array([[1, 2], [None, 4]]), pa.chunked_array([[0.5], [1.5, 2.5], [3.5]])
    matrix = as_array(pa.table(list(chunks), names=["a", "b"]))
    assert_array_equal(matrix, [[1, 0.5], [2, 1.5], [np.nan, 2.5], [4, 3.5]])
    assert matrix.flags.f_contiguous
