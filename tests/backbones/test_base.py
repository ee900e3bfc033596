from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from dips.backbones import Backbone
from dips.backbones._base import probabilities, random_tree_parameters


def test_one_score_a_row_is_the_log_odds_of_the_second_class():
    p = probabilities(np.array([0.0, np.log(3)], dtype=np.float32))
    assert_allclose(p, [[0.5, 0.5], [0.25, 0.75]], atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_a_score_a_class_goes_through_a_softmax(n_classes, dtype):
    margin = np.random.RandomState(0).normal(scale=5, size=(20, n_classes)).astype(dtype)
    before = margin.copy()
    assert_allclose(probabilities(margin), softmax(margin.astype(np.float64), axis=1), rtol=5e-6)
    assert_array_equal(margin, before)


def test_huge_scores_do_not_overflow():
    assert_allclose(probabilities(np.array([[1e4, 0, -1e4]])), [[1, 0, 0]])
    assert_allclose(probabilities(np.array([1e4, -1e4])), [[0, 1], [1, 0]])


def test_weights_are_refused_where_they_would_be_ignored():
    weights = Backbone().weights
    assert weights(KNeighborsClassifier(), None) == {}
    assert list(weights(LogisticRegression(), np.ones(3))) == ["sample_weight"]
    with pytest.raises(
        ValueError,
        match="sample_weight was given, but KNeighborsClassifier has no use for it; leave it out or choose a backbone",
    ):
        weights(KNeighborsClassifier(), np.ones(3))


def test_members_of_an_ensemble_of_trees_are_drawn_from_the_ranges_of_the_studies():
    draws = [random_tree_parameters(np.random.RandomState(seed)) for seed in range(200)]
    assert {d["max_depth"] for d in draws} == set(range(3, 20))
    assert {d["learning_rate"] for d in draws} == {0.01, 0.1, 0.2, 0.3}
    assert {d["n_estimators"] for d in draws} == set(range(100, 1001, 100))
    for share in ("row_share", "column_share"):
        assert all(0.4 <= d[share] <= 0.95 for d in draws)
