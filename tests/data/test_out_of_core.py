"""Unlabeled rows in Parquet files give what the same rows in memory give."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

from dips import ParquetPool, PseudoLabelClassifier
from dips.datasets import make_quadrants
from dips.labelers import CSA, SLA, UPS

SMALL_XGBOOST = XGBClassifier(n_estimators=20, max_depth=3, learning_rate=0.2, n_jobs=1)


def patients(n=400, seed=0):
    """Numbers, texts, categories and missing values; the outcome depends on all of them."""
    X, y = make_quadrants(n, random_state=seed)
    rng = np.random.RandomState(seed)
    frame = pd.DataFrame(
        {
            "a": X[:, 0].astype(np.float32),
            "b": np.where(rng.uniform(size=n) < 0.1, np.nan, X[:, 1]),
            "ward": np.where(X[:, 0] > 0, "north", rng.choice(["south", "east"], n)),
            "group": pd.Categorical(rng.choice(["x", "y", "z"], n)),
        }
    )
    return frame, y


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("dips._data.parquet.BATCH", 64)
    monkeypatch.setattr("dips._data.pool.BATCH", 64)
    return tmp_path


def write(folder, frame):
    middle = len(frame) // 3
    frame.iloc[:middle].to_parquet(folder / "part-0.parquet", index=False, row_group_size=50)
    frame.iloc[middle:].to_parquet(folder / "part-1.parquet", index=False, row_group_size=50)
    return folder


def assert_same_run(model, X, y, X_unlabeled, files):
    in_memory = PseudoLabelClassifier(**model, random_state=0).fit(X, y, X_unlabeled)
    from_files = PseudoLabelClassifier(**model, random_state=0).fit(X, y, files)
    assert (in_memory.labeled_iter_ > 0).sum() > 20  # something was pseudo-labeled
    assert_array_equal(in_memory.transduction_, from_files.transduction_)
    assert_array_equal(in_memory.labeled_iter_, from_files.labeled_iter_)
    assert_allclose(in_memory.predict_proba(X), from_files.predict_proba(X), rtol=1e-5)
    pd.testing.assert_frame_equal(
        in_memory.samples_.reset_index(drop=True), from_files.samples_.reset_index(drop=True), rtol=1e-5
    )


@pytest.mark.parametrize("labeler", ["greedy", UPS(n_models=2), "flexmatch", SLA(n_models=2), CSA(n_models=5)], ids=str)
@pytest.mark.parametrize("curator", ["auto", "dips", "none"])
def test_frames(folder, labeler, curator):
    X, y = patients()
    model = {"estimator": SMALL_XGBOOST, "labeler": labeler, "curator": curator, "n_rounds": 3}
    assert_same_run(model, X[:100], y[:100], X[100:], write(folder, X[100:]))


def test_arrays(folder):
    frame, y = patients()
    frame = frame[["a", "b"]]
    X = frame.to_numpy()
    model = {"estimator": SMALL_XGBOOST, "n_rounds": 3}
    assert_same_run(model, X[:100], y[:100], X[100:], ParquetPool(write(folder, frame[100:])))


def test_polars_frames(folder):
    pl = pytest.importorskip("polars")
    frame, y = patients()
    frame["group"] = frame["group"].astype(str)
    X = pl.from_pandas(frame)
    model = {"estimator": SMALL_XGBOOST, "n_rounds": 3}
    assert_same_run(model, X[:100], y[:100], X[100:], write(folder, frame[100:]))


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("last", [GradientBoostingClassifier(n_estimators=10), MLPClassifier((8,), max_iter=15)])
def test_pipelines(folder, last):
    X, y = patients()
    X["b"] = X["b"].fillna(0)
    encode = make_column_transformer((StandardScaler(), ["a", "b"]), (OneHotEncoder(), ["ward", "group"]))
    model = {"estimator": make_pipeline(encode, last), "n_rounds": 3, "curator": "dips"}
    assert_same_run(model, X[:100], y[:100], X[100:], write(folder, X[100:]))


def test_sample_weights(folder):
    X, y = patients()
    weight = np.random.RandomState(0).uniform(0.5, 2, 100)
    in_memory = PseudoLabelClassifier(SMALL_XGBOOST, n_rounds=3, random_state=0)
    from_files = PseudoLabelClassifier(SMALL_XGBOOST, n_rounds=3, random_state=0)
    in_memory.fit(X[:100], y[:100], X[100:], sample_weight=weight)
    from_files.fit(X[:100], y[:100], write(folder, X[100:]), sample_weight=weight)
    assert_array_equal(in_memory.transduction_, from_files.transduction_)


def test_a_text_seen_only_in_the_files_has_a_rank_of_its_own(folder):
    X, y = patients()
    X.loc[200:220, "ward"] = "attic"
    model = PseudoLabelClassifier(SMALL_XGBOOST, n_rounds=2, random_state=0)
    model.fit(X[:100], y[:100], write(folder, X[100:]))
    assert model.encoder_.categories_[2] == ["attic", "east", "north", "south"]


@pytest.mark.parametrize("written", ["category", str])
def test_native_categories_seen_only_in_the_files(folder, written):
    X, _ = patients()
    y = (X["ward"] == "south").to_numpy()  # so that trees split by ward
    labeled, rest = X[["a", "ward"]][:100].astype({"ward": "category"}), X[["a", "ward"]][100:]
    rest.loc[200:, "ward"] = "west"
    files = write(folder, rest.astype({"ward": written}))
    model = {"estimator": clone(SMALL_XGBOOST).set_params(enable_categorical=True), "n_rounds": 3}
    assert_same_run(model, labeled, y[:100], rest.astype({"ward": "category"}), files)


def test_categories_that_are_numbers_in_the_files(folder):
    X, y = patients()
    X["ward"] = X["ward"].map({"north": 1, "south": 2, "east": 3})
    labeled, rest = X[["a", "ward"]][:100].astype({"ward": "category"}), X[["a", "ward"]][100:]
    rest.loc[200:, "ward"] = 4
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["ward"]), remainder="passthrough")
    model = {"estimator": make_pipeline(encode, SMALL_XGBOOST), "n_rounds": 3}
    assert_same_run(model, labeled, y[:100], rest.astype({"ward": "category"}), write(folder, rest))


@pytest.mark.parametrize("settings", [{}, {"enable_categorical": True}], ids=["encoded", "native"])
def test_ordered_categories(folder, settings):
    X, y = patients()
    X["ward"] = pd.Categorical(X["ward"], ["south", "north", "east"], ordered=True)
    X = X.drop(columns="group")
    model = {"estimator": clone(SMALL_XGBOOST).set_params(**settings), "n_rounds": 3}
    assert_same_run(model, X[:100], y[:100], X[100:], write(folder, X[100:]))


def test_a_value_with_no_place_in_the_order_is_refused(folder):
    X, y = patients()
    labeled = X[:100].assign(ward=pd.Categorical(X["ward"][:100], ["south", "north", "east"], ordered=True))
    files = write(folder, X[100:].assign(ward="attic"))
    with pytest.raises(ValueError, match=r"'ward' holds categories among the unlabeled .* do not have: 'attic'"):
        PseudoLabelClassifier(SMALL_XGBOOST).fit(labeled, y[:100], files)


def test_infinite_values_are_refused_before_any_work(folder):
    X, y = patients()
    X.loc[390, "b"] = np.inf
    model = PseudoLabelClassifier(SMALL_XGBOOST, random_state=0)
    with pytest.raises(ValueError, match=r"contains infinity .* in column\(s\) \['b'\]"):
        model.fit(X[:100], y[:100], write(folder, X[100:]))


def test_texts_where_the_labeled_rows_have_numbers_are_refused(folder):
    X, y = patients()
    files = write(folder, X[100:].assign(a="high"))
    with pytest.raises(ValueError, match="Column 'a' holds numbers among the labeled and texts among the unlabeled"):
        PseudoLabelClassifier(SMALL_XGBOOST).fit(X[:100], y[:100], files)


def test_arrays_of_numbers_are_not_copied_into_one():
    X, _ = make_quadrants(300, random_state=0)
    model = PseudoLabelClassifier(SMALL_XGBOOST)
    pool, _ = model._make_pool(SMALL_XGBOOST, X[:100], X[100:])
    assert [np.shares_memory(part.X, X) for part in pool.parts] == [True, True]
