import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

from dips._rounds.training import Trainer
from dips.backbones._plain import Plain
from dips.labelers import FunctionLabeler, Labeler
from dips.labelers._base import best_of_each_class, caps_of_round, checked_proposal, class_frequencies, share_of_round

from .examples import make_candidates, naive_best, random_members


@pytest.mark.parametrize("n_rounds", [1, 2, 5])
@pytest.mark.parametrize("n_left", [1, 7, 900])
def test_caps_follow_the_formula(n_rounds, n_left):
    frequencies = np.array([0.2, 0.3, 0.5])
    for t in range(1, n_rounds + 1):
        before = t - 1  # rounds are counted from 0 in the formula
        share = 2 * (n_rounds - before) / (n_rounds * (n_rounds + 1))
        expected = [math.ceil(f * share * n_left) for f in frequencies]
        assert caps_of_round(frequencies, t, n_rounds, n_left).tolist() == expected


def test_the_shares_of_the_rounds_fall_and_add_up_to_one():
    shares = [share_of_round(t, 5) for t in range(1, 6)]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)


def test_ties_go_to_the_earlier_rows():
    labels = np.array([0, 0, 0, 1, 0, 1])
    scores = np.array([0.9, 0.8, 0.9, 0.5, 0.9, 0.5])
    eligible = np.ones(6, dtype=bool)
    assert best_of_each_class(labels, scores, eligible, np.array([2, 1])).tolist() == [0, 2, 3]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.booleans()), max_size=20), st.integers(0, 4))
def test_the_best_of_each_class_are_those_a_full_sort_would_take(rows, cap):
    labels, scores, eligible = (np.array([r[k] for r in rows], dtype=t) for k, t in enumerate((int, float, bool)))
    caps = np.array([cap, 1, 0])
    assert best_of_each_class(labels, scores, eligible, caps).tolist() == naive_best(labels, scores, eligible, caps)


def test_class_frequencies_are_the_shares_of_the_labels():
    assert class_frequencies(np.array([0, 0, 1, 2]), 3).tolist() == [0.5, 0.25, 0.25]


def test_exactly_five_to_one_is_not_yet_skewed():
    assert class_frequencies(np.array([0] * 5 + [1]), 2) == pytest.approx([5 / 6, 1 / 6])


def test_skewed_class_frequencies_are_left_alone_where_that_is_wanted():
    assert class_frequencies(np.array([0] * 9 + [1]), 2, evened=False) == pytest.approx([0.9, 0.1])


def test_skewed_class_frequencies_are_mixed_half_and_half_with_uniform():
    shares = class_frequencies(np.array([0] * 9 + [1]), 2)
    assert shares == pytest.approx([(0.9 + 0.5) / 2, (0.1 + 0.5) / 2])


def test_a_class_without_a_row_still_gets_a_share():
    assert class_frequencies(np.array([0, 1]), 3) == pytest.approx([5 / 12, 5 / 12, 1 / 6])


class Remembering(Plain):
    def __init__(self):
        self.predicted = []

    def predict_proba(self, estimator, X):
        self.predicted.append(super().predict_proba(estimator, X))
        return self.predicted[-1]


@pytest.mark.parametrize("n_models", [2, 5])
def test_ensemble_moments_are_the_mean_and_standard_deviation_of_the_members(n_models):
    rng = np.random.RandomState(0)
    X, labels = rng.normal(size=(40, 3)), rng.randint(0, 3, 30)
    trainer = Trainer(RandomForestClassifier(3, max_depth=2), X, 3, None, np.random.RandomState(1), n_jobs=1)
    trainer.backbone = Remembering()
    moments = trainer.ensemble(np.arange(30), labels, np.arange(25, 40), n_models)
    members = np.array(trainer.backbone.predicted)
    assert members.shape == (n_models, 15, 3)
    assert moments.n_models == n_models
    np.testing.assert_allclose(moments.mean, np.mean(members, axis=0), atol=1e-6)
    np.testing.assert_allclose(moments.std, np.std(members, axis=0, ddof=1), atol=1e-6)
    assert moments.std.max() > 0


def test_a_labeler_must_say_how_it_chooses():
    with pytest.raises(NotImplementedError):
        Labeler().propose(make_candidates(random_members()))


def test_a_function_is_a_labeler():
    seen = make_candidates(random_members(n=5))
    labeler = FunctionLabeler(lambda candidates: ([3, 0], candidates.probabilities.argmax(axis=1)[[3, 0]]))
    rows, labels = checked_proposal(labeler, seen)
    assert rows.tolist() == [3, 0]
    assert labels.tolist() == seen.probabilities.argmax(axis=1)[[3, 0]].tolist()


def test_a_function_may_propose_nothing():
    rows, labels = checked_proposal(FunctionLabeler(lambda candidates: ([], [])), make_candidates(random_members()))
    assert rows.size == labels.size == 0
    assert rows.dtype.kind == labels.dtype.kind == "i"


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, r"two things, positions and labels; got NoneType\."),
        (np.arange(3), r"two things, positions and labels; got ndarray\."),
        (([0, 1], [0]), r"as many labels as positions; got \(1,\) and \(2,\)\."),
        (([[0, 1]], [[0, 1]]), r"as many labels as positions; got \(1, 2\) and \(1, 2\)\."),
        (([0, 0], [1, 1]), r"distinct positions from 0 to 4\."),
        (([5], [1]), r"distinct positions from 0 to 4\."),
        (([-1], [1]), r"distinct positions from 0 to 4\."),
        (([0], [3]), r"labels as codes from 0 to 2\."),
        (([0], [-1]), r"labels as codes from 0 to 2\."),
        (([0.5], [1]), r"positions as whole numbers; got float64\."),
        ((np.array([True, False]), [1, 1]), r"positions as whole numbers; got bool\."),
        (([0], ["ill"]), r"labels as whole numbers; got <U3\."),
    ],
)
def test_what_a_labeler_proposes_is_checked(returned, message):
    class Fixed(Labeler):
        def propose(self, candidates):
            return returned

    for labeler in (FunctionLabeler(lambda candidates: returned), Fixed()):
        with pytest.raises(ValueError, match=f"The labeler must return {message}"):
            checked_proposal(labeler, make_candidates(random_members(n=5)))


def choosing(labels=(0, 1, 2), scores=(0.9, 0.8, 0.7), eligible=(True, True, True)):
    class Choosing(Labeler):
        def choose(self, candidates):
            return labels, scores, eligible

    return Choosing()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"labels": [0, 1, 3]}, r"return labels as codes from 0 to 2\."),
        ({"labels": [-1, 1, 2]}, r"return labels as codes from 0 to 2\."),
        ({"labels": [0.0, 1.0, 2.0]}, r"return labels as whole numbers; got float64\."),
        ({"scores": [0.9, np.nan, 0.7]}, r"return a score for every row that may be taken; got NaN\."),
        ({"eligible": [1, 0, 1]}, r"a boolean mask of shape \(3,\); got shapes .* and a mask of int64\."),
        ({"scores": [0.9]}, r"of shape \(3,\); got shapes \(3,\), \(1,\), \(3,\)"),
    ],
)
def test_what_a_labeler_chooses_is_checked(choice, message):
    with pytest.raises(ValueError, match=f"The labeler must .*{message}"):
        choosing(**choice).propose(make_candidates(random_members(n=3)))


def test_rows_that_may_not_be_taken_need_no_label_and_no_score():
    labeler = choosing(labels=[0, -1, 2], scores=[0.9, np.nan, 0.7], eligible=[True, False, True])
    rows, labels = labeler.propose(make_candidates(random_members(n=3)))
    assert rows.tolist() == labels.tolist() == [0, 2]


def test_an_error_in_the_function_is_its_own():
    def broken(candidates):
        return {}["nothing"], int("x")

    def wrong(candidates):
        raise ValueError("my own words")

    with pytest.raises(KeyError, match="nothing"):
        FunctionLabeler(broken).propose(make_candidates(random_members()))
    with pytest.raises(ValueError, match=r"^my own words$"):
        FunctionLabeler(wrong).propose(make_candidates(random_members()))
