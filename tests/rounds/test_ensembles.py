"""Several models at a time: the members of an ensemble, and how they share threads and memory."""

from __future__ import annotations

import os
import tracemalloc

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dips._tools.seeds import draw_seed

from .trainers import Memory, pool, trainer


@pytest.mark.parametrize("n_models", [2, 5])
def test_moments_are_those_of_all_members_at_once(n_models):
    X, y = pool()
    rows, targets = np.arange(40), np.arange(40, 60)
    estimator = SGDClassifier(loss="log_loss", max_iter=3, tol=None)
    moments = trainer(estimator, X).ensemble(rows, y[rows], targets, n_models)

    same = trainer(estimator, X)
    draws = [{"random_state": draw_seed(same.rng), **same.backbone.vary(estimator, same.rng)} for _ in range(n_models)]
    members = [clone(estimator).set_params(**drawn).fit(X[rows], y[rows]) for drawn in draws]
    p = [member.predict_proba(X[targets]) for member in members]
    assert moments.n_models == n_models
    assert_allclose(moments.mean, np.mean(p, axis=0), atol=1e-6)
    assert_allclose(moments.std, np.std(p, axis=0, ddof=1), atol=1e-6)


@pytest.mark.parametrize("wrap", [lambda e: e, lambda e: make_pipeline(StandardScaler(), e)], ids=["alone", "pipeline"])
@pytest.mark.filterwarnings("error:invalid value")
@pytest.mark.parametrize("module", ["xgboost", "lightgbm"])
def test_members_that_look_at_many_rows_say_what_their_library_says(module, wrap, monkeypatch):
    X, y = pool()
    rows, targets = np.arange(40), np.arange(60)
    name = {"xgboost": "XGBClassifier", "lightgbm": "LGBMClassifier"}[module]
    estimator = wrap(getattr(pytest.importorskip(module), name)(n_jobs=1))
    few = trainer(estimator, X).ensemble(rows, y[rows], targets, 3)
    monkeypatch.setattr("dips.backbones._base._MANY_ROWS", 1)
    many = trainer(estimator, X).ensemble(rows, y[rows], targets, 3)
    assert_allclose(many.mean, few.mean, atol=1e-5)
    assert_allclose(many.std, few.std, atol=1e-5)


def test_members_that_are_alike_have_no_spread():
    X, y = pool()
    moments = trainer(GaussianNB(), X).ensemble(np.arange(40), y[:40], np.arange(60), n_models=7)
    assert (moments.std == 0).all()


def test_targets_are_looked_at_a_few_at_a_time_with_the_same_result(monkeypatch):
    X, y = pool()
    rows, targets = np.arange(40), np.array([3, 8, 22, 41, 59])
    whole = trainer(Memory(), X).ensemble(rows, y[rows], targets, 3)
    monkeypatch.setattr("dips._data.pool.BATCH", 2)
    in_parts = trainer(Memory(), X).ensemble(rows, y[rows], targets, 3)
    assert_array_equal(whole.mean, in_parts.mean)
    assert_array_equal(whole.std, in_parts.std)


def test_the_longest_members_begin_first():
    X, y = pool()
    lengths = []

    class Noting(GradientBoostingClassifier):
        def fit(self, X, y, **fit_params):
            lengths.append(self.n_estimators * self.max_depth)
            self.set_params(n_estimators=1)
            return super().fit(X, y, **fit_params)

    trainer(Noting(), X).ensemble(np.arange(60), y, np.arange(60), n_models=6)
    assert lengths == sorted(lengths, reverse=True)
    assert len(set(lengths)) > 1


def test_members_of_few_rows_are_trained_on_one_thread_and_look_at_many_on_the_users():
    xgboost = pytest.importorskip("xgboost")
    X, y = np.zeros((100_000, 4)), pool()[1]
    X[:60] = pool()[0]
    threads = []

    class Noting(xgboost.XGBClassifier):
        def fit(self, X, y, **fit_params):
            threads.append(self.n_jobs)
            self.set_params(n_estimators=2)
            return super().fit(X, y, **fit_params)

        def predict_proba(self, X, **settings):
            threads.append(self.n_jobs)
            return super().predict_proba(X, **settings)

    for n_jobs, expected in ((None, [1, None]), (2, [1, 1])):
        threads.clear()
        trainer(Noting(), X, n_jobs=n_jobs).ensemble(np.arange(60), y, np.arange(100), n_models=2)
        assert sorted(threads, key=str) == sorted(2 * expected, key=str)


def test_the_memory_of_an_ensemble_does_not_grow_with_its_members(monkeypatch):
    monkeypatch.setattr("dips._data.pool.BATCH", 1000)
    X, y = np.random.RandomState(0).normal(size=(50_000, 4)), pool()[1]
    peaks = []
    for n_models in (2, 12):
        train = trainer(GaussianNB(), X)
        tracemalloc.start()
        train.ensemble(np.arange(60), y, np.arange(50_000), n_models)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    moments = 2 * 50_000 * 3 * 4
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < 2 * moments


# Threads


def test_members_and_folds_do_not_depend_on_how_many_are_trained_at_once():
    X, y = pool()
    rows = np.arange(60)
    estimator = SGDClassifier(loss="log_loss", max_iter=3, tol=None)
    alone, together = trainer(estimator, X, n_jobs=1), trainer(estimator, X, n_jobs=2)
    assert_array_equal(alone.out_of_fold(rows, y, 4), together.out_of_fold(rows, y, 4))
    assert_array_equal(alone.ensemble(rows, y, rows, 3).mean, together.ensemble(rows, y, rows, 3).mean)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_threads_share_the_pool_whatever_backend_surrounds_them(backend):
    X, y = pool()
    seen = []

    class Noting(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.append(os.getpid())
            return super().fit(X, y, sample_weight)

    with parallel_config(backend, n_jobs=2):
        trainer(Noting(), X).ensemble(np.arange(40), y[:40], np.arange(40, 60), n_models=2)
    assert seen == [os.getpid()] * 2


@pytest.mark.parametrize("wrap", [lambda e: e, lambda e: make_pipeline(StandardScaler(), e)], ids=["alone", "pipeline"])
@pytest.mark.parametrize(
    ("module", "name", "parameter"),
    [
        ("xgboost", "XGBClassifier", "n_jobs"),
        ("lightgbm", "LGBMClassifier", "n_jobs"),
        ("catboost", "CatBoostClassifier", "thread_count"),
    ],
)
def test_models_trained_side_by_side_use_one_thread_each(module, name, parameter, wrap):
    estimator = wrap(getattr(pytest.importorskip(module), name)())
    train = trainer(estimator, n_jobs=2)
    together, alone = (train._prepared(0, n_rows=10**6, alone=alone).get_params() for alone in (False, True))
    assert [v for k, v in together.items() if k.endswith(parameter)] == [1]
    assert [v for k, v in alone.items() if k.endswith(parameter) and v is not None] == []


@pytest.mark.parametrize(("module", "name"), [("xgboost", "XGBClassifier"), ("lightgbm", "LGBMClassifier")])
def test_a_small_table_is_trained_on_one_thread_and_predicted_on_the_users(module, name):
    cls = getattr(pytest.importorskip(module), name)
    X, y = pool()
    rows = np.arange(y.size)
    for given in (None, 2):
        train = trainer(cls(n_estimators=2, n_jobs=given), X)
        assert train._prepared(0, y.size).get_params()["n_jobs"] == (given or 1)
        assert train.fit(rows, y).get_params()["n_jobs"] == given


def test_nets_are_trained_one_after_another():
    pytest.importorskip("skorch")
    import torch
    from skorch import NeuralNetClassifier

    assert trainer(NeuralNetClassifier(torch.nn.Linear), n_jobs=2)._n_workers() == 1
