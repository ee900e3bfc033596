"""What a review teaches: beliefs after some labels were checked, and what is worth checking."""

from dataclasses import replace

import numpy as np
import pytest

from dips._beliefs.hypotheses import symmetric_noise
from dips._beliefs.lessons import Review
from dips._beliefs.noise import NoiseRate, estimate_noise, seen_through
from dips._beliefs.transitions import transition
from dips._beliefs.usefulness import check_gain
from dips._data.verified import Verified

HYPOTHESES = [symmetric_noise(rate, np.array([0, 1]), 2) for rate in np.linspace(0, 0.4, 5)]
NOISE = NoiseRate(0.1, 0.05, 0.2, HYPOTHESES, np.full(5, 0.2))


def reviewed(wrong, looked, columns=None, p_wrong=0.2):
    """Return a review of labels that were all 0 and believed to be wrong alike, and what was believed before."""
    labels = np.where(wrong & looked, 1, 0)
    before = np.tile([1 - p_wrong, p_wrong], (wrong.size, 1))
    verified = Verified(looked, np.where(looked, 0, -1))
    return Review(labels, verified, columns), before


def test_a_verified_label_is_true_whatever_was_believed():
    wrong = np.arange(50) % 3 == 0
    review, before = reviewed(wrong, np.arange(50) < 20)
    belief = review.revise(before)
    assert (belief[np.arange(20), review.labels[:20]] == 1).all()
    assert np.allclose(belief.sum(axis=1), 1)


def test_without_a_review_nothing_changes():
    review, before = reviewed(np.zeros(9, dtype=bool), np.zeros(9, dtype=bool))
    assert (review.revise(before) == before).all()
    assert review.rate(NOISE, before) == NOISE


def test_labels_that_were_wrong_more_often_than_believed_raise_the_others():
    looked = np.arange(100) < 30
    more, before = reviewed(np.ones(100, dtype=bool), looked)
    less, _ = reviewed(np.zeros(100, dtype=bool), looked)
    assert more.revise(before)[50, 1] > 0.6
    assert less.revise(before)[50, 1] < 0.1
    assert more.rate(NOISE, before).mean > 0.6
    assert less.rate(NOISE, before).mean < 0.1
    assert more.rate(NOISE, before).low >= 0.3  # so many were found


def test_what_was_expected_changes_little():
    """Doubtful labels are checked first; that half of them are wrong is no news if half were expected to be."""
    wrong, looked = np.arange(200) % 2 == 0, np.arange(200) < 40
    review, before = reviewed(wrong, looked, p_wrong=0.5)
    before[100:] = 0.95, 0.05
    after = review.revise(before)
    assert after[150, 1] == pytest.approx(0.05, abs=0.02)
    assert after[60, 1] == pytest.approx(0.5, abs=0.02)


def test_one_mistaken_look_does_not_condemn_a_class():
    """Of two looks one finds what was suspected, and the other corrects a label that is right beyond doubt."""
    looked = np.arange(100) < 2
    review, before = reviewed(looked, looked, p_wrong=0.14)
    before[0], before[1] = (0.3, 0.7), (0.99, 0.01)
    expected = before[:, 1].mean()
    assert review.rate(NOISE, before).mean < expected + 0.3  # 0.55 more where looks were beyond doubt


def test_what_wrong_labels_have_in_common_is_learned():
    rng = np.random.RandomState(0)
    columns = rng.normal(size=(300, 3))
    wrong, looked = columns[:, 1] > 0.5, np.arange(300) < 80
    review, before = reviewed(wrong, looked, columns)
    p_wrong = review.revise(before)[80:, 1]
    assert p_wrong[wrong[80:]].mean() > 2 * p_wrong[~wrong[80:]].mean()


def test_a_wrong_label_that_was_found_excludes_a_clean_table():
    rng = np.random.RandomState(0)
    truth = np.arange(300) % 2
    p = np.clip(np.where(truth == 1, 0.9, 0.1) + rng.normal(0, 0.05, 300), 0.01, 0.99)
    answers = [np.column_stack([1 - p, p])]
    looked = np.arange(300) < 10
    noise, _ = estimate_noise(answers, truth, rng, Verified(looked, np.where(looked, 1 - truth, -1)))
    assert noise.low > 0
    assert noise.posterior[0] < 1e-6


def test_what_is_seen_of_a_checked_label_is_the_answer_and_what_it_had_been():
    T, R = transition(0.2, 3), transition(0.1, 3)
    labels, before = np.array([0, 1, 2, 2]), np.array([-1, 0, 2, -1])
    seen = seen_through(T, labels, Verified(np.array([False, True, True, True]), before, error=0.1))
    for c in range(3):
        naive = T[c, 0], R[c, 1] * T[c, 0], R[c, 2] * T[c, 2], R[c, 2]
        np.testing.assert_allclose(seen[:, c], naive)


def test_the_answer_of_a_reviewer_who_errs_is_weighed_by_bayes_rule():
    before = np.random.RandomState(0).dirichlet([1, 1, 1], size=30)
    said, R = np.arange(30) % 3, transition(0.1, 3)
    belief = Review(said, Verified(np.ones(30, dtype=bool), np.full(30, -1), error=0.1), None).revise(before)
    for i in range(30):
        joint = [before[i, c] * R[c, said[i]] for c in range(3)]
        np.testing.assert_allclose(belief[i], np.array(joint) / sum(joint))


def test_false_alarms_of_a_reviewer_are_not_taken_for_wrong_labels():
    """One label in ten is called wrong, as often as the reviewer errs: there need be no wrong label."""
    called, looked = np.arange(300) % 10 == 0, np.arange(300) < 200
    review, before = reviewed(called, looked, p_wrong=0.05)
    told = Review(review.labels, replace(review.verified, error=0.1), None)
    assert review.rate(NOISE, before).mean == pytest.approx(0.1, abs=0.02)
    assert told.rate(NOISE, before).mean < 0.03
    assert told.revise(before)[0, 0] > 0.8  # the label before stands against the reviewer's word


def test_a_reviewer_who_errs_teaches_the_more_the_less_often():
    looked = np.arange(100) < 30
    review, before = reviewed(np.ones(100, dtype=bool), looked)
    errors = (0.0, 0.1, 0.3)
    rates = [Review(review.labels, replace(review.verified, error=e), None).rate(NOISE, before).mean for e in errors]
    assert rates[0] > rates[1] > rates[2] > 0.2


def test_errors_of_one_class_are_told_from_errors_of_all():
    """Some dozen looks show that labels 1 are wrong and labels 0 are not, which nobody had thought."""
    given, looked = np.arange(400) % 2, np.arange(400) < 40
    wrong = (given == 1) & (np.arange(400) % 4 == 1)
    before = np.where(given[:, None] == np.arange(2), 0.97, 0.03)
    review = Review(np.where(wrong & looked, 0, given), Verified(looked, np.where(looked, given, -1)), None)
    p_wrong = 1 - review.revise(before)[np.arange(400), given]
    assert p_wrong[~looked & (given == 1)].mean() == pytest.approx(0.5, abs=0.15)
    assert p_wrong[~looked & (given == 0)].mean() < 0.03


def test_a_few_looks_do_not_tell_classes_apart():
    """Nine of ten looks at one class and seven of ten at the other found an error: chance, not a difference."""
    given, looked = np.arange(400) % 2, np.arange(400) < 20
    wrong = np.isin(np.arange(400) // 2, range(7)) | ((given == 1) & (np.arange(400) < 18))
    before = np.where(given[:, None] == np.arange(2), 0.2, 0.8)
    review = Review(np.where(wrong & looked, 1 - given, given), Verified(looked, np.where(looked, given, -1)), None)
    p_wrong = 1 - review.revise(before)[np.arange(400), given]
    assert abs(p_wrong[~looked & (given == 1)].mean() - p_wrong[~looked & (given == 0)].mean()) < 0.1


def test_the_first_looks_go_to_all_classes_in_turn():
    p_wrong, given = np.linspace(0, 1, 500), (np.arange(500) > 300).astype(int)
    gain = check_gain(p_wrong, given, np.zeros(500, dtype=bool), 2)
    order = np.argsort(-gain, kind="stable")
    assert given[order[:20]].tolist() == [1, 0] * 10
    assert order[:4].tolist() == [499, 300, 498, 299]
    assert order[20:].tolist() == [i for i in np.argsort(-p_wrong) if i not in order[:20]]


def test_after_some_looks_at_each_class_the_most_probably_wrong_come_first():
    p_wrong, given, verified = np.linspace(0, 1, 500), np.arange(500) % 2, np.arange(500) < 20
    gain = check_gain(p_wrong, given, verified, 2)
    assert (gain[verified] == 0).all()
    assert gain.max() < 1
    assert gain.argmax() == 499
    assert (check_gain(p_wrong, given, np.arange(500) < 15, 2) >= 1).sum() == 5
    assert (check_gain(p_wrong, np.arange(500) % 10, verified, 10) >= 1).sum() == 30  # five of each, two are there
