import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier
from dips._beliefs.synthetic_rows import draw_sources, mixed, with_synthetic_rows
from dips._rounds.training import FitParams, Trainer
from dips.datasets import flip_labels


def trainer(X, **settings):
    return Trainer(LogisticRegression(), X, 2, settings.pop("weights", None), np.random.RandomState(0), **settings)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_synthetic_row_of_a_frame_has_the_values_and_types_of_its_sources(make):
    table = make({"a": [1, 2, 3], "b": ["x", "y", "z"], "c": [0.5, 1.5, 2.5]})
    synthetic = mixed(table, np.array([[2, 0, 1], [2, 2, 2]]))
    assert [list(synthetic[name]) for name in "abc"] == [[3, 3], ["x", "z"], [1.5, 2.5]]
    assert list(synthetic.dtypes) == list(table.dtypes)


def test_rows_of_a_frame_may_share_their_names_and_columns_may_be_called_by_numbers():
    table = pd.DataFrame({7: [1, 2], 8: pd.Categorical(["x", "y"])}, index=["same", "same"])
    synthetic = mixed(table, np.array([[0, 1], [1, 0]]))
    assert synthetic[8].tolist() == ["y", "x"]
    assert synthetic[8].dtype == table[8].dtype


def test_most_values_are_of_the_row_itself_and_the_others_of_a_near_one():
    columns = np.repeat([0.0, 100.0], 10)[:, None] + np.random.RandomState(0).normal(size=(20, 4))
    base, sources = draw_sources(columns, 4, 500, np.random.RandomState(0))
    is_own = sources == base[:, None]
    assert 0.6 < is_own.mean() < 0.8
    assert ((sources < 10) == (base < 10)[:, None]).all()


def test_synthetic_rows_weigh_as_the_rows_they_are_made_from():
    X, weights = np.random.RandomState(0).normal(size=(30, 3)), np.repeat([0.0, 2.0], 15)
    over, synthetic = with_synthetic_rows(trainer(X, weights=weights), np.arange(30), 200)
    assert synthetic.tolist() == list(range(30, 230))
    assert set(over.sample_weight[synthetic]) == {0.0, 2.0}
    assert over.pool.take(synthetic).shape == (200, 3)


@pytest.mark.parametrize(
    ("X", "settings"),
    [
        (np.zeros((30, 3)), {"fit_params": FitParams(by_row={"base_margin": np.zeros(30)})}),
        (sp.csr_matrix(np.eye(30)), {}),
        (np.zeros((30, 1)), {}),
        (np.zeros((3, 3)), {}),
        (np.array([["a", "b"]] * 30, dtype=object), {}),
    ],
    ids=["something for each row", "sparse", "one column", "too few rows", "texts"],
)
def test_no_rows_are_made_where_a_row_is_more_than_its_columns_or_they_cannot_be_compared(X, settings):
    before = trainer(X, **settings)
    over, synthetic = with_synthetic_rows(before, np.arange(X.shape[0]), 200)
    assert over is before
    assert synthetic.size == 0


def task(seed, n=300):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, 6))
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=n) > 0).astype(int)


def test_a_curated_model_learns_what_the_teachers_know_about_more_than_its_own_rows():
    X, y = task(0, 100)
    noisy, _ = flip_labels(y, 0.2, random_state=0)
    X_test, y_test = task(1, 2000)
    backbone = XGBClassifier(n_estimators=200, learning_rate=0.05, max_depth=3, n_jobs=1)
    curated = CuratedClassifier(backbone, random_state=0).fit(X, noisy)
    supervised = XGBClassifier(**backbone.get_params()).fit(X, noisy)
    gain = log_loss(y_test, supervised.predict_proba(X_test)) - log_loss(y_test, curated.predict_proba(X_test))
    assert gain > 0.1


def test_the_account_has_the_rows_of_the_user_alone():
    X, y = task(0)
    y[100:] = -1
    model = PseudoLabelClassifier(LogisticRegression(), random_state=0).fit(X, y)
    assert len(model.samples_) == 300
    assert (model.samples_["source"] == "pseudo").sum() == 200
