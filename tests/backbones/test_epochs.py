from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from dips.backbones import find_backbone

from .families import SEED, E, fit_and_watch, mlp, sgd, table


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")  # few epochs
@pytest.mark.parametrize("solver", ["adam", "sgd"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("max_iter", [E, 60])
def test_watching_an_mlp_in_order_changes_nothing(solver, n_classes, max_iter):
    X, y, X_watch = table(n_classes)
    estimator = mlp(solver=solver, shuffle=False, max_iter=max_iter, tol=0.01, n_iter_no_change=3)
    plain = clone(estimator).fit(X, y)
    dynamics = fit_and_watch(estimator, X, y, X_watch)
    assert dynamics.n_checkpoints == plain.n_iter_
    assert_allclose(estimator.predict_proba(X_watch), plain.predict_proba(X_watch), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("settings", [{}, {"class_weight": "balanced"}, {"learning_rate": "invscaling", "eta0": 0.1}])
def test_watching_sgd_in_order_for_a_set_number_of_epochs_changes_nothing(n_classes, settings):
    X, y, X_watch = table(n_classes)
    estimator = sgd(shuffle=False, **settings)
    plain = clone(estimator).fit(X, y)
    fit_and_watch(estimator, X, y, X_watch)
    assert_allclose(estimator.predict_proba(X_watch), plain.predict_proba(X_watch), atol=1e-9)


def test_every_epoch_sees_the_rows_in_another_order():
    X, y, X_watch = table(2)
    shuffled = fit_and_watch(mlp(), X, y, X_watch)
    reseeded = mlp()
    for _ in range(E):
        reseeded.partial_fit(X, y, classes=[0, 1])  # scikit-learn's own: the same order every time
    assert abs(shuffled.probabilities - reseeded.predict_proba(X_watch)).max() > 1e-4


@pytest.mark.parametrize("make", [mlp, sgd])
def test_training_stops_when_its_loss_stops_falling(make):
    X, y, X_watch = table(2)
    dynamics = fit_and_watch(make(max_iter=500, tol=0.05, n_iter_no_change=2), X, y, X_watch)
    assert 2 < dynamics.n_checkpoints < 100


@pytest.mark.parametrize("make", [mlp, sgd])
@pytest.mark.parametrize("random_state", [SEED, None, np.random.RandomState(SEED)], ids=["int", "None", "RandomState"])
def test_the_random_state_is_given_back(make, random_state):
    X, y, X_watch = table(2)
    estimator = make(random_state=random_state)
    fit_and_watch(estimator, X, y, X_watch)
    assert estimator.get_params()["random_state"] is random_state


@pytest.mark.parametrize("make", [mlp, sgd])
def test_parameters_are_given_back_when_training_fails(make):
    X, y, X_watch = table(2)
    estimator = make()
    with pytest.raises(ValueError, match="inconsistent"):
        fit_and_watch(estimator, X[:-1], y, X_watch)
    assert estimator.get_params() == make().get_params()


def test_balanced_class_weights_are_those_of_all_rows():
    X, y, X_watch = table(2)
    few = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:6]]
    balanced, plain = sgd(class_weight="balanced"), sgd()
    for estimator in (balanced, plain):
        fit_and_watch(estimator, X[few], y[few], X_watch)
    assert balanced.predict_proba(X_watch)[:, 1].mean() > plain.predict_proba(X_watch)[:, 1].mean()
    assert balanced.get_params()["class_weight"] == "balanced"


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")  # few epochs
@pytest.mark.parametrize("make", [mlp, sgd])
def test_unwatched_it_is_the_estimators_own_fit(make):
    X, y, X_watch = table(2)
    estimator = make()
    find_backbone(estimator).fit(estimator, X, y)
    assert_array_equal(estimator.predict_proba(X_watch), make().fit(X, y).predict_proba(X_watch))


@pytest.mark.parametrize("name", ["MLPClassifier", "SGDClassifier"])
def test_early_stopping_on_held_out_rows_is_refused(name):
    make = {"MLPClassifier": mlp, "SGDClassifier": sgd}[name]
    with pytest.raises(ValueError, match="early_stopping") as error:
        fit_and_watch(make(early_stopping=True), *table(2))
    assert str(error.value) == (
        f"{name}(early_stopping=True) cannot be trained epoch by epoch; set early_stopping=False, "
        "training still stops when its loss stops falling (tol, n_iter_no_change)."
    )


def test_a_solver_without_epochs_is_refused():
    with pytest.raises(ValueError, match="lbfgs") as error:
        fit_and_watch(mlp(solver="lbfgs"), *table(2))
    assert str(error.value) == (
        'MLPClassifier(solver="lbfgs") is not trained in epochs, so it has no learning dynamics; '
        'use solver="adam" or "sgd", or curator="auto".'
    )


def test_a_loss_without_probabilities_is_refused():
    with pytest.raises(ValueError, match="probabilities") as error:
        fit_and_watch(sgd(loss="hinge"), *table(2))
    assert str(error.value) == (
        'SGDClassifier(loss=\'hinge\') gives no probabilities; use loss="log_loss" or "modified_huber".'
    )


def test_another_loss_with_probabilities_is_watched():
    X, y, X_watch = table(3)
    estimator = sgd(loss="modified_huber")
    dynamics = fit_and_watch(estimator, X, y, X_watch)
    assert_allclose(dynamics.probabilities, estimator.predict_proba(X_watch), rtol=1e-6)
