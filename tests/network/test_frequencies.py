"""Known class frequencies: the mean answer has them, and they mend what errors that go one way have done."""

import numpy as np
import pandas as pd
import pytest

from dips._data.known import check_frequencies
from dips.exceptions import InputError
from dips.network import PriorFittedClassifier
from dips.network._frequencies import factors_for, reweighed
from dips.network._settings import TINY
from dips.network._weights import SHIPPED, Weights

CLASSES = np.array(["ill", "well"])


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    path = tmp_path_factory.mktemp("network") / "tiny.npz"
    Weights.random(TINY.model, 0).save(path)
    return path


@pytest.mark.parametrize("shares", [[0.999, 0.001], [0.2, 0.5, 0.3], [0.1] * 10])
def test_answers_get_the_wanted_mean_and_keep_their_order(shares):
    p = np.random.default_rng(0).dirichlet(np.ones(len(shares)) / 3, 200)
    q = reweighed(p, factors_for(np.array(shares), p))
    np.testing.assert_allclose(q.mean(0), shares, atol=1e-4)
    odds, before = np.log(q[:, 0] / q[:, 1]), np.log(p[:, 0] / p[:, 1])
    np.testing.assert_allclose(odds - before, odds[0] - before[0], atol=1e-6)


def test_frequencies_that_the_answers_have_change_nothing():
    p = np.random.default_rng(0).dirichlet([1, 1], 50)
    np.testing.assert_allclose(factors_for(p.mean(0), p), 1, atol=1e-6)


def test_a_class_that_is_ruled_out_everywhere_breaks_nothing():
    p = np.tile([1.0, 0.0], (5, 1))
    assert np.isfinite(factors_for(np.array([0.5, 0.5]), p)).all()


@pytest.mark.parametrize("mapping", [dict, pd.Series])
def test_a_mapping_is_put_in_the_order_of_the_classes(mapping):
    assert check_frequencies(mapping({"well": 0.7, "ill": 0.3}), CLASSES).tolist() == [0.3, 0.7]


@pytest.mark.parametrize(
    ("frequencies", "message"),
    [
        ({"well": 0.7, "dead": 0.3}, "names 'dead', which is not a label; choose among ill, well"),
        ([0.5, 0.3, 0.2], "3 shares, and the labels name 2"),
        ([1.0, 0.0], "must be positive and sum to 1"),
        ([0.7, 0.7], "must be positive and sum to 1"),
        ([0.7, np.nan], "must be positive and sum to 1"),
        ({"well": "many", "ill": "few"}, "must be numbers, but are"),
        ([0.5 + 0j, 0.5], "must be numbers, but are"),
    ],
)
def test_frequencies_that_cannot_be_are_refused(frequencies, message):
    with pytest.raises(InputError, match=message):
        check_frequencies(frequencies, CLASSES)


def test_the_beliefs_of_a_table_have_the_frequencies_it_was_told(tiny):
    X, y = np.random.default_rng(0).normal(size=(90, 3)), np.where(np.arange(90) < 60, np.arange(90) % 2, -1)
    model = PriorFittedClassifier(weights=tiny, random_state=0, class_frequencies={0: 0.9, 1: 0.1}).fit(X, y)
    np.testing.assert_allclose(model.belief_.mean(0), [0.9, 0.1], atol=1e-4)
    untold = PriorFittedClassifier(weights=tiny, random_state=0).fit(X, y)
    assert model.predict_proba(X).mean(0)[0] > untold.predict_proba(X).mean(0)[0] + 0.2
    np.testing.assert_allclose(model.p_wrong_[:60], 1 - model.belief_[np.arange(60), y[:60]])


@pytest.mark.skipif(not SHIPPED.exists(), reason="no trained weights here")
def test_errors_that_go_one_way_are_found_once_the_frequencies_are_known():
    gained, told_apart = np.mean([_told_and_untold(seed) for seed in range(5)], axis=0)
    assert gained > 0.1
    assert told_apart > 0.3


def _told_and_untold(seed):
    """What knowing the frequencies adds to the accuracy, and how far p_wrong then sets wrong labels apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    true = (X[:, 0] + X[:, 1] + rng.normal(size=300) > 1.2).astype(int)
    given = np.where((true == 0) & (rng.random(300) < 0.4), 1, true)
    wrong = (given != true)[:100]
    given[100:] = -1
    told = PriorFittedClassifier(random_state=0, class_frequencies=np.bincount(true) / 300).fit(X, given)
    untold = PriorFittedClassifier(random_state=0).fit(X, given)
    right, before = ((model.predict(X[100:]) == true[100:]).mean() for model in (told, untold))
    return right - before, told.p_wrong_[:100][wrong].mean() - told.p_wrong_[:100][~wrong].mean()
