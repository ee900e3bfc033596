"""Rows counted and stacked, whatever holds them."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from xgboost import XGBClassifier

from dips import PriorFittedClassifier, PseudoLabelClassifier
from dips._data.containers import is_frame, n_rows, stack
from dips._data.encoder import TableEncoder
from dips.exceptions import InputError

NAN = np.nan


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_stacked_by_name(frame):
    both = stack(frame({"a": [1], "b": ["x"]}), frame({"b": ["y"], "a": [2.5]}))
    assert is_frame(both)
    assert list(both.columns) == ["a", "b"]
    assert both["a"].to_list() == [1.0, 2.5]
    assert both["b"].to_list() == ["x", "y"]


def test_an_index_is_kept_where_no_name_comes_twice():
    X = pd.DataFrame({"a": [1, 2]}, index=["p", "q"])
    assert stack(X, pd.DataFrame({"a": [3]}, index=["r"])).index.tolist() == ["p", "q", "r"]
    assert stack(X, pd.DataFrame({"a": [3]}, index=["p"])).index.tolist() == [0, 1, 2]
    assert stack(pd.Series(["x"], index=[7]), pd.Series(["y"], index=[9])).index.tolist() == [7, 9]


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, list, pd.Series])
def test_other_containers_are_stacked(container):
    X = container([1.0, 2.0]) if container in (list, pd.Series) else container(np.eye(2))
    assert n_rows(stack(X, X)) == 4


@pytest.mark.parametrize(
    ("X", "other", "words"),
    [
        (np.eye(2), np.eye(3), "same columns; got shapes"),
        (sp.csr_array(np.eye(2)), np.eye(3), "same columns; got shapes"),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]}), r"they differ in \['a', 'b'\]"),
        (pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [1], "b": [1]}), r"they differ in \['b'\]"),
        (pd.DataFrame({"a": [1]}), np.eye(1), "same kind of table; got pandas.DataFrame and numpy.ndarray"),
    ],
)
def test_tables_with_other_columns_are_not_stacked(X, other, words):
    with pytest.raises(ValueError, match=words):
        stack(X, other)


def test_columns_of_the_same_name_are_refused_by_name():
    with pytest.raises(InputError, match="more than one is called 'a': rename them, or drop all but one"):
        is_frame(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]))


def test_a_lazy_frame_must_be_collected():
    with pytest.raises(TypeError, match=r"collect\(\) it first"):
        n_rows(pl.LazyFrame({"a": [1]}))


@pytest.mark.parametrize("method", ["fit", "predict"])
@pytest.mark.parametrize("model", [PseudoLabelClassifier(XGBClassifier(n_estimators=2)), PriorFittedClassifier()])
def test_every_model_says_that_a_lazy_frame_must_be_collected(model, method):
    X, y = pl.DataFrame({"a": np.arange(40) % 7, "b": np.arange(40.0)}), np.arange(40) % 2
    arguments = (y,) if method == "fit" else ()
    with pytest.raises(TypeError, match=r"collect\(\) it first"):
        getattr(model.fit(X, y), method)(X.lazy(), *arguments)


def test_a_mask_is_not_lost_without_a_word():
    X, y = np.random.RandomState(0).normal(size=(40, 2)), np.arange(40) % 2
    masked = np.ma.masked_greater(X, 1)
    model = PseudoLabelClassifier(XGBClassifier(n_estimators=2, n_jobs=1), random_state=0)
    with pytest.raises(TypeError, match=r"pass X\.filled\(np\.nan\)"):
        model.fit(masked, y)
    with pytest.raises(TypeError, match="X is a masked array"):
        model.fit(X, y, masked)
    model.fit(np.ma.masked_greater(X, 100), y)  # which hides nothing
    with pytest.raises(TypeError, match="X is a masked array"):
        model.predict(masked)


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        (pd.DataFrame({"id": [1], "age": [50]}), pd.DataFrame({"id": [1], "age": ["60"]})),
        (pd.DataFrame({"age": [50]}, dtype=object), pd.DataFrame({"age": ["60"]}, dtype="category")),
        (pl.DataFrame({"age": [50]}), pl.DataFrame({"age": ["60"]})),
        (pl.DataFrame({"age": [True]}), pl.DataFrame({"age": ["60"]}, schema={"age": pl.Categorical})),
        (pa.table({"age": [50]}), pa.table({"age": ["60"]})),
    ],
)
def test_numbers_are_not_stacked_on_texts(numbers, texts):
    with pytest.raises(ValueError, match="Column 'age' holds numbers among the labeled and texts among the unlabeled"):
        stack(numbers, texts)
    with pytest.raises(ValueError, match="Column 'age' holds texts among the labeled and numbers among the unlabeled"):
        stack(texts, numbers)


@pytest.mark.parametrize("texts", [np.array([[1, "60"]], dtype=object), np.array([["1", "60"]])])
def test_columns_of_an_array_are_not_stacked_on_another_type(texts):
    with pytest.raises(ValueError, match=r"Column [01] holds numbers among the labeled and texts"):
        stack(np.array([[1, 50]]), texts)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pd.DataFrame({"a": [1, "?"]}, dtype=object), pd.DataFrame({"a": [2.5]})),
        (pd.DataFrame({"a": [1.0]}), pd.DataFrame({"a": [None]}, dtype=object)),
        (pd.DataFrame({"a": ["x"]}), pd.DataFrame({"a": [NAN]})),
        (pl.DataFrame({"a": ["x"]}), pl.DataFrame({"a": [None]})),
        (pd.DataFrame({"a": [True]}), pd.DataFrame({"a": [2]})),
        (np.array([["x"]], dtype=object), np.array([[NAN]])),
    ],
)
def test_mixed_and_empty_columns_are_stacked(first, second):
    assert n_rows(TableEncoder().fit_transform(stack(first, second))) == n_rows(first) + n_rows(second)


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [datetime.date(2000, 1, 1)], "b": [[1]]}, dtype=object),
        pd.DataFrame({"a": pd.to_datetime(["2000-01-01"])}),
        pl.DataFrame({"a": [datetime.date(2000, 1, 1)], "b": [[1, 2]]}),
    ],
)
def test_what_only_a_pipeline_can_read_is_stacked(X):
    assert n_rows(stack(X, X)) == 2


def test_ordered_categories_must_be_the_same_to_be_stacked():
    order = ["small", "medium", "large"]
    frames = [
        lambda values, c: pd.DataFrame({"size": pd.Categorical(values, categories=c, ordered=True)}),
        lambda values, c: pl.DataFrame({"size": values}, schema={"size": pl.Enum(c)}),
    ]
    for frame in frames:
        X = frame(["large", "small"], order)
        assert_array_equal(TableEncoder().fit_transform(stack(X, frame(["medium"], order))).ravel(), [2, 0, 1])
        with pytest.raises(ValueError, match="Column 'size' has ordered categories that differ"):
            stack(X, frame(["small"], order[:2]))
    with pytest.raises(ValueError, match="Column 'size' has ordered categories that differ"):
        stack(frames[0](["small"], order), pd.DataFrame({"size": ["medium"]}))


@pytest.mark.parametrize(("first", "second"), [(["x", "y"], ["y", "z"]), ([1, 2], [3, 2])])
def test_categories_stay_categories_where_the_two_tables_have_different_ones(first, second):
    X, other = (pd.DataFrame({"a": 0.5, "ward": pd.Categorical(values)}) for values in (first, second))
    both = stack(X, other)["ward"]
    assert both.cat.categories.tolist() == list(dict.fromkeys(first + second))
    assert both.tolist() == first + second
    assert X["ward"].cat.categories.tolist() == sorted(first)  # nothing of the user's is changed


def test_native_categories_of_a_backbone_may_differ_between_labeled_and_unlabeled_rows():
    rng, y = np.random.RandomState(0), np.arange(80) % 2
    X = pd.DataFrame({"a": y + rng.normal(size=80), "ward": pd.Categorical(rng.choice(["p", "q"], 80))})
    U = pd.DataFrame({"a": rng.normal(size=90), "ward": pd.Categorical(rng.choice(["o", "q"], 90))})
    model = PseudoLabelClassifier(XGBClassifier(n_estimators=5, enable_categorical=True), random_state=0).fit(X, y, U)
    assert model.score(X, y) > 0.6
    assert model.predict_proba(U).shape == (90, 2)


def test_frames_of_two_libraries_are_not_stacked():
    with pytest.raises(ValueError, match=r"same kind of table; got pandas\.DataFrame and polars\.DataFrame"):
        stack(pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}))
