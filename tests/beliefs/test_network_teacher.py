"""The network among the teachers: asked out of fold, and absent without trouble."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from dips import CuratedClassifier
from dips._beliefs.network_teacher import NetworkTeacher, network_teachers
from dips.curators import Beliefs


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=60), "kind": rng.choice(["a", "b"], 60)})
    return X, (X["size"] > 0).to_numpy().astype(int)[:40]


def folds_of(n):
    tests = np.array_split(np.arange(n), 2)
    return tests[::-1], tests


def test_a_row_is_judged_without_its_own_label(table):
    X, y = table
    trainings, tests = folds_of(40)
    teacher = NetworkTeacher(X, 40, 2, seed=0)
    answers = teacher.answer(trainings, tests, y)
    assert answers.labeled.shape == (40, 2)
    assert answers.unlabeled.shape == (20, 2)
    assert np.allclose(answers.labeled.sum(axis=1), 1)
    flipped = y.copy()
    flipped[3] = 1 - flipped[3]
    again = teacher.answer(trainings, tests, flipped)
    assert np.array_equal(answers.labeled[tests[0]], again.labeled[tests[0]])
    assert not np.array_equal(answers.labeled[tests[1]], again.labeled[tests[1]])


def test_it_teaches_where_it_is_asked_to(table):
    X, y = table
    model = LogisticRegression()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = CuratedClassifier(model, curator=Beliefs(), random_state=0).fit(X[["size"]][:40], y)
        taught = CuratedClassifier(model, curator=Beliefs(network=True), random_state=0).fit(X[["size"]][:40], y)
    assert "network" not in plain.curator_.teachers_
    assert 0 < taught.curator_.teachers_["network"] < 1


@pytest.mark.parametrize(
    ("n_labels", "n_classes", "X", "why"),
    [
        (5_000, 2, np.zeros((1, 1)), "5000 labels"),
        (100, 11, np.zeros((1, 1)), "11 classes"),
        (100, 2, np.array([["text"]], dtype=object), "dense arrays of numbers"),
        (100, 2, pd.DataFrame({"when": pd.date_range("2020", periods=3)}), "teachers: Column 'when' holds dates"),
    ],
)
def test_it_abstains_from_what_it_was_not_made_for(n_labels, n_classes, X, why):
    with pytest.warns(UserWarning, match=why):
        assert network_teachers(X, n_labels, n_classes, np.random.RandomState(0)) == []
