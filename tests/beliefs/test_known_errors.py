"""What is known of the errors: trusted labels are never wrong, and known frequencies say which way labels go."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import multinomial

from dips._beliefs.belief import average_beliefs
from dips._beliefs.hypotheses import EVEN, symmetric_noise
from dips._beliefs.noise import estimate_noise
from dips._beliefs.teachers import Answers
from dips._beliefs.told_noise import make_told_hypotheses
from dips._beliefs.transitions import moved_to, spared, taken_for, transition
from dips._data.known import Known
from dips._data.verified import Verified

COUNTS = st.lists(st.integers(1, 300), min_size=2, max_size=5)


def labels_of(*counts):
    return np.repeat(np.arange(len(counts)), counts)


@st.composite
def counts_and_trust(draw):
    counts = draw(COUNTS)
    masks = st.lists(st.booleans(), min_size=len(counts), max_size=len(counts))
    trusted = draw(masks.filter(lambda mask: 0 < sum(mask) < len(mask)))
    return counts, np.array(trusted)


def dirty(n, rates, seed=0, n_classes=2):
    """Answers of a teacher that knows the truth, true classes, and labels; classes are taken for the next at a rate."""
    rng = np.random.RandomState(seed)
    p = softmax(4 * rng.normal(size=(n, n_classes)), axis=1)
    true = (rng.rand(n, 1) > p.cumsum(axis=1)).sum(axis=1)
    labels = np.where(rng.rand(n) < np.array(rates)[true], (true + 1) % n_classes, true)
    return p, true, labels


def believed(p, labels, known=None, verified=None):
    """The noise, and the probability of each label being wrong."""
    rng = np.random.RandomState(0)
    noise, panels = estimate_noise([p], labels, rng, verified, known)
    belief, _ = average_beliefs([Answers(p, p[:0])], labels, noise, [panels[i] for i in noise.heard])
    return noise, 1 - belief[np.arange(labels.size), labels]


def check_found(noise, p_wrong, wrong, off, doubt):
    """The share of wrong labels is known up to `off`, and right labels have little doubt."""
    assert noise.mean == pytest.approx(wrong.mean(), abs=off)
    assert noise.low <= wrong.mean() <= noise.high
    assert p_wrong[wrong].mean() > 0.6
    assert p_wrong[~wrong].mean() < doubt


@given(counts_and_trust())
def test_under_no_hypothesis_is_a_trusted_label_wrong(drawn):
    counts, trusted = drawn
    hypotheses = make_told_hypotheses(labels_of(*counts), len(counts), Known(trusted))
    for each in hypotheses:
        wrong = each.matrix * ~np.eye(len(counts), dtype=bool)
        assert (wrong[:, trusted] == 0).all()
        assert (each.matrix >= 0).all()
        np.testing.assert_allclose(each.matrix.sum(axis=1), 1)
        np.testing.assert_allclose(each.wrong_by_class[trusted], 0, atol=1e-12)
        assert each.rate == pytest.approx(sum(each.frequencies @ wrong), abs=1e-9)
    assert any(each.rate == pytest.approx(0, abs=1e-9) for each in hypotheses)
    assert 0.89 < sum(np.exp(h.log_prior) for h in hypotheses if h.kind in EVEN) < 0.91
    assert sum(np.exp(h.log_prior) for h in hypotheses) < 1.21


@given(counts_and_trust())
def test_where_labels_are_trusted_hypotheses_explain_how_often_each_was_given(drawn):
    counts, trusted = drawn
    labels = labels_of(*counts)
    found = symmetric_noise(0.0, labels, len(counts)).frequencies
    for each in make_told_hypotheses(labels, len(counts), Known(trusted)):
        np.testing.assert_allclose(each.frequencies @ each.matrix, found, atol=1e-9)


def test_noise_after_which_labels_do_not_tell_how_often_classes_occur_is_left_out():
    labels, trusted = labels_of(2, 1, 2, 2, 1), np.arange(5) == 0
    hypotheses = make_told_hypotheses(labels, 5, Known(trusted))
    assert max(np.linalg.cond(each.matrix) for each in hypotheses) < 100


@pytest.mark.parametrize("counts", [(87, 8, 10, 55), (1, 88, 80, 75, 4)])
def test_no_rate_is_below_0_not_even_by_rounding(counts):
    trusted = np.arange(len(counts)) == 0
    assert min(each.rate for each in make_told_hypotheses(labels_of(*counts), len(counts), Known(trusted))) == 0


@given(COUNTS, st.integers(0, 99))
def test_known_frequencies_are_those_of_every_hypothesis_and_labels_are_counted_against_them(counts, seed):
    n = sum(counts)
    frequencies = np.random.RandomState(seed).dirichlet(np.full(len(counts), 3.0))
    made = make_told_hypotheses(labels_of(*counts), len(counts), Known(np.zeros(len(counts), dtype=bool), frequencies))
    as_many = max(400, 100 / frequencies.min())  # at most so many labels count
    naive = [multinomial.logpmf(counts, n, h.frequencies @ h.matrix) * min(1, as_many / n) for h in made]
    for each in made:
        np.testing.assert_allclose(each.frequencies, frequencies)
    for (one, other), (first, second) in zip(pairwise(naive), pairwise(made), strict=True):
        expected = [h.frequencies @ h.matrix for h in (first, second)]
        if np.isfinite(one - other) and np.min(expected) > 1e-6:
            # The number of ways in which rows can have these labels is the same under every hypothesis.
            assert one - other == pytest.approx(first.log_counts - second.log_counts, abs=1e-3)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(3)), st.booleans())
def test_names_of_classes_do_not_matter(seed, names, with_frequencies):
    p, true, labels = dirty(150, [0.4, 0.0, 0.1], seed, n_classes=3)
    names = np.array(names)
    trusted, frequencies = np.array([True, False, False]), (np.bincount(true, minlength=3) + 1) / 153
    known = Known(trusted, frequencies if with_frequencies else None)
    back = np.argsort(names)  # class c is now called names[c]
    renamed = Known(trusted[back], frequencies[back] if with_frequencies else None)
    noise, p_wrong = believed(p, labels, known)
    other_noise, other_p_wrong = believed(p[:, back], names[labels], renamed)
    assert other_noise.mean == pytest.approx(noise.mean, abs=1e-3)
    np.testing.assert_allclose(other_p_wrong, p_wrong, atol=0.01)


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize("rates", [(0.4, 0.0), (0.0, 0.4)])
def test_known_frequencies_tell_how_many_labels_are_wrong_and_which(rates, trust):
    p, true, labels = dirty(400, rates)
    wrong = labels != true
    trusted = np.array([rates[0] > 0, rates[1] > 0]) if trust else np.zeros(2, dtype=bool)
    noise, p_wrong = believed(p, labels, Known(trusted, np.bincount(true) / true.size))
    check_found(noise, p_wrong, wrong, off=0.03, doubt=0.08)


def test_trusted_labels_have_no_doubt_and_the_others_more():
    p, true, labels = dirty(400, (0.4, 0.0))
    _, by_default = believed(p, labels)
    _, p_wrong = believed(p, labels, Known(np.array([True, False])))
    assert p_wrong[labels == 0].max() == pytest.approx(0, abs=1e-12)
    assert p_wrong[labels != true].mean() > by_default[labels != true].mean()


@pytest.mark.parametrize("n_classes", [3, 5, 8, 12])
@pytest.mark.parametrize("told", ["frequencies", "trust in one", "trust in all others", "both"])
def test_that_one_of_several_classes_is_mistaken_for_another_is_found(n_classes, told):
    rates = np.zeros(n_classes)
    rates[0] = 0.4
    p, true, labels = dirty(1_200, rates, n_classes=n_classes)
    wrong, is_class = labels != true, np.arange(n_classes)
    trusted = {"frequencies": is_class < 0, "trust in one": is_class == 0}.get(told, is_class != 1)
    frequencies = np.bincount(true, minlength=n_classes) / true.size if told in ("frequencies", "both") else None
    noise, p_wrong = believed(p, labels, Known(trusted, frequencies))
    check_found(noise, p_wrong, wrong, off=0.02, doubt=0.04)


def test_labels_are_counted_as_they_were_before_they_were_checked():
    p, true, labels = dirty(400, (0.4, 0.0))
    known = Known(np.zeros(2, dtype=bool), np.bincount(true) / true.size)
    checked = Verified(np.ones(400, dtype=bool), labels)
    estimated, _ = estimate_noise([p], true, np.random.RandomState(0), checked, known)
    assert estimated.mean == pytest.approx((labels != true).mean(), abs=0.02)


@given(st.floats(0, 0.9), counts_and_trust())
def test_errors_that_are_spared_name_other_classes_as_often(rate, drawn):
    trusted = drawn[1]
    n_classes = trusted.size
    T = spared(transition(rate, n_classes), trusted)
    np.testing.assert_allclose(T.sum(axis=1), 1)
    for c in range(n_classes):
        others = ~trusted & (np.arange(n_classes) != c)
        np.testing.assert_allclose(1 - T[c, c], rate if others.any() else 0, atol=1e-12)
        np.testing.assert_allclose(T[c, others], rate / max(1, others.sum()), atol=1e-12)


@given(counts_and_trust(), st.integers(0, 99))
def test_no_more_labels_are_moved_than_need_be_and_none_to_a_trusted_one(drawn, seed):
    counts, trusted = drawn
    found = np.array(counts) / sum(counts)
    expected = np.random.RandomState(seed).dirichlet(np.full(found.size, 3.0))
    for no_more in (np.zeros_like(trusted), trusted):
        T = moved_to(found, expected, no_more)
        np.testing.assert_allclose(T.sum(axis=1), 1)
        assert (T >= -1e-12).all()
        wrong = T * ~np.eye(found.size, dtype=bool)
        assert (wrong[:, no_more] == 0).all()
        wanted = np.maximum(found - expected, 0)[~no_more].sum()
        assert (expected @ wrong).sum() == pytest.approx(wanted, abs=1e-9)
        if not no_more.any():
            np.testing.assert_allclose(expected @ T, found)


def test_rows_of_all_other_classes_are_taken_for_one():
    T = taken_for(2, 0.3, 4)
    np.testing.assert_allclose(T[:, 2], [0.3, 0.3, 1, 0.3])
    np.testing.assert_allclose(T.sum(axis=1), 1)


@pytest.mark.parametrize("share", [0.01, 0.05])
def test_how_often_a_rare_class_occurs_is_believed_of_many_labels(share):
    """Half of its rows are labeled otherwise; the teacher hardly knows it."""
    rng = np.random.RandomState(0)
    y = (rng.rand(20_000) < share).astype(int)
    labels = np.where(rng.rand(y.size) < 0.5, 0, y)
    odds = np.log(share / (1 - share)) + rng.normal(0.5 * y, 0.5)
    p = 1 / (1 + np.exp(-np.column_stack([-odds, odds])))
    known = Known(np.zeros(2, dtype=bool), np.array([1 - share, share]))
    noise, _ = estimate_noise([p], labels, np.random.RandomState(0), known=known)
    assert noise.mean == pytest.approx((labels != y).mean(), rel=0.3)
