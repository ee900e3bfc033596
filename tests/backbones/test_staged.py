from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from dips import PseudoLabelClassifier
from dips.backbones import find_backbone

from .families import FAMILIES, ada_boost, fit_and_watch, gradient_boosting, hist_gradient_boosting, slow_staged, table


class MeanOfTrees(ClassifierMixin, BaseEstimator):
    """Somebody else's ensemble, which says nothing about how many stages it has."""

    def __init__(self, n_trees=4):
        self.n_trees = n_trees

    def fit(self, X, y):
        rng = np.random.RandomState(0)
        self.classes_ = np.unique(y)
        self.trees_ = []
        for _ in range(self.n_trees):
            rows = rng.choice(len(y), len(y))
            self.trees_.append(DecisionTreeClassifier(max_depth=2).fit(X[rows], y[rows]))
        return self

    def staged_predict_proba(self, X):
        total = np.zeros((len(X), self.classes_.size))
        for e, tree in enumerate(self.trees_, start=1):
            total += tree.predict_proba(X)
            yield total / e

    def predict_proba(self, X):
        return list(self.staged_predict_proba(X))[-1]


class ListOfStages(MeanOfTrees):
    def staged_predict_proba(self, X):
        return list(super().staged_predict_proba(X))


@pytest.mark.parametrize("cls", [MeanOfTrees, ListOfStages])
def test_any_class_that_replays_its_stages_can_be_watched(cls):
    X, y, X_watch = table(3)
    dynamics = fit_and_watch(cls(), X, y, X_watch)
    assert dynamics.n_checkpoints == 4
    assert_array_equal(dynamics.trajectories, np.stack(slow_staged(cls, X, y, X_watch), axis=1))
    assert_allclose(dynamics["confidence"], dynamics.trajectories.mean(axis=1))


def test_weights_are_refused_by_a_class_that_does_not_take_them():
    X, y, X_watch = table(2)
    with pytest.raises(ValueError, match="sample_weight was given, but MeanOfTrees has no use for it"):
        fit_and_watch(MeanOfTrees(), X, y, X_watch, np.ones(y.size))


def test_ada_boost_that_is_perfect_at_once_has_one_checkpoint():
    X, y, X_watch = table(2)
    X[:, 0] = y
    dynamics = fit_and_watch(ada_boost(n_estimators=20), X, y, X_watch)
    assert dynamics.n_checkpoints == 1
    assert_array_equal(dynamics["confidence"], dynamics.probabilities)


@pytest.mark.parametrize(
    "estimator",
    [
        gradient_boosting(n_estimators=200, n_iter_no_change=2),
        hist_gradient_boosting(max_iter=200, early_stopping=True, n_iter_no_change=2),
    ],
    ids=["gradient boosting", "hist gradient boosting"],
)
def test_early_stopping_leaves_fewer_checkpoints_and_they_all_count(estimator):
    X, y, X_watch = table(2)
    dynamics = fit_and_watch(estimator, X, y, X_watch)
    stages = np.stack(list(estimator.staged_predict_proba(X_watch)), axis=1)
    assert 1 < dynamics.n_checkpoints == stages.shape[1] < 200
    assert_allclose(dynamics["confidence"], stages.mean(axis=1), rtol=1e-5)


def test_exponential_loss_is_watched_too():
    X, y, X_watch = table(2)
    dynamics = fit_and_watch(gradient_boosting(loss="exponential"), X, y, X_watch)
    expected = slow_staged(lambda: gradient_boosting(loss="exponential"), X, y, X_watch)
    assert_allclose(dynamics.trajectories, np.stack(expected, axis=1))


@pytest.mark.parametrize("name", ["hist_gradient_boosting", "gradient_boosting", "ada_boost"])
def test_only_settings_that_an_estimator_has_are_varied(name):
    estimator = FAMILIES[name].estimator()
    varied = find_backbone(estimator).vary(estimator, np.random.RandomState(0))
    assert "learning_rate" in varied
    assert set(varied) <= set(estimator.get_params())
    estimator.set_params(**varied | {k: 3 for k in ("n_estimators", "max_iter") if k in varied}).fit(*table(2)[:2])


def test_a_column_that_is_all_missing_in_the_training_rows_is_no_obstacle():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(60, 3)), rng.randint(0, 2, 60)
    X[:, 1] = np.nan
    model = hist_gradient_boosting()
    find_backbone(model).fit(model, X, y)
    X[:, 1] = 7.0
    assert np.isfinite(model.predict_proba(X)).all()


def test_monotonic_columns_may_be_named():
    X, y, _ = table(2)
    frame = pd.DataFrame(X[:, :3], columns=list("abc"))
    y = np.where(np.arange(y.size) < 40, y, -1)
    boosting = hist_gradient_boosting(monotonic_cst={"a": -1}, min_samples_leaf=5)
    p = (
        PseudoLabelClassifier(boosting, n_rounds=2, random_state=0)
        .fit(frame, y)
        .predict_proba(pd.DataFrame({"a": np.linspace(-3, 3, 20), "b": 0.0, "c": 0.0}))
    )
    assert (np.diff(p[:, 1]) <= 0).all()
