import numpy as np
import pytest
from sklearn.datasets import make_circles
from sklearn.linear_model import LogisticRegression

from dips import CuratedClassifier, PseudoLabelClassifier
from dips._beliefs.graph_teacher import GraphTeacher
from dips._data.labels import UNLABELED

X, RINGS = make_circles(300, noise=0.05, factor=0.4, random_state=1)
LABELS = RINGS[:12]
TESTS = [np.arange(12)[k::3] for k in range(3)]
TRAININGS = [np.setdiff1d(np.arange(12), test) for test in TESTS]


def ask(n_synthetic=0, n_classes=2, weights=None, labels=LABELS):
    return GraphTeacher(X, n_synthetic, n_classes, weights, 1000).answer(TRAININGS, TESTS, labels)


def test_a_few_labels_tell_the_class_of_each_cluster():
    answers = ask()
    np.testing.assert_allclose(answers.unlabeled.sum(axis=1), 1)
    assert (answers.unlabeled.argmax(axis=1) == RINGS[12:]).mean() > 0.95
    assert (answers.labeled.argmax(axis=1) == LABELS).mean() > 0.9


def test_the_label_of_a_row_does_not_reach_its_own_answer():
    flipped = LABELS.copy()
    flipped[0] = 1 - flipped[0]
    np.testing.assert_array_equal(ask().labeled[0], ask(labels=flipped).labeled[0])


def test_synthetic_rows_are_no_part_of_the_graph_and_answered_for_by_those_beside_them():
    answers, without = ask(n_synthetic=40), GraphTeacher(X[:260], 0, 2, None, 1000).answer(TRAININGS, TESTS, LABELS)
    np.testing.assert_array_equal(answers.unlabeled[:-40], without.unlabeled)
    assert (answers.unlabeled[-40:].argmax(axis=1) == RINGS[-40:]).mean() > 0.95


def test_a_class_without_labels_has_probability_zero():
    assert (ask(n_classes=3).unlabeled[:, 2] == 0).all()


def test_a_row_without_weight_teaches_nothing():
    flipped = LABELS.copy()
    flipped[0] = 1 - flipped[0]
    weights = np.where(np.arange(12) == 0, 0.0, 1.0)
    np.testing.assert_array_equal(ask(weights=weights).unlabeled, ask(weights=weights, labels=flipped).unlabeled)


def test_a_student_learns_of_clusters_from_unlabeled_rows():
    squares, y = np.column_stack([X, X**2]), np.where(np.arange(300) < 12, RINGS, UNLABELED)
    taught = PseudoLabelClassifier(LogisticRegression(), random_state=0).fit(squares, y)
    without = CuratedClassifier(LogisticRegression(), random_state=0).fit(squares[:12], LABELS)
    assert taught.curator_.teachers_["graph"] > 0.3
    assert taught.score(squares[12:], RINGS[12:]) > without.score(squares[12:], RINGS[12:]) + 0.1


@pytest.mark.parametrize("n_labels", [200, 300])
def test_the_graph_is_asked_only_where_unlabeled_rows_are_more_than_labels(n_labels):
    y = np.where(np.arange(300) < n_labels, RINGS, UNLABELED)
    model = PseudoLabelClassifier(LogisticRegression(), random_state=0).fit(X, y)
    assert "graph" not in model.curator_.teachers_
    assert "graph" not in CuratedClassifier(LogisticRegression(), random_state=0).fit(X, RINGS).curator_.teachers_
