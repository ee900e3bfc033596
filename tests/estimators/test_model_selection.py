"""Cross-validation that never tests on a row without a label, and searches over everything."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate

from dips import CuratedClassifier, PseudoLabelClassifier, SelfTrainingClassifier, SemiSupervisedKFold
from dips.curators import DIPS
from dips.datasets import make_quadrants
from dips.labelers import Greedy

X, TRUTH = make_quadrants(120, random_state=0)
UNLABELED = np.arange(120) % 2 == 1
Y = np.where(UNLABELED, -1, TRUTH)

MARKS = {
    "-1": Y,
    "NaN": np.where(UNLABELED, np.nan, TRUTH),
    "None": np.where(UNLABELED, None, np.where(TRUTH == 1, "well", "ill")),
    "pd.NA": pd.Series(TRUTH, dtype="Int64").mask(UNLABELED),
    "polars": pl.Series([None if u else int(t) for u, t in zip(UNLABELED, TRUTH, strict=True)]),
}


def boosting(max_iter=5):
    return HistGradientBoostingClassifier(max_iter=max_iter, learning_rate=0.5, min_samples_leaf=2)


def quick(**settings):
    return PseudoLabelClassifier(boosting(), n_rounds=2, random_state=0, **settings)


def folds(seed):
    return [test.tolist() for _, test in SemiSupervisedKFold(shuffle=True, random_state=seed).split(X, Y)]


@pytest.mark.parametrize("y", MARKS.values(), ids=MARKS.keys())
def test_unlabeled_rows_are_in_every_training_part_and_no_test_part(y):
    tested = []
    for train, test in SemiSupervisedKFold(n_splits=3).split(X, y):
        assert set(np.flatnonzero(UNLABELED)) <= set(train)
        assert not set(train) & set(test)
        assert len(train) + len(test) == len(X)
        tested.extend(test)
    assert sorted(tested) == np.flatnonzero(~UNLABELED).tolist()


def test_folds_are_stratified():
    for _, test in SemiSupervisedKFold(n_splits=5, shuffle=True, random_state=0).split(X, Y):
        assert abs(TRUTH[test].mean() - TRUTH[~UNLABELED].mean()) < 0.1


def test_shuffled_folds_follow_the_seed():
    assert folds(0) == folds(0) != folds(1)


def test_multilabel_rows_are_tested_on_where_all_labels_are_known():
    y = np.column_stack([Y, 1 - TRUTH])
    for train, test in SemiSupervisedKFold(n_splits=3).split(X, y):
        assert not UNLABELED[test].any()
        assert UNLABELED[train].sum() == UNLABELED.sum()


@pytest.mark.parametrize(
    "groups", [np.arange(120) // 5, [f"patient {i // 5}" for i in range(120)]], ids=["codes", "texts"]
)
@pytest.mark.parametrize("shuffle", [False, True])
def test_no_group_is_divided(groups, shuffle):
    folds = SemiSupervisedKFold(n_splits=3, shuffle=shuffle, random_state=0 if shuffle else None)
    tested, names = [], np.asarray(groups)
    for train, test in folds.split(X, Y, groups):
        assert not set(names[train]) & set(names[test])
        assert UNLABELED[train].any()
        tested.extend(test)
    assert sorted(tested) == np.flatnonzero(~UNLABELED).tolist()


def test_groups_are_passed_on_by_cross_validation():
    folds = SemiSupervisedKFold(n_splits=2)
    scores = cross_validate(quick(), X, Y, groups=np.arange(120) // 5, cv=folds, return_indices=True)
    for train, test in zip(scores["indices"]["train"], scores["indices"]["test"], strict=True):
        assert not set(train // 5) & set(test // 5)
    with config_context(enable_metadata_routing=True):
        routed = cross_validate(quick(), X, Y, params={"groups": np.arange(120) // 5}, cv=folds, return_indices=True)
    assert_array_equal(routed["indices"]["test"][0], scores["indices"]["test"][0])


def test_groups_of_other_rows_are_refused():
    with pytest.raises(ValueError, match="group of every row, 120 of them; got 119"):
        next(SemiSupervisedKFold().split(X, Y, np.arange(119)))


def test_without_labels_there_are_no_folds():
    with pytest.raises(ValueError, match="needs y"):
        next(SemiSupervisedKFold().split(X))
    with pytest.raises(ValueError, match="No labeled row"):
        next(SemiSupervisedKFold().split(X, np.full(120, -1)))


@pytest.mark.parametrize("y", MARKS.values(), ids=MARKS.keys())
def test_cross_validation_scores_labeled_rows(y):
    scores = cross_val_score(quick(curator="none"), X, y, cv=SemiSupervisedKFold(n_splits=2), error_score="raise")
    assert scores.min() > 0.8


def test_a_test_fold_with_unlabeled_rows_is_refused():
    with pytest.raises(ValueError, match=r"rows to score on are unlabeled.*SemiSupervisedKFold"):
        cross_val_score(quick(curator="none"), X, Y, cv=KFold(2), error_score="raise")


def test_where_training_folds_are_scored_the_refusal_says_how_to_leave_that_out():
    folds = SemiSupervisedKFold(n_splits=2)
    with pytest.raises(ValueError, match="training folds have them, and are not scored with return_train_score=False"):
        cross_validate(quick(curator="none"), X, Y, cv=folds, return_train_score=True, error_score="raise")


def test_a_grid_may_hold_labelers_curators_and_settings_of_the_backbone():
    grid = {
        "labeler": ["greedy", Greedy(threshold=0.9)],
        "curator": ["none", DIPS(conf=0.6)],
        "estimator__max_iter": [2, 4],
    }
    search = GridSearchCV(quick(), grid, cv=SemiSupervisedKFold(n_splits=2), error_score="raise").fit(X, Y)
    assert len(search.cv_results_["params"]) == 8
    assert search.best_estimator_.samples_.shape[0] == 120
    assert search.predict(X).shape == (120,)


def test_settings_of_a_curator_are_searched_by_their_names():
    grid = {"curator__conf": [0.5, 0.9], "labeler__threshold": [0.7, 0.9]}
    model = quick(curator=DIPS(), labeler=Greedy())
    search = GridSearchCV(model, grid, cv=SemiSupervisedKFold(n_splits=2), error_score="raise").fit(X, Y)
    assert set(search.best_params_) == set(grid)


def test_backbones_themselves_are_searched():
    grid = {"estimator": [boosting(3), LogisticRegression()], "curator": ["none"]}
    search = GridSearchCV(quick(), grid, cv=SemiSupervisedKFold(n_splits=2), error_score="raise").fit(X, Y)
    assert search.cv_results_["mean_test_score"].min() > 0.8


def test_a_curated_classifier_is_cross_validated_like_any_other():
    model = CuratedClassifier(boosting(), random_state=0)
    scores = cross_validate(model, X, TRUTH, cv=2, scoring=["accuracy", "roc_auc", "neg_log_loss"], error_score="raise")
    assert scores["test_accuracy"].min() > 0.8


def test_a_clone_is_an_unfitted_equal():
    model = quick(curator=DIPS(conf=0.6), labeler="flexmatch").fit(X, Y)
    copy = clone(model)
    assert not hasattr(copy, "samples_")
    assert repr(copy) == repr(model)
    assert copy.get_params()["curator__conf"] == 0.6
    assert copy.get_params()["estimator__max_iter"] == 5


@pytest.mark.parametrize(
    ("model", "setting", "words"),
    [
        (PseudoLabelClassifier(), "estimator__max_depth", "estimator is None; pass an object, such as dips.backbones"),
        (SelfTrainingClassifier(), "estimator__max_depth", "estimator is None"),
        (CuratedClassifier(curator="dips"), "curator__conf", "curator is 'dips'; pass an object"),
    ],
)
def test_settings_of_what_is_no_object_are_refused_in_words(model, setting, words):
    with pytest.raises(ValueError, match=f"{setting} cannot be set, because {words}"):
        GridSearchCV(model, {setting: [0.5]}, cv=2, error_score="raise").fit(X, TRUTH)
    with pytest.raises(ValueError, match="Invalid parameter 'wrong'"):
        model.set_params(wrong__setting=1)
    backbone = model.set_params(estimator=boosting(), estimator__max_iter=7, curator=DIPS(), curator__conf=0.7)
    assert backbone.get_params()["estimator__max_iter"] == 7
