"""What verified labels teach the network: how frequent the classes are, however the labels to check were chosen."""

import numpy as np
import pytest
from sklearn.base import clone

from dips.network import PriorFittedClassifier
from dips.network._settings import TINY
from dips.network._verified import frequencies_by_verified
from dips.network._weights import SHIPPED, Weights

RNG = np.random.default_rng(0)
SCORE = RNG.normal(size=2000)
TRUE = (SCORE + RNG.normal(size=2000) > 1).astype(int)  # a quarter is of class 1
ONE_WAY = np.where((TRUE == 0) & (RNG.random(2000) < 0.4), 1, TRUE)


def beliefs(given):
    """What one believes who takes the frequencies of the labels for true, and three of four labels to be right."""
    share = (given == 1).mean()
    odds = np.exp(1.5 * SCORE) * share / (1 - share) * np.where(given == 1, 3, 1 / 3)
    return np.stack([1 / (1 + odds), odds / (1 + odds)], axis=1)


def most_suspicious(p, given, count):
    return np.isin(np.arange(given.size), np.argsort(p[np.arange(given.size), given])[:count])


@pytest.mark.parametrize("order", ["random", "suspects"])
def test_errors_that_go_one_way_are_noticed_by_a_few_checks(order):
    p = beliefs(ONE_WAY)
    before = p.mean(0)[1]
    checked = np.arange(2000) < 40 if order == "random" else most_suspicious(p, ONE_WAY, 40)
    learned = frequencies_by_verified(p, ONE_WAY, TRUE, checked)[1]
    assert abs(learned - TRUE.mean()) < 0.6 * abs(before - TRUE.mean())


@pytest.mark.parametrize("count", [10, 100])
def test_checks_of_right_labels_leave_the_frequencies_about_as_they_are(count):
    p = beliefs(TRUE)
    learned = frequencies_by_verified(p, TRUE, TRUE, most_suspicious(p, TRUE, count))
    assert learned == pytest.approx(p.mean(0), abs=0.07)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    path = tmp_path_factory.mktemp("network") / "tiny.npz"
    Weights.random(TINY.model, 0).save(path)
    return path


def fitted(tiny, y, **known):
    X = np.random.default_rng(1).normal(size=(90, 3))
    return PriorFittedClassifier(weights=tiny, random_state=0, **known.pop("settings", {})).fit(X, y, **known)


def test_labels_as_they_were_before_the_check_move_the_other_beliefs(tiny):
    given, verified = np.where(np.arange(90) < 60, np.arange(90) % 2, -1), np.arange(90) < 30
    y = np.where(verified, 0, given)
    before = np.where(np.arange(90) < 60, given, -1)
    taught = fitted(tiny, y, verified=verified, y_given=before).belief_[60:]
    assert taught[:, 0].mean() > fitted(tiny, y, verified=verified).belief_[60:, 0].mean() + 0.01


def test_known_frequencies_count_for_more_than_learned_ones(tiny):
    y, verified = np.arange(90) % 2, np.arange(90) < 30
    settings = {"class_frequencies": [0.3, 0.7]}
    told = fitted(tiny, y, settings=settings, verified=verified, y_given=1 - y)
    assert np.array_equal(told.table_.factors, fitted(tiny, y, settings=settings, verified=verified).table_.factors)


def test_where_a_class_had_no_label_before_nothing_is_learned(tiny):
    y, verified = np.where(np.arange(90) < 10, 2, np.arange(90) % 2), np.arange(90) < 10
    given = np.where(verified, 0, y)
    assert (fitted(tiny, y, verified=verified, y_given=given).table_.factors == 1).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_many_classes_learn_too(tiny):
    y, verified = np.arange(90) % 12, np.arange(90) < 40
    given = np.where(verified, (y + 1) % 12, y)
    assert np.isfinite(fitted(tiny, y, verified=verified, y_given=given).belief_).all()


@pytest.mark.skipif(not SHIPPED.exists(), reason="no trained weights here")
def test_twenty_checks_mend_the_trained_network():
    (right, off), (right_before, off_before) = np.mean([of_checks(seed) for seed in range(3)], axis=0)
    assert right > right_before + 0.03
    assert off < 0.6 * off_before


def of_checks(seed):
    """Accuracy and error of the class frequencies: with what the labels were before, then with the corrected alone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    true = (X[:, 0] + X[:, 1] + rng.normal(size=300) > 1.2).astype(int)
    given = np.where((true == 0) & (rng.random(300) < 0.4), 1, true)
    given[100:] = -1
    verified = np.arange(300) < 20
    y, known = np.where(verified, true, given), ({"y_given": given}, {})
    network = PriorFittedClassifier(random_state=0, n_draws=1)
    models = [clone(network).fit(X, y, verified=verified, **before) for before in known]
    return [((m.predict(X) == true)[100:].mean(), abs(m.belief_[:, 1].mean() - true.mean())) for m in models]
