import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax

from dips._beliefs.belief import average_beliefs
from dips._beliefs.hypotheses import (
    EVEN,
    PROPORTIONAL,
    SYMMETRIC,
    make_hypotheses,
    mistaken,
    mistaken_for,
    posterior,
    symmetric_noise,
)
from dips._beliefs.noise import estimate_noise
from dips._beliefs.teachers import Answers
from dips._beliefs.transitions import in_proportion, transition
from dips._data.verified import Verified


def labels_of(*counts):
    return np.repeat(np.arange(len(counts)), counts)


def one_way(n, rate, seed=0):
    """Answers of a teacher that knows the truth, true classes, and labels of which class 1 is mistaken."""
    rng = np.random.RandomState(seed)
    p = softmax(4 * rng.normal(size=(n, 2)), axis=1)
    true = (rng.rand(n) < p[:, 1]).astype(int)
    labels = np.where((true == 1) & (rng.rand(n) < rate), 0, true)
    return p, true, labels


@given(st.lists(st.integers(1, 300), min_size=2, max_size=5))
def test_every_hypothesis_explains_the_frequencies_of_the_labels_unless_it_is_even(counts):
    labels = labels_of(*counts)
    found = symmetric_noise(0.0, labels, len(counts)).frequencies
    for each in make_hypotheses(labels, len(counts)):
        np.testing.assert_allclose(each.matrix.sum(axis=1), 1)
        np.testing.assert_allclose(each.frequencies.sum(), 1)
        explained = found if each.kind in EVEN else each.frequencies @ each.matrix
        np.testing.assert_allclose(explained, found)


def test_no_hypothesis_makes_most_labels_of_a_class_wrong():
    for labels in (labels_of(95, 5), labels_of(990, 10), labels_of(88, 12), labels_of(9, 80, 11)):
        n_classes = labels.max() + 1
        found = symmetric_noise(0.0, labels, n_classes).frequencies
        uneven = [h for h in make_hypotheses(labels, n_classes) if h.kind not in EVEN]
        assert all((h.frequencies * np.diag(h.matrix) > found / 2).all() for h in uneven)


def test_labels_of_a_rare_class_that_are_wrong_are_doubted():
    rng = np.random.RandomState(0)
    p_rare = expit(3 * rng.normal(size=3000) - 8)
    true = (rng.rand(3000) < p_rare).astype(int)
    labels = np.where(rng.rand(3000) < 0.005, 1, true)  # a third of the labels 1 are wrong
    p = np.column_stack([1 - p_rare, p_rare])
    noise, panels = estimate_noise([p], labels, rng)
    belief, _ = average_beliefs([Answers(p, p[:0])], labels, noise, [panels[i] for i in noise.heard])
    p_wrong = 1 - belief[np.arange(labels.size), labels]
    is_rare = labels == 1
    assert p_wrong[is_rare & (true == 0)].mean() > 0.5
    assert p_wrong[is_rare & (true == 1)].mean() < 0.15


def test_the_rate_of_a_hypothesis_is_the_share_of_wrong_labels():
    for each in make_hypotheses(labels_of(70, 30), 2):
        if each.kind != SYMMETRIC:
            wrong = sum(each.frequencies[c] * (1 - each.matrix[c, c]) for c in range(2))
            assert each.rate == pytest.approx(wrong)


@pytest.mark.parametrize("counts", [(60, 40), (95, 5), (50, 45, 5)])
def test_the_share_of_wrong_labels_of_each_class_is_that_of_simulated_labels(counts):
    rng, n, n_classes = np.random.RandomState(0), 200_000, len(counts)
    for each in make_hypotheses(labels_of(*counts), n_classes):
        true = rng.choice(n_classes, n, p=each.frequencies)
        labels = (rng.rand(n, 1) > each.matrix.cumsum(axis=1)[true]).sum(axis=1)
        simulated = [(true[labels == c] != c).mean() for c in range(n_classes)]
        np.testing.assert_allclose(each.wrong_by_class, simulated, atol=0.02)


@pytest.mark.parametrize("rate", [0.01, 0.03, 0.06])
def test_symmetric_noise_is_taken_to_meet_fewer_labels_of_a_rare_class_than_it_does(rate):
    labels = labels_of(9300, 700)
    hypothesis = symmetric_noise(rate, labels, 2)
    true = np.linalg.solve(hypothesis.matrix.T, hypothesis.frequencies)  # turned by the noise into these labels
    share = true[0] * rate / hypothesis.frequencies[1]
    assert 0 < hypothesis.wrong_by_class[1] < share


def test_with_many_classes_noise_is_taken_for_even():
    assert {h.kind for h in make_hypotheses(np.arange(44) % 11, 11)} == {SYMMETRIC, PROPORTIONAL}


@given(st.lists(st.integers(1, 300), min_size=3, max_size=6), st.floats(0, 0.6))
def test_noise_in_proportion_takes_a_class_for_others_as_often_as_they_occur(counts, rate):
    found = np.array(counts) / sum(counts)
    T = in_proportion(rate, found)
    np.testing.assert_allclose(T.sum(axis=1), 1)
    np.testing.assert_allclose(np.diag(T), 1 - rate)
    np.testing.assert_allclose(T[0, 1] * found[2], T[0, 2] * found[1])


def test_of_classes_alike_frequent_both_kinds_of_even_noise_are_the_same():
    np.testing.assert_allclose(in_proportion(0.3, np.full(4, 0.25)), transition(0.3, 4))


@pytest.mark.parametrize("rare", [0, 8, 40])
def test_a_rare_class_does_not_hide_the_wrong_labels_of_others(rare):
    rng = np.random.RandomState(0)
    true = np.concatenate([rng.randint(0, 2, 600 - rare), np.full(rare, 2)])
    p = softmax(3 * np.eye(3)[true] + 1.2 * rng.normal(size=(600, 3)) + np.log([0.49, 0.49, 0.02]), axis=1)
    wrong = (rng.rand(600) < 0.2) & (true < 2)
    noise, _ = estimate_noise([p], np.where(wrong, 1 - true, true), rng)
    assert noise.low <= wrong.mean() <= noise.high
    assert abs(noise.mean - wrong.mean()) < 0.05


def by_kind(hypotheses, log_likelihood):
    probability = posterior(hypotheses, log_likelihood)
    return [probability[[h.kind == kind for h in hypotheses]].sum() for kind in (SYMMETRIC, mistaken(0), mistaken(1))]


def test_noise_is_taken_for_even_where_labels_do_not_tell():
    hypotheses = make_hypotheses(labels_of(50, 50), 2)
    np.testing.assert_allclose(by_kind(hypotheses, np.zeros(len(hypotheses))), [1, 0, 0])


def test_noise_is_believed_to_be_uneven_as_far_as_labels_tell():
    hypotheses = make_hypotheses(labels_of(50, 50), 2)
    likely = np.array([h.kind == mistaken(1) for h in hypotheses]).astype(float)
    weak, strong = by_kind(hypotheses, likely), by_kind(hypotheses, 9 * likely)
    assert 0 < weak[2] < 0.1 < 0.9 < strong[2] < 1
    assert weak[1] == strong[1] == 0


def test_errors_that_go_one_way_are_seen_in_the_class_that_gains_labels():
    p, true, labels = one_way(1500, 0.4)
    noise, panels = estimate_noise([p], labels, np.random.RandomState(0))
    assert noise.posterior[[h.kind == mistaken(1) for h in noise.hypotheses]].sum() > 0.9
    assert noise.mean == pytest.approx((labels != true).mean(), abs=0.06)
    heard = [panels[i] for i in noise.heard]
    belief, _ = average_beliefs([Answers(p, p[:0])], labels, noise, heard)
    p_wrong = 1 - belief[np.arange(labels.size), labels]
    assert p_wrong[labels != true].mean() > 0.6
    assert p_wrong[labels == 1].mean() < 0.05


def test_other_classes_that_are_mistaken_for_one_are_found():
    rng = np.random.RandomState(0)
    p = softmax(3 * rng.normal(size=(400, 4)), axis=1)
    true = (p.cumsum(axis=1) > rng.rand(400, 1)).argmax(axis=1)
    labels = np.where(rng.rand(400) < 0.2, 3, true)  # annotators in doubt say "other"
    noise, panels = estimate_noise([p], labels, rng)
    assert noise.posterior[[h.kind == mistaken_for(3) for h in noise.hypotheses]].sum() > 0.9
    assert noise.mean == pytest.approx((labels != true).mean(), abs=0.05)
    belief, _ = average_beliefs([Answers(p, p[:0])], labels, noise, [panels[i] for i in noise.heard])
    p_wrong = 1 - belief[np.arange(labels.size), labels]
    assert p_wrong[labels != true].mean() > 0.6
    assert p_wrong[labels != 3].mean() < 0.05


def test_with_two_classes_to_mistake_one_is_to_take_it_for_the_other():
    assert {h.kind for h in make_hypotheses(labels_of(50, 50), 2)} == {SYMMETRIC, mistaken(0), mistaken(1)}


def test_checked_labels_tell_which_way_errors_go():
    rng, true = np.random.RandomState(0), np.arange(200) % 2
    p = np.clip(np.where(true == 1, 0.6, 0.4) + rng.normal(0, 0.1, 200), 0.05, 0.95)
    answers = [np.column_stack([1 - p, p])]
    looked = np.arange(200) < 60
    before = np.where(looked, np.where(true == 1, np.where(rng.rand(200) < 0.4, 0, 1), 0), -1)

    def mistaken_most(verified):
        noise, _ = estimate_noise(answers, true, rng, verified)
        return [sum(noise.posterior[[h.kind == kind for h in noise.hypotheses]]) for kind in (mistaken(0), mistaken(1))]

    without, after = mistaken_most(None), mistaken_most(Verified(looked, before))
    assert after[1] > 0.6 > without[1]
    assert after[0] <= without[0]


def test_rates_of_classes_make_the_rows_of_a_transition():
    np.testing.assert_allclose(transition(np.array([0.2, 0.0, 0.4]), 3).sum(axis=1), 1)


def test_of_many_labels_less_counts_for_uneven_noise_and_all_for_the_rate_of_even_noise():
    labels = np.repeat([0, 1], 500)
    hypotheses = make_hypotheses(labels, 2)
    kinds, rates = np.array([h.kind for h in hypotheses]), np.array([h.rate for h in hypotheses])
    log_likelihood = np.where(kinds == "symmetric", -200 * (rates - 0.1) ** 2, np.where(kinds == mistaken(1), 8.0, -99))
    sure, unsure = (posterior(hypotheses, log_likelihood, trust) for trust in (1.0, 0.0))
    assert sure[kinds == mistaken(1)].sum() > 0.9
    assert unsure[kinds == mistaken(1)].sum() < 0.5
    even = kinds == "symmetric"
    np.testing.assert_allclose(unsure[even] / unsure[even].sum(), sure[even] / sure[even].sum())
