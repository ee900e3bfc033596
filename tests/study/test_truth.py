"""Candidates are compared by what validation rows may truly be, not by labels that are wrong."""

import numpy as np
import pytest

from dips._study.compare import Comparison, Gain, choose, gains_over_usual
from dips._study.examples import Examples
from dips._study.metrics import METRICS
from dips._study.settings import Settings
from dips._study.truth import Truth, believed_truth
from dips.datasets import flip_labels, make_quadrants


@pytest.fixture(scope="module")
def believed(quick):
    X, y = make_quadrants(300, random_state=0)
    noisy, flipped = flip_labels(y, 0.25, random_state=0)
    settings = Settings(target="y")
    return y, noisy, flipped, believed_truth(Examples(X, noisy), np.arange(300), 2, settings), X


@pytest.mark.parametrize("metric", METRICS)
def test_with_certain_beliefs_every_metric_is_the_usual_one(metric):
    rng = np.random.RandomState(0)
    codes, p = rng.randint(0, 3, 60), rng.dirichlet(np.ones(3), 60)
    expected = METRICS[metric].score(codes, p, 2)
    assert Truth.given(codes, 3).score(METRICS[metric], p, 2) == pytest.approx(expected)


def test_doubtful_rows_count_by_halves():
    truth = Truth(np.array([[1.0, 0.0], [0.5, 0.5]]))
    assert truth.score(METRICS["accuracy"], np.array([[0.9, 0.1], [0.2, 0.8]]), 1) == 0.75


def test_beliefs_are_nearer_to_the_truth_than_the_labels(believed):
    y, noisy, _, belief, _ = believed
    assert belief.shape == (300, 2)
    np.testing.assert_allclose(belief.sum(axis=1), 1)
    assert belief[np.arange(300), y].mean() > (noisy == y).mean() + 0.05


def test_a_perfect_model_scores_nearly_what_it_deserves(believed):
    y, noisy, _, belief, _ = believed
    perfect = np.eye(2)[y] * 0.98 + 0.01
    by_labels = Truth.given(noisy, 2).score(METRICS["accuracy"], perfect, 1)
    by_belief = Truth(belief).score(METRICS["accuracy"], perfect, 1)
    assert by_labels < by_belief <= 1


def test_the_belief_in_a_row_does_not_follow_from_its_own_label_alone(believed, quick):
    """Flipping one label moves what is believed of that row towards it, by no more than the noise allows."""
    y, noisy, flipped, belief, X = believed
    row = int(np.flatnonzero(~flipped)[0])
    other = noisy.copy()
    other[row] = 1 - noisy[row]
    changed = believed_truth(Examples(X, other), np.arange(300), 2, Settings(target="y"))
    assert changed[row, y[row]] < belief[row, y[row]]


def compared(**of_folds):
    comparison = Comparison()
    comparison.of_folds = {name: [p] for name, p in of_folds.items()}
    return comparison


def test_the_better_model_is_chosen_although_the_labels_say_otherwise():
    """One candidate repeats the wrong labels, the other knows the truth; beliefs side with the truth."""
    rng = np.random.RandomState(0)
    y = rng.randint(0, 2, 400)
    wrong = rng.rand(400) < 0.3
    given = np.where(wrong, 1 - y, y)
    belief = np.eye(2)[y] * 0.8 + 0.1
    repeats, knows = np.eye(2)[given] * 0.9 + 0.05, np.eye(2)[y] * 0.9 + 0.05
    comparison, truths = compared(plain=knows, curated=repeats), [Truth(belief)]
    comparison.validate(truths, "accuracy", 1)
    gains = gains_over_usual(comparison, truths, Settings(target="y"), 1)
    assert next(iter(gains)) == "curated"
    assert choose(gains) == "plain"


def test_models_that_differ_in_one_group_do_not_differ_clearly():
    y, groups = np.arange(60) % 2, np.arange(60) // 12
    good = np.eye(2)[y]
    comparison = compared(plain=good, curated=np.where(groups[:, None] == 0, good[:, ::-1], good))
    for of_rows, kept in ((None, "plain"), (groups, "curated")):
        truths = [Truth.given(y, 2, of_rows)]
        comparison.validate(truths, "accuracy", 1)
        assert choose(gains_over_usual(comparison, truths, Settings(target="y"), 1)) == kept


def test_the_usual_model_is_the_one_with_unlabeled_rows_where_it_was_trained():
    p = np.full((40, 2), 0.5)
    comparison, truths = compared(plain=p, curated=p, curated_pseudo=p), [Truth.given(np.arange(40) % 2, 2)]
    comparison.validate(truths, "accuracy", 1)
    gains = gains_over_usual(comparison, truths, Settings(target="y"), 1)
    assert choose(gains) == "curated_pseudo"
    assert gains["curated_pseudo"] == Gain(0.0, 0.0)
