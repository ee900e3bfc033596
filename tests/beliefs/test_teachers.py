import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

from dips import PseudoLabelClassifier
from dips._beliefs.asked_rows import AskedRows, _normal_ranks, linear_columns, numeric_columns
from dips._beliefs.effort import Effort
from dips._beliefs.teachers import HELPERS, BackboneTeacher, make_helpers
from dips._data.folds import training_and_test
from dips._rounds.training import Trainer

RNG = np.random.RandomState(0)
X = RNG.normal(size=(90, 3))
Y = (X[:60, 0] > 0).astype(int)
FOLDS = list(training_and_test(Y, 3, np.arange(60)))
TRAININGS, TESTS = [np.flatnonzero(t) for t, _ in FOLDS], [np.flatnonzero(t) for _, t in FOLDS]


def helpers_called(names, n_classes):
    trainer = Trainer(LogisticRegression(), X, n_classes, None, np.random.RandomState(0))
    rows = AskedRows.of(trainer, np.arange(60), np.arange(60, 90), np.arange(0))
    return make_helpers(rows, Effort(3, tuple(names), (), 1000, 1000), n_classes, trainer.rng)


def test_the_backbone_answers_out_of_fold_and_averages_over_the_folds():
    trainer = Trainer(LogisticRegression(), X, 2, None, np.random.RandomState(0))
    answers = BackboneTeacher(trainer, np.arange(60), np.arange(60, 90), 1000).answer(TRAININGS, TESTS, Y)
    models = [LogisticRegression().fit(X[rows], Y[rows]) for rows in TRAININGS]
    for model, test in zip(models, TESTS, strict=True):
        np.testing.assert_allclose(answers.labeled[test], model.predict_proba(X[test]))
    naive = np.mean([model.predict_proba(X[60:]) for model in models], axis=0)
    np.testing.assert_allclose(answers.unlabeled, naive)


def test_every_helper_learns_and_repeats_itself():
    def ask():
        return [(helper.name, helper.answer(TRAININGS, TESTS, Y)) for helper in helpers_called(HELPERS, n_classes=2)]

    for (name, first), (_, second) in zip(ask(), ask(), strict=True):
        assert roc_auc_score(Y, first.labeled[:, 1]) > 0.9, name
        np.testing.assert_array_equal(first.labeled, second.labeled)
        assert first.unlabeled.shape == (30, 2)


def test_a_class_that_a_fold_lacks_has_probability_zero():
    labels = np.array([0] * 30 + [1] * 30)
    (helper,) = helpers_called(["linear"], n_classes=3)
    answers = helper.answer([np.arange(60)], [np.arange(60)], labels)
    assert (answers.labeled[:, 2] == 0).all()


def test_frames_sparse_tables_and_gaps_become_numbers_and_images_do_not():
    frame = pd.DataFrame({"a": [1.0, None, 3.0], "b": ["x", "y", "x"]})
    assert numeric_columns(frame).shape == (3, 2)
    assert np.isnan(numeric_columns(frame)[1, 0])
    assert numeric_columns(sp.csr_matrix(np.eye(3))).shape == (3, 3)
    assert np.isnan(numeric_columns(np.array([[np.inf, 1.0]]))[0, 0])
    assert numeric_columns(np.zeros((2, 4, 4, 3))) is None


@pytest.mark.parametrize(
    "strange",
    [pd.date_range("2020", periods=90), [["a", "list"]] * 90, [pd.Timestamp("2020").date()] * 90],
    ids=["dates", "lists", "objects"],
)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_column_that_only_a_pipeline_can_read_is_missing(strange, make):
    frame = make({"a": X[:, 0], "strange": list(strange), "b": X[:, 1]})
    read = numeric_columns(frame)
    assert np.isnan(read[:, 1]).all()
    np.testing.assert_array_equal(read[:, [0, 2]], X[:, :2])
    chosen = ColumnTransformer([("numbers", "passthrough", ["a", "b"])])
    labels = np.append(Y, np.full(30, -1))
    model = PseudoLabelClassifier(make_pipeline(chosen, LogisticRegression()), random_state=0).fit(frame, labels)
    assert model.score(frame[:60], Y) > 0.9
    assert numeric_columns(["a", "b"]) is None
    assert numeric_columns(np.zeros((2, 0))) is None


def test_linear_columns_have_no_gaps_no_constants_and_an_indicator_of_each_of_few_values():
    table = np.column_stack([X[:, 0], np.ones(90), np.arange(90) % 4])
    table[3, 0] = np.nan
    columns = linear_columns(table)
    assert columns.shape == (90, 2 + 4)
    assert np.isfinite(columns).all()
    assert columns[3, 0] == 0
    assert linear_columns(np.ones((5, 2))).shape == (5, 1)


def test_numbers_that_only_the_backbone_can_hold_are_left_to_it():
    from sklearn.ensemble import HistGradientBoostingClassifier

    from dips import CuratedClassifier

    X = np.random.RandomState(0).normal(size=(90, 3))
    y = (X[:, 0] > 0).astype(int)
    X[3, 1], X[5, 1] = 1e308, -1e308
    model = CuratedClassifier(HistGradientBoostingClassifier(max_iter=5), random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9


def test_ranks_are_those_of_scikit_learn():
    rng = np.random.RandomState(0)
    table = rng.normal(size=(500, 5))
    table[:, 1] = rng.randint(4, size=500)
    table[:, 2] = np.maximum(table[:, 2], 0)
    table[rng.uniform(size=500) < 0.3, 3] = np.nan
    theirs = QuantileTransformer(n_quantiles=200, output_distribution="normal").fit_transform(table)
    np.testing.assert_allclose(_normal_ranks(table), np.clip(theirs, -3, 3), atol=1e-9)


def test_a_column_of_many_rows_may_have_few_values(recwarn):
    X = np.random.RandomState(0).normal(size=(20_001, 2))
    X[:, 1] = np.nan
    X[[5, 77, 101], 1] = [1.0, 2.0, 3.0]
    columns = linear_columns(X)
    assert columns[5, 1] < columns[77, 1] < columns[101, 1]
    assert np.isfinite(columns).all()
    assert not recwarn.list
