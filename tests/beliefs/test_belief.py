import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dips._beliefs.belief import average_beliefs, believe, lean_back, probably_right, protect_classes, shift
from dips._beliefs.hypotheses import Hypothesis, symmetric_noise
from dips._beliefs.noise import NoiseRate, calibrate_panels
from dips._beliefs.teachers import Answers
from dips._beliefs.transitions import transition


def known(rate, low=None, high=None):
    symmetric = symmetric_noise(rate, np.array([0, 1]), 2)
    return NoiseRate(rate, rate if low is None else low, rate if high is None else high, [symmetric], np.ones(1))


@given(st.integers(0, 1000), st.floats(0, 0.45))
def test_belief_follows_bayes_rule(seed, rate):
    rng = np.random.RandomState(seed)
    p, label = rng.dirichlet(np.ones(3)), rng.randint(3)
    seen = [1 - rate if c == label else rate / 2 for c in range(3)]
    naive = p * seen / (p * seen).sum()
    np.testing.assert_allclose(believe(p[None], np.array([label]), transition(rate, 3))[0], naive)


def test_without_noise_a_label_is_believed_as_it_is():
    p = np.random.RandomState(0).dirichlet(np.ones(4), size=10)
    labels = p.argmin(axis=1)
    np.testing.assert_allclose(believe(p, labels, np.eye(4)), np.eye(4)[labels])


def test_leaning_back_gives_the_rare_class_more_decisions_but_not_all_the_mass():
    p = np.column_stack([np.full(100, 0.6), np.full(100, 0.4)]) + np.linspace(-0.15, 0.15, 100)[:, None] * [1, -1]
    before = (p.argmax(axis=1) == 1).mean()
    after = (shift(p, lean_back(p)).argmax(axis=1) == 1).mean()
    assert before < after <= p[:, 1].mean() + 0.05


@pytest.mark.parametrize("p_rare", [0.3, 0.45, 0.49])
def test_rows_that_are_nearly_alike_lean_half_way_and_do_not_jump(p_rare):
    rng = np.random.RandomState(0)
    q = p_rare + 0.001 * rng.normal(size=(20, 400))  # twenty tables that differ by next to nothing
    leaned = [lean_back(np.column_stack([1 - each, each])) @ [-1, 1] for each in q]
    np.testing.assert_allclose(leaned, np.log((1 - p_rare) / p_rare) / 2, atol=0.05)


def test_probabilities_that_decide_as_often_as_they_say_are_left_alone():
    p = np.repeat([[0.98, 0.02], [0.02, 0.98]], 100, axis=0)
    np.testing.assert_allclose(lean_back(p), 0, atol=0.1)


@given(st.integers(0, 1000))
def test_no_class_loses_all_its_labels(seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(3, size=30)
    keep = probably_right(rng.rand(30), labels)
    for c in np.unique(labels):
        assert (keep & (labels == c)).sum() >= min(2, (labels == c).sum())


def test_as_many_labels_as_are_expected_to_be_wrong_are_set_aside_in_each_class():
    p_wrong = np.array([0.9, 0.8, 0.2, 0.1, 0.0, 0.3, 0.3, 0.3])
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    assert probably_right(p_wrong, labels).tolist() == [False, False, True, True, True, False, True, True]


def test_a_rare_class_loses_no_more_than_the_noise_supports():
    labels = np.array([0] * 90 + [1] * 10)
    belief = np.tile([0.95, 0.05], (100, 1))  # every label of the rare class is taken for an error
    noise = NoiseRate(0.01, 0.0, 0.1, [symmetric_noise(0.01, labels, 2)], np.ones(1))
    assert noise.by_class[1] < noise.high
    protected, in_danger = protect_classes(belief, labels, noise)
    lost = (1 - protected[labels == 1, 1]).mean()
    assert in_danger.tolist() == [False, True]
    assert lost == pytest.approx(0.1 + 1.645 * np.sqrt(0.1 * 0.9 / 10))
    np.testing.assert_allclose(protected.sum(axis=1), 1)
    np.testing.assert_allclose(protected[labels == 0], belief[labels == 0])


def test_a_rare_class_may_lose_as_many_labels_as_are_wrong_in_it():
    labels = np.array([0] * 90 + [1] * 10)
    large_class_is_mistaken = Hypothesis(np.array([[0.95, 0.05], [0.0, 1.0]]), 0.045, np.array([0.947, 0.053]), "0")
    noise = NoiseRate(0.045, 0.0, 0.1, [large_class_is_mistaken], np.ones(1))
    np.testing.assert_allclose(noise.by_class, [0, 0.947 * 0.05 / (0.947 * 0.05 + 0.053)])
    belief = np.where(labels[:, None] == 1, [0.45, 0.55], [0.99, 0.01])
    protected, in_danger = protect_classes(belief, labels, noise)
    assert in_danger.tolist() == [False, True]  # and is told by name
    np.testing.assert_allclose(protected[labels == 1], belief[labels == 1])


def test_beliefs_and_distributions_add_up_to_one_and_clean_labels_stay():
    rng = np.random.RandomState(0)
    p, q = rng.dirichlet(np.ones(2), size=60), rng.dirichlet(np.ones(2), size=20)
    labels = (p[:, 1] > rng.rand(60)).astype(int)
    panels = calibrate_panels([p], labels, [symmetric_noise(0.0, labels, 2)], rng)
    belief, distribution = average_beliefs([Answers(p, q)], labels, known(0.0), panels)
    np.testing.assert_allclose(belief, np.eye(2)[labels])
    np.testing.assert_allclose(distribution.sum(axis=1), 1)
