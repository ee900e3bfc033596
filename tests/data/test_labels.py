"""Labels as people have them: every way to write a class, and every way to leave a row without one."""

import datetime
import gc
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from dips._data.labels import (
    UNLABELED,
    encode_labels,
    encode_targets,
    encode_values,
    is_multilabel,
    true_label_table,
    true_labels,
)

ABOUT_ILLNESS = {
    "list with None": ["ill", None, "well", "ill"],
    "list with -1": ["ill", -1, "well", "ill"],
    "objects with NaN": np.array(["ill", np.nan, "well", "ill"], dtype=object),
    "objects with -1": np.array(["ill", -1, "well", "ill"], dtype=object),
    "objects with pd.NA": np.array(["ill", pd.NA, "well", "ill"], dtype=object),
    "pandas object": pd.Series(["ill", None, "well", "ill"], dtype=object),
    "pandas string": pd.Series(["ill", None, "well", "ill"], dtype="string"),
    "pandas str": pd.Series(["ill", None, "well", "ill"]),
    "pandas categorical": pd.Series(["ill", None, "well", "ill"], dtype="category"),
    "pandas array": pd.array(["ill", None, "well", "ill"], dtype="string"),
    "pandas index": pd.Index(["ill", None, "well", "ill"]),
    "polars": pl.Series(["ill", None, "well", "ill"]),
    "polars categorical": pl.Series(["ill", None, "well", "ill"], dtype=pl.Categorical),
    "polars enum": pl.Series(["ill", None, "well", "ill"], dtype=pl.Enum(["well", "ill"])),
}

ZERO_AND_ONE = {
    "list with -1": [0, -1, 1, 0],
    "list with None": [0, None, 1, 0],
    "list with floats": [0.0, float("nan"), 1.0, 0.0],
    "integers": np.array([0, -1, 1, 0]),
    "small integers": np.array([0, -1, 1, 0], dtype=np.int8),
    "floats with NaN": np.array([0.0, np.nan, 1.0, 0.0]),
    "floats with -1": np.array([0.0, -1.0, 1.0, 0.0]),
    "single precision": np.array([0, np.nan, 1, 0], dtype=np.float32),
    "objects": np.array([0, None, 1, 0], dtype=object),
    "pandas": pd.Series([0, -1, 1, 0]),
    "pandas floats": pd.Series([0, np.nan, 1, 0]),
    "pandas nullable": pd.Series([0, None, 1, 0], dtype="Int64"),
    "pandas nullable floats": pd.Series([0, None, 1, 0], dtype="Float64"),
    "pandas categorical": pd.Series([0, None, 1, 0], dtype="category"),
    "polars": pl.Series([0, None, 1, 0]),
    "polars floats": pl.Series([0.0, float("nan"), 1.0, 0.0]),
}

TRUE_AND_FALSE = {
    "list": [False, None, True, False],
    "objects with -1": np.array([False, -1, True, False], dtype=object),
    "pandas nullable": pd.Series([False, None, True, False], dtype="boolean"),
    "polars": pl.Series([False, None, True, False]),
}


@pytest.mark.parametrize("y", ABOUT_ILLNESS.values(), ids=ABOUT_ILLNESS.keys())
def test_strings_are_classes_and_gaps_are_unlabeled(y):
    labels = encode_labels(y)
    assert labels.codes.tolist() == [0, UNLABELED, 1, 0]
    assert labels.classes.tolist() == ["ill", "well"]


@pytest.mark.parametrize("y", ZERO_AND_ONE.values(), ids=ZERO_AND_ONE.keys())
def test_numbers_are_classes_and_gaps_or_minus_one_are_unlabeled(y):
    labels = encode_labels(y)
    assert labels.codes.tolist() == [0, UNLABELED, 1, 0]
    assert labels.classes.tolist() == [0, 1]
    assert labels.classes.dtype.kind == "i"


@pytest.mark.parametrize("y", TRUE_AND_FALSE.values(), ids=TRUE_AND_FALSE.keys())
def test_booleans_are_classes(y):
    labels = encode_labels(y)
    assert labels.codes.tolist() == [0, UNLABELED, 1, 0]
    assert labels.classes.dtype == bool


def test_plain_booleans_have_no_unlabeled_rows():
    assert encode_labels(np.array([True, False])).codes.tolist() == [1, 0]


def test_classes_need_not_begin_at_zero():
    labels = encode_labels([2, 1, -1, 2])
    assert labels.classes.tolist() == [1, 2]
    assert labels.codes.tolist() == [1, 0, UNLABELED, 1]


def test_minus_one_is_a_class_where_a_missing_label_is_the_mark():
    labels = encode_labels([-1, 1, None, -1])
    assert labels.classes.tolist() == [-1, 1]
    assert labels.codes.tolist() == [0, 1, UNLABELED, 0]


def test_minus_one_and_one_alone_are_two_classes_with_a_warning():
    with pytest.warns(UserWarning, match="only -1 and 1"):
        labels = encode_labels(np.array([-1, 1, 1]))
    assert labels.codes.tolist() == [0, 1, 1]


@pytest.mark.parametrize("dtype", [">i4", ">i8", ">f8", "<i4"])
def test_labels_may_be_of_either_byte_order(dtype):
    for y in (np.array([0, 1, -1], dtype=dtype), pd.Series(np.array([0, 1, -1], dtype=dtype))):
        assert encode_labels(y).codes.tolist() == [0, 1, UNLABELED]


def test_the_string_minus_one_is_a_class():
    assert encode_labels(["-1", "1"]).classes.tolist() == ["-1", "1"]


def test_minus_one_besides_other_classes_is_a_class_where_all_are_labeled_and_a_warning_says_so():
    with pytest.warns(UserWarning, match="-1 is taken as a class"):
        labels = encode_labels([-1, 0, 1], all_labeled=True)
    assert labels.classes.tolist() == [-1, 0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode_labels([-1, 1], all_labeled=True)


@pytest.mark.parametrize(
    ("y", "mark"),
    [
        (["a", None, "b"], None),
        (["a", -1, "b"], -1),
        ([0, 1, -1], -1),
        ([0, 1, 1], -1),
        (np.array([0.0, 1.0, np.nan]), np.nan),
        (pd.Series([0, 1, None], dtype="Int64"), None),
        (["a", "b", "b"], None),
    ],
)
def test_unlabeled_rows_are_written_back_as_they_came(y, mark):
    labels = encode_labels(y)
    decoded = labels.decode(np.array([0, UNLABELED]))
    assert decoded[0] == labels.classes[0]
    assert decoded[1] is mark or decoded[1] == mark or (np.isnan(mark) and np.isnan(decoded[1]))


def test_integers_stay_integers_when_written_back():
    assert encode_labels([0, 1, -1]).decode(np.array([1, -1])).dtype == np.int64


def test_two_signs_leave_another_mark_for_rows_without_a_label():
    with pytest.warns(UserWarning, match="only -1 and 1"):
        labels = encode_labels([-1, 1])
    assert labels.decode(np.array([0, UNLABELED])).tolist() == [-1, None]


def test_a_column_vector_is_one_column_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert encode_labels(np.array([[0], [1]])).codes.tolist() == [0, 1]
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert encode_labels(pd.DataFrame({"y": ["a", "b"]})).codes.tolist() == [0, 1]
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert encode_labels(pl.DataFrame({"y": ["a", None, "b"]})).codes.tolist() == [0, UNLABELED, 1]


@pytest.mark.parametrize("other", ["1", "+1", "0"])
def test_minus_one_as_text_is_a_class_beside_other_numbers(other):
    assert encode_labels(np.array(["-1", other])).classes.tolist() == sorted(["-1", other])


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([None, None], "No labeled row: all 2"),
        ([-1, -1, -1], "No labeled row: all 3"),
        ([], "No labeled row"),
        ([np.nan, -1.0, np.nan], "both -1 and missing labels"),
        ([0, 1, -1, None], "both -1 and missing labels.* mark them one way"),
        (np.array([-1, 0, 1, np.nan]), "both -1 and missing labels"),
        (["a", -1, None, "b"], "both -1 and missing labels"),
        (np.array(["a", "b", np.nan]), "the text 'nan' as a class: probably a missing label that became text"),
        (np.array(["a", "b", None]).astype(str), "the text 'None' as a class"),
        (["a", "b", ""], "the text '' as a class"),
        (np.array(["a", "b", -1]), "the text '-1' as a class: probably a missing label that became text"),
        (pd.Series(["a", "b", "<NA>"]), "the text '<NA>' as a class"),
        (["a", None], "Only one class is labeled \\('a', 1 row\\)"),
        (["a", "a", None], "Only one class is labeled \\('a', 2 rows\\)"),
        ([1, -1, -1, 1, 1.0, -1, 2, 0.5], "continuous.* 0.5"),
        (np.array([0, 1, np.inf]), "infinity"),
        ([0, 1, "a"], "mix types.*int, str"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "Unknown label type: datetime64"),
        (pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"])), "Unknown label type: Datetime"),
        (np.array([1j, 2j]), "Complex data not supported"),
        ([[0], [1, 2]], "Unknown label type: .*unhashable type: 'list'"),
        (np.zeros((2, 2, 2)), "should be a 1d array"),
        (pd.Series([("a", 1), ("b", 2)]), "Unknown label type: tuple"),
        ([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], "Unknown label type: date"),
        (None, "got None"),
    ],
)
def test_labels_that_cannot_be_learned_are_refused_in_words(y, words):
    with pytest.raises(ValueError, match=words):
        encode_labels(y)


def test_where_every_row_needs_a_label_a_gap_is_refused():
    with pytest.raises(ValueError, match="Input y contains NaN: 1 of 3 rows have no label"):
        encode_labels(["a", "b", None], all_labeled=True)


@pytest.mark.parametrize("kind", [np.int64, np.float64, bool])
def test_no_line_of_python_is_run_for_every_label(kind):
    """So ten million take about a second; lines are counted instead of seconds, which depend on the machine."""
    few, many = (np.random.RandomState(0).randint(0, 2, n).astype(kind) for n in (20_000, 200_000))
    encode_labels(few)  # imports
    assert n_lines_run(encode_labels, many) == n_lines_run(encode_labels, few)


def n_lines_run(function, argument):
    """Lines of Python that a call runs, and none that the garbage collector calls back in the meantime."""
    n_lines = 0

    def count(frame, event, _):
        nonlocal n_lines
        n_lines += event == "line"
        return count

    before = sys.gettrace()
    gc.disable()
    sys.settrace(count)
    try:
        function(argument)
    finally:
        sys.settrace(before)
        gc.enable()
    return n_lines


def test_what_the_garbage_collector_calls_back_is_not_counted():
    def callback(phase, info):
        pass

    gc.callbacks.append(callback)
    try:
        assert n_lines_run(lambda n: list(map(list, [()] * n)), 100_000) == 1
    finally:
        gc.callbacks.remove(callback)


def test_a_loop_over_labels_is_counted():
    assert n_lines_run(lambda y: [2 * v for v in y], range(1000)) > 1000


TABLES = {
    "integers": np.array([[0, 1], [1, 0], [-1, 1], [-1, -1]]),
    "floats": np.array([[0, 1], [1, 0], [np.nan, 1], [np.nan, np.nan]]),
    "objects": np.array([[0, 1], [1, 0], [None, 1], [pd.NA, None]], dtype=object),
    "list": [[0, 1], [1, 0], [None, 1], [None, None]],
    "pandas": pd.DataFrame({"a": [0, 1, None, None], "b": [1, 0, 1, None]}),
    "pandas nullable": pd.DataFrame({"a": [0, 1, None, None], "b": [1, 0, 1, None]}, dtype="Int64"),
    "pandas booleans": pd.DataFrame({"a": [False, True, None, None], "b": [True, False, True, None]}, dtype="boolean"),
    "polars": pl.DataFrame({"a": [0, 1, None, None], "b": [1, 0, 1, None]}),
}


@pytest.mark.parametrize("y", TABLES.values(), ids=TABLES.keys())
def test_a_table_of_zeros_ones_and_gaps_is_multilabel(y):
    assert is_multilabel(y)
    first, second = encode_targets(y)
    assert first.codes.tolist() == [0, 1, UNLABELED, UNLABELED]
    assert second.codes.tolist() == [1, 0, 1, UNLABELED]
    assert [first.name, second.name] == (["a", "b"] if hasattr(y, "columns") else [0, 1])


def test_sparse_labels_are_read():
    assert [t.codes.tolist() for t in encode_targets(sp.csr_array([[0, 1], [1, 0]]))] == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.array([[0, 1], [1, 2]]), "must hold 0, 1 or a missing value; label 1 holds 2"),
        (pd.DataFrame({"a": ["0", "1"], "b": ["1", "0"]}), "label 'a' holds '0'"),
        (np.array([[0, 1], [1, 1]]), "Label 1 needs .* found only 1"),
        (np.array([[0, -1], [1, -1]]), "Label 1 needs .* no labeled row"),
    ],
)
def test_label_tables_that_cannot_be_learned_are_refused_in_words(y, words):
    with pytest.raises(ValueError, match=words):
        encode_targets(y)


def test_one_column_is_not_multilabel():
    assert not is_multilabel(np.zeros((3, 1)))
    assert not is_multilabel([[0], [1]])
    assert not is_multilabel(["ab", "cd"])
    assert not is_multilabel([])


@pytest.mark.parametrize(
    "y", [pd.Series([1, 0], dtype="Int64"), pl.Series([1.0, 0.0]), [1, 0], np.array([1, 0], object)]
)
def test_true_labels_look_like_the_classes(y):
    truth = true_labels(y, np.array([0, 1]))
    assert truth.tolist() == [1, 0]
    assert truth.dtype.kind == "i"


@pytest.mark.parametrize("y", [[0, 1, -1], [0, 1, None], np.array([0, 1, np.nan]), pl.Series([0, 1, None])])
def test_rows_without_a_label_are_not_scored_on(y):
    with pytest.raises(ValueError, match=r"1 of the 3 rows to score on are unlabeled.*SemiSupervisedKFold"):
        true_labels(y, np.array([0, 1]))


def test_minus_one_is_scored_on_where_it_is_a_class():
    assert true_labels([-1, 1], np.array([-1, 1])).tolist() == [-1, 1]


def test_multilabel_rows_with_a_gap_are_not_scored_on():
    with pytest.raises(ValueError, match="2 of the 4 rows to score on are unlabeled"):
        true_label_table(TABLES["polars"], np.array(["a", "b"]))


def test_a_masked_label_is_unlabeled_whatever_lies_under_the_mask():
    y = np.ma.array([0, 1, 1, 0], mask=[False, False, True, True])
    assert encode_labels(y).codes.tolist() == [0, 1, -1, -1]


# Values of files, whose reader has rules of its own about what is unlabeled


def test_every_value_that_is_not_missing_can_be_a_class():
    labels = encode_values([-1, None, 3])
    assert labels.classes.tolist() == [-1, 3]
    assert labels.codes.tolist() == [0, -1, 1]
    assert encode_values([None, None]).classes.size == 0
    assert encode_values(["only"]).classes.tolist() == ["only"]


def test_renamed_classes_are_put_in_their_own_order():
    labels = encode_values(["10", None, "9"]).renamed([10, 9])
    assert labels.classes.tolist() == [9, 10]
    assert labels.codes.tolist() == [1, -1, 0]
