from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from dips.backbones import find_backbone

from .families import E, catboost, fit_and_watch, slow_catboost, table

pytest.importorskip("catboost")


@pytest.mark.parametrize(
    ("n_classes", "settings"),
    [
        (2, {"boosting_type": "Ordered"}),
        (2, {"grow_policy": "Lossguide"}),
        (2, {"auto_class_weights": "Balanced"}),
    ],
    ids=str,
)
def test_settings_that_change_how_trees_add_up_are_replayed_right(n_classes, settings):
    X, y, X_watch = table(n_classes)
    dynamics = fit_and_watch(catboost(**settings), X, y, X_watch)
    expected = slow_catboost(lambda **quiet: catboost(**settings, **quiet), X, y, X_watch)
    assert dynamics.n_checkpoints == E
    assert_allclose(dynamics.trajectories, np.stack(expected, axis=1), atol=1e-6)


def test_probabilities_of_one_class_against_the_rest_are_made_to_add_up_to_one():
    X, y, X_watch = table(3)
    settings = {"loss_function": "MultiClassOneVsAll"}
    estimator = catboost(**settings)
    dynamics = fit_and_watch(estimator, X, y, X_watch)
    expected = np.stack(slow_catboost(lambda **quiet: catboost(**settings, **quiet), X, y, X_watch), axis=1)
    assert_allclose(dynamics.trajectories, expected / expected.sum(axis=2, keepdims=True), atol=1e-6)
    assert_allclose(find_backbone(estimator).predict_proba(estimator, X_watch), dynamics.probabilities, atol=1e-6)


@pytest.mark.parametrize(
    ("encode", "settings"),
    [
        (lambda X: np.where(np.random.RandomState(0).uniform(size=X.shape) < 0.3, np.nan, X), {}),
        (lambda X: sp.csr_matrix(np.where(abs(X) < 0.5, 0, X)), {}),
        (
            lambda X: pd.DataFrame(X, columns=list("abcdef")).assign(c=np.where(X[:, 0] > 0, "u", "v")),
            {"cat_features": ["c"]},
        ),
    ],
    ids=["missing", "sparse", "categories"],
)
def test_any_table_catboost_reads_can_be_watched(encode, settings):
    X, y, X_watch = table(2)
    X, X_watch = encode(X), encode(X_watch)
    dynamics = fit_and_watch(catboost(**settings), X, y, X_watch)
    expected = slow_catboost(lambda **quiet: catboost(**settings, **quiet), X, y, X_watch)
    assert_allclose(dynamics.trajectories, np.stack(expected, axis=1), atol=1e-6)


def test_frames_are_wanted_as_they_are_only_with_declared_columns():
    backbone = find_backbone(catboost())
    assert not backbone.reads_frames(catboost())
    assert backbone.reads_frames(catboost(cat_features=["ward"]))
    assert backbone.reads_frames(catboost(text_features=["notes"]))


def test_a_user_who_asks_catboost_to_talk_and_write_is_heard():
    backbone = find_backbone(catboost())
    assert backbone.quiet_parameters(catboost()) == {"allow_writing_files": False, "verbose": False}
    for name, value in [("verbose", 10), ("silent", False), ("logging_level", "Info")]:
        asked = catboost(**{name: value}, allow_writing_files=True)
        assert backbone.quiet_parameters(asked) == {}


def test_settings_keep_the_name_under_which_they_were_given():
    from catboost import CatBoostClassifier

    backbone = find_backbone(catboost())
    given = CatBoostClassifier(n_estimators=5, max_depth=2, eta=0.1, random_state=1)
    assert backbone.seed_parameters(given) == ["random_state"]
    assert backbone.seed_parameters(catboost()) == ["random_seed"]
    varied = backbone.vary(given, np.random.RandomState(0))
    assert set(varied) == {"max_depth", "eta", "n_estimators", "rsm"}
    assert varied["max_depth"] <= 8
    given.set_params(**varied | {"n_estimators": 2}, **backbone.quiet_parameters(given)).fit(*table(2)[:2])


def test_a_copy_predicts_on_the_threads_that_it_is_told(monkeypatch):
    X, y, X_watch = table(2)
    fitted = catboost(thread_count=1).fit(X, y)
    backbone = find_backbone(fitted)
    told = pickle.loads(pickle.dumps(backbone.on_threads(fitted, 3)))  # as it is sent to another process
    asked, predict_proba = [], type(fitted).predict_proba
    monkeypatch.setattr(
        type(fitted), "predict_proba", lambda *a, **kw: asked.append(kw["thread_count"]) or predict_proba(*a, **kw)
    )
    assert_allclose(backbone.predict_proba(told, X_watch), backbone.predict_proba(fitted, X_watch), atol=0)
    assert asked == [3, 1]
    assert backbone.n_threads(told) == 3
