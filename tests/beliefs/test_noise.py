import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from dips._beliefs.hypotheses import symmetric_noise
from dips._beliefs.noise import Calibration, calibrate_panels, estimate_noise, evidence, likely_range
from dips._beliefs.transitions import transition
from dips._data.known import Known
from dips._data.verified import Verified


def made(n, n_classes, rate, seed=0, sharpness=3.0, errors=0.0):
    """Answers of a teacher that knows the truth up to `errors`, true classes, and labels with so much noise."""
    rng = np.random.RandomState(seed)
    scores = sharpness * rng.normal(size=(n, n_classes))
    p = softmax(scores, axis=1)
    true = (p.cumsum(axis=1) > rng.rand(n, 1)).argmax(axis=1)  # the teacher is calibrated
    labels = true.copy()
    wrong = rng.rand(n) < rate
    labels[wrong] = (labels[wrong] + rng.randint(1, n_classes, wrong.sum())) % n_classes
    return p, true, labels


@given(st.floats(0, 0.45), st.integers(2, 6))
def test_every_row_of_a_transition_adds_up_to_one(rate, n_classes):
    T = transition(rate, n_classes)
    np.testing.assert_allclose(T.sum(axis=1), 1)
    np.testing.assert_allclose(np.diag(T), 1 - rate)


def test_evidence_of_the_usual_answer_is_none():
    usual = np.array([0.7, 0.3])
    np.testing.assert_allclose(evidence(usual[None], usual), 0)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 100), st.integers(2, 4))
def test_a_calibration_gives_probabilities(seed, n_classes):
    p, _, _ = made(20, n_classes, 0.0, seed)
    calibrated = Calibration(2.0, np.zeros(n_classes), p.mean(axis=0))(p)
    np.testing.assert_allclose(calibrated.sum(axis=1), 1)
    assert (calibrated >= 0).all()


def test_a_teacher_that_is_calibrated_is_left_nearly_as_it_is():
    p, _, labels = made(2000, 2, 0.0)
    (panel,) = calibrate_panels([p], labels, [symmetric_noise(0.0, labels, 2)], np.random.RandomState(0))
    assert panel.calibrations[0].slope == pytest.approx(1.0, abs=0.15)


def test_the_likelihood_is_that_of_the_labels_seen_through_the_noise():
    p, _, labels = made(50, 3, 0.2)
    (panel,) = calibrate_panels([p], labels, [symmetric_noise(0.2, labels, 3)], np.random.RandomState(0))
    T, clean = transition(0.2, 3), panel([p])
    naive = sum(np.log(sum(clean[i, c] * T[c, labels[i]] for c in range(3))) for i in range(50))
    assert panel.log_likelihood == pytest.approx(naive)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.2, 0.35])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_noise_rate_is_found_and_lies_in_its_interval(rate, n_classes):
    p, _, labels = made(1500, n_classes, rate)
    noise, _ = estimate_noise([p], labels, np.random.RandomState(0))
    assert noise.mean == pytest.approx(rate, abs=0.05)
    assert noise.low - 0.01 <= rate <= noise.high + 0.01


def test_on_clean_labels_the_interval_includes_zero():
    p, _, labels = made(300, 2, 0.0, sharpness=1.0)
    assert estimate_noise([p], labels, np.random.RandomState(0))[0].low == 0


def test_the_better_teacher_is_heard_more():
    p, _, labels = made(400, 2, 0.1)
    noise = np.random.RandomState(1).dirichlet([1, 1], size=400)
    (panel,) = calibrate_panels([noise, p], labels, [symmetric_noise(0.1, labels, 2)], np.random.RandomState(0))
    assert panel.weights[1] > 0.99


def test_the_likely_range_is_where_the_likelihood_is_near_its_best():
    rates = np.array([0.0, 0.1, 0.2, 0.3])
    low, high = likely_range(rates, np.array([-100.0, 0.0, 0.0, -100.0]))
    assert 0.09 < low < 0.1
    assert 0.2 < high < 0.21


def test_the_likely_range_holds_the_best_rate_however_much_worse_the_others_are():
    rates = np.linspace(0, 0.6, 31)
    assert likely_range(rates, -1e5 * np.abs(rates - rates[1])) == (rates[1], rates[1])


def test_many_labels_are_judged_by_a_sample(monkeypatch):
    monkeypatch.setattr("dips._beliefs.noise._ENOUGH_ROWS", 300)
    p, _, labels = made(3000, 2, 0.2)
    noise, panels = estimate_noise([p], labels, np.random.RandomState(0))
    assert noise.mean == pytest.approx(0.2, abs=0.1)
    assert panels[0]([p]).shape == (3000, 2)


def test_chance_does_not_decide_what_is_told_of_a_rare_class():
    """A hundred rows of 20,000 are of it, and known to be twice as many: a sample of 4,000 would see twenty."""
    rng = np.random.RandomState(0)
    y = (np.arange(20_000) < 200).astype(int)
    score = np.clip(rng.normal(6 * y - 6, 1.2), -8, 4)
    p = 1 / (1 + np.exp(-np.column_stack([-score, score])))
    labels = np.where(rng.rand(y.size) < 0.5, 0, y)
    known = Known(np.array([False, True]), np.array([0.99, 0.01]))
    found = [estimate_noise([p], labels, np.random.RandomState(seed), known=known)[0].mean for seed in range(3)]
    assert np.ptp(found) < 1e-9
    assert found[0] == pytest.approx((labels != y).mean(), rel=0.5)


def test_rates_that_are_hardly_possible_are_not_heard():
    p, _, labels = made(1500, 2, 0.2, sharpness=6.0)
    noise, _ = estimate_noise([p], labels, np.random.RandomState(0))
    assert 0 < noise.heard.size < len(noise.hypotheses)
    assert noise.posterior[noise.heard].sum() > 0.99
    assert min(noise.hypotheses[i].rate for i in noise.heard) > 0


def test_twenty_looks_tell_labels_that_no_column_explains_from_wrong_ones():
    labels = np.random.RandomState(1).randint(0, 2, 300)
    guess, _, _ = made(300, 2, 0.0, sharpness=1.0)
    looks = Verified(np.arange(300) < 20, np.where(np.arange(300) < 20, labels, -1))
    noise, _ = estimate_noise([guess], labels, np.random.RandomState(0))
    looked, _ = estimate_noise([guess], labels, np.random.RandomState(0), looks)
    assert (noise.low, noise.high > 0.45, looked.high < 0.2) == (0.0, True, True)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_calibration_ends_where_the_gradient_is_zero(n_classes):
    p, _, labels = made(400, n_classes, 0.2)
    (panel,) = calibrate_panels([p], labels, [symmetric_noise(0.2, labels, n_classes)], np.random.RandomState(0))
    best = panel.calibrations[0]
    T = transition(0.2, n_classes)
    prior = np.log((np.bincount(labels, minlength=n_classes) + 1) / (400 + n_classes))

    def loss(slope, offsets):
        clean = Calibration(slope, offsets, best.usual)(p)
        penalty = 0.3 * (slope - 1) ** 2 + 4.0 * ((offsets - prior) ** 2).sum()
        return penalty / 2 - np.log((clean * T[:, labels].T).sum(axis=1)).sum()

    least = loss(best.slope, best.offsets)
    for step in (-0.02, 0.02):
        assert loss(best.slope + step, best.offsets) > least
        for c in range(n_classes):
            assert loss(best.slope, best.offsets + step * np.eye(n_classes)[c]) > least


@pytest.mark.parametrize("rate", [0.05, 0.12, 0.25])
def test_of_many_labels_rates_between_those_of_few_are_found(rate):
    p, _, labels = made(20_000, 2, rate)
    noise, _ = estimate_noise([p], labels, np.random.RandomState(0))
    assert noise.mean == pytest.approx(rate, abs=0.015)
    assert noise.low <= rate <= noise.high < rate + 0.05
