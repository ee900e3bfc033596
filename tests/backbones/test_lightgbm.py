from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from dips.backbones import find_backbone

from .families import E, fit_and_watch, lightgbm, slow_lightgbm, table

pytest.importorskip("lightgbm")


@pytest.mark.parametrize(
    ("n_classes", "settings"),
    [
        (2, {"boosting_type": "dart", "drop_rate": 0.5}),
        (3, {"boosting_type": "dart", "drop_rate": 0.5}),
        (2, {"boost_from_average": False}),
        (2, {"is_unbalance": True}),
        (2, {"linear_tree": True}),
        (3, {"objective": "multiclass"}),
        (3, {"class_weight": "balanced"}),
    ],
    ids=str,
)
def test_settings_that_change_how_trees_add_up_are_replayed_right(n_classes, settings):
    X, y, X_watch = table(n_classes)
    dynamics = fit_and_watch(lightgbm(**settings), X, y, X_watch)
    expected = slow_lightgbm(lambda **quiet: lightgbm(**settings, **quiet), X, y, X_watch)
    assert dynamics.n_checkpoints == E
    assert_allclose(dynamics.trajectories, np.stack(expected, axis=1), atol=1e-6)


def test_probabilities_of_one_class_against_the_rest_are_made_to_add_up_to_one():
    X, y, X_watch = table(3)
    estimator = lightgbm(objective="multiclassova", verbosity=-1).fit(X, y)
    p, own = find_backbone(estimator).predict_proba(estimator, X_watch), estimator.predict_proba(X_watch)
    assert abs(own.sum(axis=1) - 1).max() > 1e-3
    assert_allclose(p, own / own.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    "encode",
    [
        lambda X: np.where(np.random.RandomState(0).uniform(size=X.shape) < 0.3, np.nan, X),
        lambda X: sp.csr_matrix(np.where(abs(X) < 0.5, 0, X)),
        lambda X: pd.DataFrame(X, columns=list("abcdef")),
        lambda X: pd.DataFrame(X).assign(c=pd.Categorical(np.where(X[:, 0] > 0, "u", "v"))).rename(columns=str),
    ],
    ids=["missing", "sparse", "frame", "categories"],
)
def test_any_table_lightgbm_reads_can_be_watched(encode):
    X, y, X_watch = table(3)
    X, X_watch = encode(X), encode(X_watch)
    dynamics = fit_and_watch(lightgbm(), X, y, X_watch)
    expected = slow_lightgbm(lightgbm, X, y, X_watch)
    assert_allclose(dynamics.trajectories, np.stack(expected, axis=1), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_table_too_small_to_split_has_one_checkpoint_that_knows_the_class_shares(n_classes):
    X, y, X_watch = table(n_classes)
    X, y = X[:10], y[:10]
    dynamics = fit_and_watch(lightgbm(min_child_samples=20, subsample=1.0), X, y, X_watch)
    shares = np.bincount(y) / y.size
    assert dynamics.n_checkpoints == 1
    assert_allclose(dynamics["confidence"], np.tile(shares, (X_watch.shape[0], 1)), atol=1e-6)


def test_training_that_stops_when_no_split_helps_has_as_many_checkpoints_as_it_grew():
    X, y, X_watch = table(2)
    estimator = lightgbm(n_estimators=100, min_split_gain=2)
    dynamics = fit_and_watch(estimator, X, y, X_watch)
    assert 1 < dynamics.n_checkpoints < 100
    assert_allclose(dynamics.probabilities, estimator.predict_proba(X_watch), atol=1e-6)


def test_a_user_who_asks_lightgbm_to_talk_is_heard():
    for name in ("verbose", "verbosity"):
        assert find_backbone(lightgbm()).quiet_parameters(lightgbm(**{name: 1})) == {}


def test_a_random_forest_is_refused():
    with pytest.raises(ValueError, match="has no learning dynamics") as error:
        fit_and_watch(lightgbm(boosting_type="rf"), *table(2))
    assert str(error.value) == (
        'LGBMClassifier(boosting_type="rf") is a random forest, not trained step by step, so it has no '
        'learning dynamics; use boosting_type="gbdt", or curator="auto".'
    )


@pytest.mark.parametrize(
    "settings", [{"objective": "multiclassova"}, {"objective": lambda y, p: (p - y, np.ones_like(p))}, {"sigmoid": 2.0}]
)
def test_scores_that_are_no_log_odds_are_refused(settings):
    with pytest.raises(ValueError, match="does not add up to class probabilities round by round; use objective="):
        fit_and_watch(lightgbm(**settings), *table(3))


def test_a_loaded_booster_predicts_on_the_threads_that_it_is_told(tmp_path):
    X, y, X_watch = table(2)
    fitted = lightgbm(verbosity=-1).fit(X, y)
    backbone = find_backbone(fitted)
    backbone.save(fitted, tmp_path / "booster.txt")
    copied = backbone.on_threads(backbone.load(tmp_path / "booster.txt"), 3)
    assert copied.n_jobs == 3
    assert_allclose(backbone.predict_proba(copied, X_watch), fitted.predict_proba(X_watch))
