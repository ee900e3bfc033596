"""Families of one's own, written as the documentation shows them: a booster that can be replayed, a net in epochs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeRegressor

from dips import PseudoLabelClassifier, characterize, save_model
from dips.backbones import Backbone, StagedBackbone, find_backbone, register_backbone
from dips.exceptions import UserError

from .families import fit_and_watch, table


class TinyBoost(ClassifierMixin, BaseEstimator):
    """Boosted stumps for two classes."""

    def __init__(self, n_rounds=20):
        self.n_rounds = n_rounds

    def fit(self, X, y):
        self.classes_, self.trees_, score = np.unique(y), [], np.zeros(len(y))
        for _ in range(self.n_rounds):
            self.trees_.append(DecisionTreeRegressor(max_depth=1).fit(X, y - expit(score)))
            score += self.trees_[-1].predict(X)
        return self

    def predict_proba(self, X):
        p = expit(sum(tree.predict(X) for tree in self.trees_))
        return np.column_stack([1 - p, p])


class TinyBoosts(StagedBackbone):
    """Says how many checkpoints there are, and what the probabilities are at each."""

    handles = (TinyBoost,)

    def n_checkpoints(self, estimator, X):
        return len(estimator.trees_)

    def stages(self, estimator, X):
        score = np.zeros(len(X))
        for tree in estimator.trees_:
            score += tree.predict(X)
            yield np.column_stack([1 - expit(score), expit(score)])


class TinyNet(ClassifierMixin, BaseEstimator):
    """Softmax regression by gradient descent."""

    def __init__(self, n_epochs=20):
        self.n_epochs = n_epochs

    def fit(self, X, y):
        for _ in self.epochs(X, y):
            pass
        return self

    def epochs(self, X, y):
        self.classes_ = np.unique(y)
        self.weights_ = np.zeros((X.shape[1], self.classes_.size))
        for _ in range(self.n_epochs):
            self.weights_ += X.T @ (np.eye(self.classes_.size)[y] - self.predict_proba(X)) / len(y)
            yield

    def predict_proba(self, X):
        return softmax(X @ self.weights_, axis=1)


class TinyNets(Backbone):
    """Trains as the estimator does, and shows the probabilities after each epoch."""

    handles = (TinyNet,)

    def fit_watched(self, estimator, X, y, fit_params, watch):
        watch.begin(estimator.n_epochs)
        for _ in estimator.epochs(X, y):
            watch.update(estimator.predict_proba)
        watch.finish()


@pytest.fixture(params=[(TinyBoost, TinyBoosts), (TinyNet, TinyNets)], ids=["staged", "epochs"])
def own(request, forget_families):
    make, family = request.param
    register_backbone(family)
    assert isinstance(find_backbone(make()), family)
    return make


def test_every_checkpoint_is_seen(own):
    X, y, X_watch = table(2)
    dynamics = fit_and_watch(own(n := 7), X, y, X_watch)
    expected = [own(e).fit(X, y).predict_proba(X_watch) for e in range(1, n + 1)]
    assert dynamics.n_checkpoints == n
    assert_allclose(dynamics.trajectories, np.stack(expected, axis=1), atol=1e-6)
    assert_allclose(dynamics["confidence"], np.mean(expected, axis=0), atol=1e-6)


def test_it_can_be_used_wherever_a_backbone_can(own):
    X, y, X_new = table(2)
    model = PseudoLabelClassifier(own(), curator="small_loss", n_rounds=2, random_state=0)
    model.fit(X, np.where(np.arange(y.size) < 60, y, -1))
    assert model.predict_proba(X_new).shape == (len(X_new), 2)
    assert characterize(own(), X, y, curator="small_loss").samples["confidence"].between(0, 1).all()


def test_without_a_file_of_its_own_it_is_not_saved(own, tmp_path):
    X, y, _ = table(2)
    model = PseudoLabelClassifier(own(), curator="small_loss", n_rounds=2, random_state=0).fit(X, y)
    with pytest.raises(UserError, match=f"{own.__name__} can only be stored by pickle"):
        save_model(model, tmp_path / "model")
