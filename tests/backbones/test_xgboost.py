from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from dips import PseudoLabelClassifier
from dips.backbones import find_backbone
from dips.exceptions import InputError

from .families import E, fit_and_watch, slow_xgboost, table, xgboost

pytest.importorskip("xgboost")


def log_odds(y, margin):
    p = 1 / (1 + np.exp(-margin))
    return p - y, p * (1 - p)


@pytest.mark.parametrize(
    ("n_classes", "settings"),
    [
        (2, {"booster": "dart", "rate_drop": 0.5}),
        (3, {"booster": "dart", "rate_drop": 0.5}),
        (2, {"num_parallel_tree": 3}),
        (3, {"num_parallel_tree": 3}),
        (2, {"base_score": 0.2}),
        (2, {"base_score": None}),  # estimated from the data
        (3, {"objective": "multi:softmax"}),
        (2, {"objective": log_odds}),
        (3, {"tree_method": "exact"}),
        (2, {"grow_policy": "lossguide", "max_leaves": 4}),
        (2, {"scale_pos_weight": 5}),
        (2, {"max_depth": 0, "grow_policy": "lossguide", "max_leaves": 2}),
    ],
    ids=lambda value: str(value).partition(" at 0x")[0],
)
def test_settings_that_change_how_trees_add_up_are_replayed_right(n_classes, settings):
    X, y, X_watch = table(n_classes)
    dynamics = fit_and_watch(xgboost(**settings), X, y, X_watch)
    assert dynamics.n_checkpoints == E  # a round is a checkpoint, however many trees it grows
    expected = slow_xgboost(lambda: xgboost(**settings), X, y, X_watch)
    assert_allclose(dynamics.trajectories, np.stack(expected, axis=1), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_intercept_of_unbalanced_classes_is_counted_once(n_classes):
    X, y, X_watch = table(n_classes)
    few = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y != 0)[:8]]
    dynamics = fit_and_watch(xgboost(), X[few], y[few], X_watch)
    expected = slow_xgboost(xgboost, X[few], y[few], X_watch)
    assert_allclose(dynamics.trajectories, np.stack(expected, axis=1), atol=1e-6)


def with_holes(X, share=0.3):
    return np.where(np.random.RandomState(0).uniform(size=X.shape) < share, np.nan, X)


@pytest.mark.parametrize(
    ("encode", "settings"),
    [
        (with_holes, {}),
        (lambda X: np.where(np.isnan(with_holes(X)), -999, X), {"missing": -999}),
        (lambda X: sp.csr_matrix(np.where(abs(X) < 0.5, 0, X)), {}),
        (lambda X: X.astype(np.float32), {}),
        (lambda X: pd.DataFrame(X, columns=list("abcdef")), {}),
        (
            lambda X: pd.DataFrame(X).assign(c=pd.Categorical(np.where(X[:, 0] > 0, "u", "v"))),
            {"enable_categorical": True},
        ),
    ],
    ids=["missing", "missing marked", "sparse", "single precision", "frame", "categories"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_table_xgboost_reads_can_be_watched(encode, settings, n_classes):
    X, y, X_watch = table(n_classes)
    X, X_watch = encode(X), encode(X_watch)
    dynamics = fit_and_watch(xgboost(**settings), X, y, X_watch)
    expected = slow_xgboost(lambda: xgboost(**settings), X, y, X_watch)
    assert_allclose(dynamics.trajectories, np.stack(expected, axis=1), atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, False),
        ({"enable_categorical": True}, True),
        ({"monotone_constraints": {"a": 1}}, True),
        ({"monotone_constraints": (1, 0)}, False),
        ({"monotone_constraints": "(1, 0)"}, False),
        ({"interaction_constraints": [["a", "b"]]}, True),
        ({"interaction_constraints": "[[0, 1]]"}, False),
    ],
    ids=str,
)
def test_frames_are_wanted_as_they_are_with_native_categories_or_named_columns(settings, expected):
    assert find_backbone(xgboost()).reads_frames(xgboost(**settings)) == expected


@pytest.mark.parametrize(
    "settings", [{"monotone_constraints": {"a": -1}}, {"interaction_constraints": [["a", "b"], ["c"]]}], ids=str
)
def test_constraints_may_name_columns(settings):
    X, y, _ = table(2)
    frame = pd.DataFrame(X[:, :3], columns=list("abc"))
    y = np.where(np.arange(y.size) < 40, y, -1)
    model = PseudoLabelClassifier(xgboost(**settings), n_rounds=2, random_state=0).fit(frame, y)
    rising = pd.DataFrame({"a": np.linspace(-3, 3, 20), "b": 0.0, "c": 0.0})
    p = model.predict_proba(rising)[:, 1]
    assert "monotone_constraints" not in settings or (np.diff(p) <= 0).all()


def test_a_linear_booster_is_refused():
    with pytest.raises(ValueError, match="has no learning dynamics") as error:
        fit_and_watch(xgboost(booster="gblinear"), *table(2))
    assert str(error.value) == (
        'XGBClassifier(booster="gblinear") cannot be replayed round by round, so it has no learning dynamics; '
        'use booster="gbtree", or curator="auto".'
    )


def test_a_random_forest_is_refused():
    from xgboost import XGBRFClassifier

    with pytest.raises(ValueError, match="XGBRFClassifier is a random forest, not trained step by step, so it has no"):
        fit_and_watch(XGBRFClassifier(n_jobs=1), *table(2))


@pytest.mark.parametrize("save_best", [False, True])
def test_a_callback_that_stops_early_is_refused_unless_only_the_best_rounds_stay(save_best):
    from xgboost.callback import EarlyStopping

    estimator = xgboost(callbacks=[EarlyStopping(2, save_best=save_best)])
    if save_best:
        find_backbone(estimator).check(estimator)
    else:
        with pytest.raises(ValueError, match=r"EarlyStopping\(...\)\]\) grows rounds that its predictions leave out"):
            find_backbone(estimator).check(estimator)


def test_an_objective_without_probabilities_is_refused():
    with pytest.raises(ValueError, match=r"XGBClassifier\(objective='binary:hinge'\) gives no probabilities; use one"):
        fit_and_watch(xgboost(objective="binary:hinge"), *table(2))


def test_numbers_too_large_for_it_are_told_in_a_sentence():
    X, y, _ = table(2)
    with pytest.raises(InputError, match=r"^X holds numbers beyond 3.4e38, the largest that XGBoost computes with"):
        fit_and_watch(xgboost(), X * 1e39, y, X)
    with pytest.raises(InputError, match=r"^X holds numbers beyond 3.4e38"):
        find_backbone(xgboost()).fit_batches(xgboost(), lambda: iter([(slice(None), X * 1e39)]), y, None)


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, "0"), (2, "2")])
def test_threads_are_given_back_to_the_booster(n_jobs, expected):
    X, y, _ = table(2)
    fitted = xgboost(n_jobs=1).fit(X, y)
    find_backbone(fitted).release_threads(fitted, xgboost(n_jobs=n_jobs))
    assert fitted.n_jobs == n_jobs
    assert json.loads(fitted.get_booster().save_config())["learner"]["generic_param"]["nthread"] == expected


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_training_on_batches_is_training_on_the_table(n_classes, weighted):
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(900, 4)).astype(np.float32), rng.randint(n_classes, size=900)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    weights = rng.uniform(0.5, 2, 900) if weighted else None
    whole, in_batches = (xgboost(subsample=0.8, n_jobs=1, random_state=0) for _ in range(2))
    backbone = find_backbone(whole)
    backbone.fit(whole, X, y, weights)
    places = [slice(start, start + 128) for start in range(0, 900, 128)]
    assert backbone.takes_batches(in_batches)
    backbone.fit_batches(in_batches, lambda: ((place, X[place]) for place in places), y, weights)
    assert_array_equal(in_batches.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize(
    "settings", [{"booster": "dart"}, {"tree_method": "exact"}, {"objective": log_odds}, {"eval_metric": "auc"}]
)
def test_other_settings_are_not_trained_on_batches(settings):
    estimator = xgboost(**settings)
    assert not find_backbone(estimator).takes_batches(estimator)


@pytest.mark.parametrize("missing", [np.nan, 0.0, -999.0])
def test_a_stored_model_knows_which_value_is_missing(tmp_path, missing):
    X, y, _ = table(2)
    X = np.where(X > 1, missing, X)
    fitted = xgboost(missing=missing).fit(X, y)
    backbone = find_backbone(fitted)
    backbone.save(fitted, tmp_path / "model.ubj")
    loaded = backbone.load(tmp_path / "model.ubj")
    assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert not fitted.get_booster().attributes()
