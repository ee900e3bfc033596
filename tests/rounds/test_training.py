from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dips._dynamics import Dynamics
from dips._rounds.training import Trainer

from .trainers import Memory, pool, trainer


@pytest.fixture(autouse=True)
def _forget():
    Memory.fits.clear()


# One model


def test_a_clone_is_fitted_on_the_given_rows_alone():
    X, y = pool()
    estimator = Memory()
    rows = np.array([3, 1, 4, 15, 9, 2])
    fitted = trainer(estimator, X).fit(rows, y[rows])
    assert fitted.seen_ == {i: y[i] for i in rows}
    assert not hasattr(estimator, "seen_")


def test_the_whole_pool_is_watched():
    X, y = pool()
    rows = np.arange(30)
    dynamics = Dynamics(60, 3, track=[59])
    fitted = trainer(GradientBoostingClassifier(n_estimators=4), X).fit(rows, y[rows], dynamics)
    stages = np.stack(list(fitted.staged_predict_proba(X)), axis=1)
    assert_allclose(dynamics["confidence"], stages.mean(axis=1))
    assert_array_equal(dynamics.trajectories, stages[[59]])


def test_weights_go_with_their_rows():
    X, y = pool()
    weight = np.arange(60.0)
    rows = np.array([5, 50, 7])
    trainer(Memory(), X, sample_weight=weight).fit(rows, y[rows])
    assert_array_equal(Memory.fits[0]["weight"], [5, 50, 7])


def test_rows_are_predicted_by_position():
    X, y = pool()
    train = trainer(GaussianNB(), X)
    fitted = train.fit(np.arange(60), y)
    assert_allclose(train.predict(fitted, np.array([3, 8])), fitted.predict_proba(X[[3, 8]]), rtol=1e-6)


# Seeds


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingClassifier(n_estimators=3, subsample=0.5),
        SGDClassifier(loss="log_loss", max_iter=5, tol=None),
        make_pipeline(StandardScaler(), MLPClassifier((4,), max_iter=3)),
    ],
    ids=["boosting", "sgd", "pipeline"],
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")  # few epochs
def test_one_random_state_gives_one_result(estimator):
    X, y = pool()
    rows = np.arange(60)

    def everything(seed):
        train, dynamics = trainer(estimator, X, seed=seed), Dynamics(60, 3)
        train.fit(rows, y, dynamics)
        return dynamics["confidence"], train.out_of_fold(rows, y, 3)

    for first, second, other in zip(everything(1), everything(1), everything(2), strict=True):
        assert_array_equal(first, second)
        assert abs(first - other).max() > 1e-9


def test_every_fit_has_a_seed_of_its_own():
    X, y = pool()
    train = trainer(Memory(), X)
    for _ in range(3):
        train.fit(np.arange(60), y)
    assert len({fit["seed"] for fit in Memory.fits}) == 3


def test_the_users_seed_stays_except_in_an_ensemble():
    X, y = pool()
    rows = np.arange(60)
    train = trainer(Memory(random_state=7), X)
    train.fit(rows, y)
    train.out_of_fold(rows, y, 3)
    assert {fit["seed"] for fit in Memory.fits} == {7}
    Memory.fits.clear()
    train.ensemble(rows, y, rows, n_models=4)
    assert len({fit["seed"] for fit in Memory.fits}) == 4


# Folds


def test_an_out_of_fold_probability_comes_from_a_model_that_did_not_see_the_row():
    X, y = pool()
    rows = np.arange(0, 60, 2)
    p = trainer(Memory(), X).out_of_fold(rows, y[rows], n_folds=5)
    assert_allclose(p, 1 / 3)  # Memory would be certain of a row it has seen
    assert len(Memory.fits) == 5
    held_out = [set(rows) - fit["rows"] for fit in Memory.fits]
    assert sorted(i for fold in held_out for i in fold) == rows.tolist()


def test_folds_are_stratified():
    X, y = pool()
    rows = np.arange(60)
    trainer(Memory(), X).out_of_fold(rows, y, n_folds=5)
    for fit in Memory.fits:
        held_out = sorted(set(rows) - fit["rows"])
        assert np.bincount(y[held_out]).tolist() == [4, 4, 4]


def test_every_fold_is_trained_on_the_only_row_of_a_class():
    X, y = pool()
    y = np.where(np.arange(60) == 10, 2, y % 2)
    rows = np.arange(60)
    p = trainer(Memory(), X).out_of_fold(rows, y, n_folds=3)
    assert_array_equal(p[10], [0, 0, 1])
    assert_allclose(np.delete(p, 10, axis=0), 1 / 3)
    assert all(10 in fit["rows"] for fit in Memory.fits)


def test_two_rows_of_two_classes_are_both_trained_on():
    X, _ = pool()
    p = trainer(Memory(), X, n_classes=2).out_of_fold(np.array([4, 5]), np.array([0, 1]), n_folds=2)
    assert_array_equal(p, np.eye(2))


@pytest.mark.parametrize("wanted", [2, 3])
def test_a_class_with_two_rows_is_in_every_training_part(wanted):
    X, y = pool()
    y = np.where(np.isin(np.arange(60), np.arange(10, 10 + wanted)), 2, y % 2)
    trainer(Memory(), X).out_of_fold(np.arange(60), y, n_folds=5)
    assert all(any(y[int(i)] == 2 for i in fit["rows"]) for fit in Memory.fits)


def told_of_three_classes(name):
    if name == "net":
        import torch
        from skorch import NeuralNetClassifier

        net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Softmax(dim=-1))
        return NeuralNetClassifier(net, max_epochs=1, train_split=None)
    if name == "xgboost":
        return pytest.importorskip(name).XGBClassifier(n_estimators=2, objective="multi:softprob", num_class=3)
    if name == "lightgbm":
        return pytest.importorskip(name).LGBMClassifier(n_estimators=2, objective="multiclass", num_class=3)
    return pytest.importorskip(name).CatBoostClassifier(iterations=2, class_weights=[1, 2, 3])


@pytest.mark.parametrize("name", ["net", "xgboost", "lightgbm", "catboost"])
def test_a_backbone_that_was_told_of_every_class_finds_them_in_every_fold(name):
    if name == "net":
        pytest.importorskip("skorch")
    X, y = pool()
    y = np.where(np.arange(60) == 10, 2, y % 2)
    p = trainer(told_of_three_classes(name), X).out_of_fold(np.arange(60), y, n_folds=3)
    assert_allclose(p.sum(axis=1), 1, atol=1e-5)


# What is no probability


class Claiming(Memory):
    """Gives every row the same, whatever it is."""

    def __init__(self, claims=(0.5, 0.5), random_state=None):
        self.claims = claims
        super().__init__(random_state)

    def predict_proba(self, X):
        return np.tile(self.claims, (len(X), 1))


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ((-2.0, 3.0), r"from -2 to 3 whose sum .* off 1 by up to 0; a network must end in a softmax"),
        ((0.4, 0.4), "off 1 by up to 0.2; a network must end in a softmax"),
        ((np.nan, 1.0), "missing or infinite; if the table has missing values, begin a Pipeline with an imputer"),
        ((1.0,), r"shape \(60, 1\) for 60 rows and 2 classes"),
    ],
)
def test_what_is_no_probability_is_refused(claims, message):
    X, y = pool(n_classes=2)
    rows = np.arange(60)
    train = trainer(Claiming(claims), X, n_classes=2)
    with pytest.raises(ValueError, match=message):
        train.predict(train.fit(rows, y), rows)
    with pytest.raises(ValueError, match=message):
        train.ensemble(rows, y, rows, n_models=2)


# Batches


def test_many_rows_are_handed_to_xgboost_a_batch_at_a_time(monkeypatch):
    xgboost = pytest.importorskip("xgboost")
    X, y = np.random.RandomState(0).normal(size=(600, 3)), np.arange(600) % 2
    rows = np.arange(50, 600)

    def trained():
        trainer = Trainer(xgboost.XGBClassifier(n_estimators=5, n_jobs=1), X, 2, None, np.random.RandomState(0))
        return trainer.fit(rows, y[rows]).predict_proba(X)

    at_once, seen = trained(), []
    monkeypatch.setattr("dips._rounds.training.BATCH", 100)
    monkeypatch.setattr("dips._data.pool.BATCH", 100)
    next_batch = xgboost.QuantileDMatrix.__init__
    monkeypatch.setattr(
        xgboost.QuantileDMatrix, "__init__", lambda *a, **k: (seen.append(a[1]), next_batch(*a, **k))[1]
    )
    assert_array_equal(trained(), at_once)
    assert isinstance(seen[0], xgboost.DataIter)
