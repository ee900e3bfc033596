import numpy as np
import pytest
from scipy.special import softmax

from dips._data.verified import Verified
from dips.vision._label_noise import estimate_label_noise, trust

N_CLASSES = 5


def pilots(n, skill=2.0, sureness=3.0, n_pilots=4, random_state=0):
    """True classes, and pilots that know them with errors of their own and are far too sure."""
    rng = np.random.RandomState(random_state)
    truth = rng.randint(N_CLASSES, size=n)
    logits = skill * np.eye(N_CLASSES)[truth] + rng.normal(size=(n_pilots, n, N_CLASSES))
    return truth, softmax(sureness * logits, axis=2)


def flipped(truth, rate, random_state=1):
    rng = np.random.RandomState(random_state)
    wrong = rng.uniform(size=truth.size) < rate
    return np.where(wrong, (truth + rng.randint(1, N_CLASSES, size=truth.size)) % N_CLASSES, truth)


def estimated(rate, n=600, skill=3.0):
    truth, answers = pilots(n, skill)
    labels = flipped(truth, rate)
    _, opinions = pilots(2000, skill, random_state=2)
    return truth, labels, estimate_label_noise(answers[0], opinions, labels)


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.4])
def test_the_share_of_wrong_labels_is_found_by_pilots_that_are_far_too_sure(rate):
    _, _, noise = estimated(rate)
    assert noise.rate == pytest.approx(rate, abs=0.07)
    assert noise.low <= noise.rate <= noise.high
    assert (noise.low == 0) == (rate == 0)


def test_labels_given_a_probability_are_wrong_about_as_often():
    truth, labels, noise = estimated(0.3, n=3000)
    bins = np.digitize(noise.p_wrong, [0.2, 0.4, 0.6, 0.8])
    gaps = [abs(((labels != truth) - noise.p_wrong)[bins == k].sum()) for k in range(5)]
    assert sum(gaps) / labels.size < 0.1


def test_verified_labels_tell_how_many_of_the_others_are_wrong():
    truth, answers = pilots(400, skill=0.5)  # pilots that know little
    _, opinions = pilots(2000, skill=0.5, random_state=2)
    given = flipped(truth, 0.4)
    checked = np.arange(400) < 150
    labels, verified = np.where(checked, truth, given), Verified(checked, np.where(checked, given, -1))
    alone = estimate_label_noise(answers[0], opinions, given)
    told = estimate_label_noise(answers[0], opinions, labels, verified)
    assert abs(told.rate - 0.4) < abs(alone.rate - 0.4)
    assert told.low < 0.4 < told.high
    assert told.high - told.low < alone.high - alone.low


def test_labels_that_were_verified_and_kept_show_that_there_is_no_noise():
    truth, answers = pilots(400, skill=0.5)
    _, opinions = pilots(2000, skill=0.5, random_state=2)
    kept = Verified(np.arange(400) < 150, np.where(np.arange(400) < 150, truth, -1))
    assert estimate_label_noise(answers[0], opinions, truth, kept).high < 0.1


def test_pilots_that_contradict_each_other_accuse_no_label():
    truth, answers = pilots(200, skill=0.5)
    _, opinions = pilots(2000, skill=0.5, random_state=2)
    assert estimate_label_noise(answers[0], opinions, truth).low == 0


def test_pilots_are_trusted_less_the_less_they_agree():
    powers = [trust(pilots(500, skill)[1]) for skill in (1.0, 2.0, 4.0)]
    assert powers == sorted(powers)
