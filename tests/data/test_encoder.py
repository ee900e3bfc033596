"""Tables as people have them, turned into numbers."""

import datetime
import decimal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_array_equal

from dips._data.containers import as_rows, take
from dips._data.encoder import TableEncoder

NAN = np.nan
COLUMNS = {
    "age": [50, None, 61],
    "weight": [70.5, None, 81.0],
    "smokes": [True, None, False],
    "ward": ["west", None, "east"],
}
EXPECTED = np.array([[50, 70.5, 1, 1], [NAN, NAN, NAN, NAN], [61, 81.0, 0, 0]])

FRAMES = {
    "pandas objects": pd.DataFrame(COLUMNS, dtype=object),
    "pandas inferred": pd.DataFrame(COLUMNS),
    "pandas nullable": pd.DataFrame(COLUMNS).astype(
        {"age": "Int64", "weight": "Float64", "smokes": "boolean", "ward": "string"}
    ),
    "pandas category": pd.DataFrame(COLUMNS).astype({"ward": "category"}),
    "pandas arrow": pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame(COLUMNS),
    "polars categorical": pl.DataFrame(COLUMNS, schema_overrides={"ward": pl.Categorical}),
    "arrow": pa.table(COLUMNS),
    "numpy objects": np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=object),
}


@pytest.mark.parametrize("X", FRAMES.values(), ids=FRAMES.keys())
def test_every_kind_of_table_gives_the_same_numbers(X):
    assert_array_equal(TableEncoder().fit_transform(X), EXPECTED)


@pytest.mark.parametrize("X", FRAMES.values(), ids=FRAMES.keys())
def test_one_row_alone_is_encoded_as_among_others(X):
    encoder = TableEncoder().fit(X)
    for i in range(3):
        assert_array_equal(encoder.transform(take(X, np.array([i]))), EXPECTED[[i]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_keep_their_precision(dtype):
    assert TableEncoder().fit_transform(np.ones((2, 2), dtype=dtype)).dtype == dtype


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, bool])
def test_integers_and_booleans_become_floats(dtype):
    assert_array_equal(TableEncoder().fit_transform(np.array([[0], [1]], dtype=dtype)), [[0.0], [1.0]])


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.coo_array])
def test_sparse_stays_sparse_with_rows_that_can_be_taken(container):
    encoded = TableEncoder().fit_transform(container(np.eye(3)))
    assert encoded.format == "csr"
    assert_array_equal(take(encoded, np.array([1])).toarray(), [[0, 1, 0]])


def test_sparse_columns_of_a_frame_are_read():
    X = pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0, 0.0]), "b": [1, 2, 3]})
    assert_array_equal(TableEncoder().fit_transform(X), [[0, 1], [1, 2], [0, 3]])


def test_ordered_categories_keep_their_order_and_unordered_are_alphabetical():
    sizes = ["small", "large", "medium"]
    order = ["small", "medium", "large"]
    ordered = pd.DataFrame({"size": pd.Categorical(sizes, categories=order, ordered=True)})
    unordered = pd.DataFrame({"size": pd.Categorical(sizes, categories=order)})
    enum = pl.DataFrame({"size": sizes}, schema={"size": pl.Enum(order)})
    for X in (ordered, enum):
        assert_array_equal(TableEncoder().fit_transform(X), [[0], [2], [1]])
    assert_array_equal(TableEncoder().fit_transform(unordered), [[2], [0], [1]])


def test_intervals_as_pandas_cuts_them_are_ordered():
    X = pd.DataFrame({"age": pd.cut(pd.Series([5, 25, 15]), [0, 10, 20, 30])})
    assert_array_equal(TableEncoder().fit_transform(X), [[0], [2], [1]])


def test_a_category_never_seen_is_missing():
    for frame in (pd.DataFrame, pl.DataFrame):
        encoder = TableEncoder().fit(frame({"ward": ["east", "west"]}))
        assert_array_equal(encoder.transform(frame({"ward": ["north", "west", None]})), [[NAN], [1], [NAN]])


def test_mixed_objects_are_categories():
    X = pd.DataFrame({"answer": ["yes", 1, None, 2.5, "yes"]}, dtype=object)
    encoder = TableEncoder().fit(X)
    assert encoder.categories_ == [[1, 2.5, "yes"]]
    assert_array_equal(encoder.transform(X).ravel(), [2, 0, NAN, 1, 2])
    assert_array_equal(encoder.transform(pd.DataFrame({"answer": [1.0, 2.5]})).ravel(), [0, 1])


def test_decimals_are_numbers():
    prices = [decimal.Decimal("1.5"), None]
    assert_array_equal(TableEncoder().fit_transform(pd.DataFrame({"price": prices})), [[1.5], [NAN]])
    assert_array_equal(TableEncoder().fit_transform(pl.DataFrame({"price": prices})), [[1.5], [NAN]])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_an_empty_column_is_missing_throughout(frame):
    encoder = TableEncoder().fit(frame({"a": [1, 2], "gone": [None, None]}))
    assert_array_equal(encoder.transform(frame({"a": [1, 2], "gone": ["x", "y"]})), [[1, NAN], [2, NAN]])


def test_a_column_of_numbers_may_come_back_empty():
    for frame in (pd.DataFrame, pl.DataFrame):
        encoder = TableEncoder().fit(frame({"a": [1, 2]}))
        assert_array_equal(encoder.transform(frame({"a": [None]})), [[NAN]])


TIMES = {
    "pandas datetime": pd.DataFrame({"born": pd.to_datetime(["2000-01-01"])}),
    "pandas with zone": pd.DataFrame({"born": pd.to_datetime(["2000-01-01"], utc=True)}),
    "pandas timedelta": pd.DataFrame({"born": pd.to_timedelta(["1 day"])}),
    "pandas period": pd.DataFrame({"born": pd.period_range("2000", periods=1)}),
    "pandas date objects": pd.DataFrame({"born": [datetime.date(2000, 1, 1)]}, dtype=object),
    "pandas category": pd.DataFrame({"born": pd.to_datetime(["2000-01-01"]).astype("category")}),
    "polars date": pl.DataFrame({"born": [datetime.date(2000, 1, 1)]}),
    "polars datetime": pl.DataFrame({"born": [datetime.datetime(2000, 1, 1)]}),
    "polars duration": pl.DataFrame({"born": [datetime.timedelta(1)]}),
    "polars time": pl.DataFrame({"born": [datetime.time(1)]}),
}


@pytest.mark.parametrize("X", TIMES.values(), ids=TIMES.keys())
def test_dates_and_times_are_refused_with_a_reason(X):
    with pytest.raises(ValueError, match=r"Column 'born' holds dates or times .* days since a date"):
        TableEncoder().fit(X)


def test_an_array_of_dates_is_refused_with_a_reason():
    with pytest.raises(ValueError, match="X holds dates or times"):
        TableEncoder().fit(np.array([["2000-01-01"]], dtype="datetime64[D]"))


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0], [np.inf]]),
        pd.DataFrame({"a": [1.0, np.inf]}),
        pl.DataFrame({"a": [1.0, -np.inf]}),
        sp.csr_array(np.array([[0.0], [np.inf]])),
    ],
)
def test_infinities_are_refused(X):
    with pytest.raises(ValueError, match="contains infinity"):
        TableEncoder().fit(X)
    with pytest.raises(ValueError, match="contains infinity"):
        as_rows(X)


def test_infinities_among_objects_are_refused_by_column():
    with pytest.raises(ValueError, match=r"contains infinity .* column\(s\) \[1\]"):
        TableEncoder().fit(np.array([["a", 1], ["b", -np.inf]], dtype=object))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (pd.DataFrame({"a": [[1], [2]]}), "'a' holds a list"),
        (pd.DataFrame({"a": [{"b": 1}, 2]}), "'a' holds a dict"),
        (pl.DataFrame({"a": [[1], [2]]}), "'a' holds List"),
        (pl.DataFrame({"a": [{"b": 1}]}), "'a' holds Struct"),
        (pd.DataFrame(index=range(2)), "0 feature"),
        (pd.DataFrame({"a": []}), "0 sample"),
        (np.array(["some text", "another"]), "begins with a vectorizer"),
        (np.zeros(3), "Expected 2D array"),
        (pd.DataFrame({"a": [1j]}), "Complex data not supported"),
        (np.array([[1j]]), "Complex data not supported"),
    ],
)
def test_what_is_no_table_of_features_is_refused_in_words(X, words):
    with pytest.raises((ValueError, TypeError), match=words):
        TableEncoder().fit(X)


def test_text_where_training_had_numbers_is_refused_by_name():
    encoder = TableEncoder().fit(pd.DataFrame({"age": [1, 2]}))
    with pytest.raises(ValueError, match="Column 'age' held only numbers in training, but now holds 'old'"):
        encoder.transform(pd.DataFrame({"age": ["old"]}))


def test_names_and_frames_come_out_where_asked():
    X = pd.DataFrame({"ward": ["east", "west"], "age": [1, 2]}, index=["p", "q"])
    encoder = TableEncoder().fit(X)
    assert encoder.get_feature_names_out().tolist() == ["ward", "age"]
    out = encoder.set_output(transform="pandas").transform(X)
    assert out.index.tolist() == ["p", "q"]
    assert out.columns.tolist() == ["ward", "age"]
    assert isinstance(encoder.set_output(transform="polars").transform(X), pl.DataFrame)
    with sklearn.config_context(transform_output="pandas"):
        assert TableEncoder().fit_transform(X).columns.tolist() == ["ward", "age"]
    assert TableEncoder().fit(np.ones((2, 2))).get_feature_names_out().tolist() == ["x0", "x1"]


def test_a_large_table_of_texts_is_encoded_by_its_distinct_values():
    X = pd.DataFrame({"city": np.random.RandomState(0).choice(["a", "b", "c"], 1_000_000)})
    assert TableEncoder().fit_transform(X).max() == 2  # a second or less; a minute if every cell were looked at


# Order, and columns that do not fit each other


@pytest.mark.parametrize(
    ("values", "ranks"),
    [
        ([1, 2, 9, 10, 100, "?"], [0, 1, 2, 3, 4, 5]),
        (["10", "9", "?", "-1", None, "100"], [2, 1, 4, 0, NAN, 3]),
        (["1e2", "20.5", "3"], [2, 1, 0]),
        (["nan", "10", "9", "inf"], [3, 1, 0, 2]),
        (["b", 2, "a", 10, "1.5"], [4, 1, 3, 2, 0]),
    ],
)
def test_numbers_among_texts_are_ordered_as_numbers_and_texts_come_after(values, ranks):
    for X in (pd.DataFrame({"a": values}, dtype=object), np.array(values, dtype=object)[:, None]):
        assert_array_equal(TableEncoder().fit_transform(X).ravel(), ranks)


def test_texts_of_numbers_are_ordered_as_numbers_in_polars_too():
    assert_array_equal(TableEncoder().fit_transform(pl.DataFrame({"a": ["10", "9", "?"]})).ravel(), [1, 0, 2])


@pytest.mark.parametrize(
    ("known", "new", "words"),
    [
        (["f", "m"], ["F", "M"], "now it holds 'F', training held 'f'"),
        (["1", "2"], [1, 2], "now it holds 1, training held '1'"),
    ],
)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_values_never_seen_is_warned_of_by_name(frame, known, new, words):
    encoder = TableEncoder().fit(frame({"sex": known}))
    with pytest.warns(UserWarning, match=f"No value of column 'sex' is known from training .{words}"):
        encoder.transform(frame({"sex": new}))


def test_texts_that_are_mostly_numbers_are_pointed_out():
    crp = [f"{v / 10:.1f}" for v in range(100)] + ["<5"] * 9
    with pytest.warns(
        UserWarning, match="Column 'crp' is text, though 100 of its 101 values are numbers, such as '0.0', others"
    ):
        TableEncoder().fit(pd.DataFrame({"crp": crp}))


WEIGHTS = [f"{v / 10:.1f}".replace(".", ",") for v in range(100)]
COUNTS = [f"{v:,}".replace(",", ".") for v in range(997, 100_000, 991)][:98] + ["k.A."] * 2
BY_POINTS = "such as with pandas.to_numeric(column, errors='coerce')."


def warnings_of(**columns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        TableEncoder().fit(pd.DataFrame(columns))
    return [str(w.message) for w in caught]


def test_decimal_commas_are_numbers_too():
    assert warnings_of(weight=WEIGHTS) == [
        "Column 'weight' is text, though 100 of its 100 values are numbers, such as '0,0'. They are read as "
        "categories, so a number that training did not have is missing. If they are quantities, read them as such, "
        "with pandas.read_csv(file, decimal=',', thousands='.')."
    ]
    (said,) = warnings_of(price=[f"{v:,}.5" for v in range(990, 1_080)])
    assert said.endswith("with pandas.read_csv(file, thousands=',').")


def test_points_that_set_thousands_apart_are_not_advised_to_be_read_as_decimal():
    (alone,) = warnings_of(leukocytes=COUNTS)
    assert alone.endswith(BY_POINTS)
    beside, of_weight = warnings_of(leukocytes=COUNTS, weight=WEIGHTS)
    assert "such as '1.988' (1988 if it is written like column 'weight'), others are not, such as 'k.A.'" in beside
    assert beside.endswith("with pandas.read_csv(file, decimal=',', thousands='.', na_values=['k.A.']).")
    assert "'weight'" in of_weight
    fractions = [f"{v / 8:.3f}" for v in range(98)] + ["k.A."] * 2
    assert warnings_of(score=fractions, weight=WEIGHTS)[0].endswith(BY_POINTS)
    whole = [str(v) for v in range(98)] + ["k.A."] * 2
    assert warnings_of(age=whole, weight=WEIGHTS)[0].endswith(BY_POINTS)


def test_the_advice_reads_the_numbers(tmp_path):
    frame = pd.DataFrame({"leukocytes": COUNTS, "weight": WEIGHTS})
    frame.to_csv(tmp_path / "table.csv", sep=";", index=False)
    read = pd.read_csv(tmp_path / "table.csv", sep=";", decimal=",", thousands=".", na_values=["k.A."])
    assert read["leukocytes"][1] == 1988
    assert read["weight"][15] == 1.5
    assert read.dtypes.tolist() == [float, float]


def test_commas_of_objects_are_said_by_position():
    with pytest.warns(UserWarning, match=r"Column 0 is text, .* such as '0,0'.*decimal=','"):
        TableEncoder().fit(np.array([WEIGHTS], dtype=object).T)


@pytest.mark.parametrize(
    "texts",
    [
        [f"{v:05d}" for v in range(900, 1000)],  # codes
        [str(v % 12) for v in range(100)],  # few
        [f"ward {v}" for v in range(100)] + ["7"],
        list(range(100)),
    ],
)
def test_codes_and_categories_are_not(texts, recwarn):
    TableEncoder().fit(pd.DataFrame({"x": pd.Series(texts, dtype=object)}))
    assert not recwarn.list
