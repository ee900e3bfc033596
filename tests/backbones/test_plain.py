from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dips.backbones import find_backbone

from .families import fit_and_watch, table


@pytest.mark.parametrize("wrap", [lambda e: e, lambda e: make_pipeline(StandardScaler(), e)], ids=["alone", "pipeline"])
@pytest.mark.parametrize("estimator", [RandomForestClassifier(), KNeighborsClassifier(), GaussianNB()], ids=repr)
def test_what_is_not_trained_step_by_step_is_refused(estimator, wrap):
    backbone, wrapped = find_backbone(wrap(estimator)), wrap(estimator)
    with pytest.raises(ValueError, match="has no learning dynamics") as error:
        backbone.check(wrapped)
    assert str(error.value) == (
        f"{type(estimator).__name__} is not trained step by step, so it has no learning dynamics; "
        'use a boosted or a neural backbone, or curator="auto".'
    )


def test_watching_is_refused_before_anything_is_fitted():
    estimator = RandomForestClassifier()
    with pytest.raises(ValueError, match="not trained step by step"):
        fit_and_watch(estimator, *table(2))
    assert not hasattr(estimator, "classes_")


def test_it_can_be_fitted_unwatched_and_weighed():
    X, y, X_watch = table(2)
    weight = np.random.RandomState(0).uniform(0.1, 3, size=y.size)
    estimator = LogisticRegression()
    backbone = find_backbone(estimator)
    backbone.fit(estimator, X, y, weight)
    expected = LogisticRegression().fit(X, y, weight).predict_proba(X_watch)
    assert_array_equal(backbone.predict_proba(estimator, X_watch), expected)


@pytest.mark.parametrize("wrap", [lambda e: e, lambda e: make_pipeline(StandardScaler(), e)], ids=["alone", "pipeline"])
@pytest.mark.parametrize("estimator", [RandomForestClassifier(n_estimators=3), GaussianNB()], ids=repr)
def test_a_copy_predicts_on_the_threads_that_it_is_told_if_it_has_any(estimator, wrap):
    X, y, X_watch = table(2)
    fitted = wrap(estimator).fit(X, y)
    copied = find_backbone(fitted).on_threads(fitted, 3)
    assert {v for k, v in copied.get_params().items() if k.endswith("n_jobs")} <= {3}
    assert {v for k, v in fitted.get_params().items() if k.endswith("n_jobs")} <= {None}
    assert_array_equal(copied.predict_proba(X_watch), fitted.predict_proba(X_watch))


def test_where_something_is_cross_validated_inside_a_row_is_given_only_one_label():
    assert find_backbone(LogisticRegression()).takes_beliefs(LogisticRegression())
    assert not find_backbone(LogisticRegressionCV()).takes_beliefs(LogisticRegressionCV())
