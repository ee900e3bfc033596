"""Clones of classifiers around a backbone that scikit-learn itself cannot clone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dips import CuratedClassifier, PseudoLabelClassifier, SelfTrainingClassifier
from dips.datasets import make_quadrants

catboost = pytest.importorskip("catboost")

X, Y = make_quadrants(90, random_state=0)
FRAME = pd.DataFrame({"a": X[:, 0], "side": np.where(X[:, 1] > 0, "up", "down")})
MODELS = [CuratedClassifier, PseudoLabelClassifier, SelfTrainingClassifier]


def with_categories(**settings):
    return catboost.CatBoostClassifier(
        iterations=5, cat_features=["side"], verbose=False, allow_writing_files=False, thread_count=1, **settings
    )


@pytest.mark.parametrize("model", MODELS)
def test_a_clone_has_the_same_settings_and_a_backbone_of_its_own(model):
    original = model(with_categories(depth=3), random_state=7)
    copied = clone(original)
    assert copied.estimator is not original.estimator
    assert copied.estimator.get_params() == original.estimator.get_params()
    assert copied.random_state == 7
    assert original.estimator is not None


@pytest.mark.parametrize("model", MODELS)
def test_cross_validated_and_searched(model):
    classifier = model(with_categories(), random_state=0)
    assert np.mean(cross_val_score(classifier, FRAME, Y, cv=2, error_score="raise")) > 0.6
    search = GridSearchCV(classifier, {"estimator__depth": [2, 3]}, cv=2, error_score="raise").fit(FRAME, Y)
    assert search.best_estimator_.estimator.get_params()["cat_features"] == ["side"]


def test_inside_a_pipeline_and_around_one():
    inside = make_pipeline(FunctionTransformer(), CuratedClassifier(with_categories()))
    around = CuratedClassifier(make_pipeline(FunctionTransformer(), with_categories()))
    assert clone(inside)[-1].estimator.get_params()["cat_features"] == ["side"]
    assert clone(around).estimator[-1].get_params()["cat_features"] == ["side"]


def test_other_settings_that_cannot_be_cloned_are_refused_as_before():
    class Changes(CuratedClassifier):
        def __init__(self, estimator=None, *, names=()):
            super().__init__(estimator)
            self.names = list(names)

    for estimator in (None, with_categories()):
        with pytest.raises(RuntimeError, match="modifies parameter names"):
            clone(Changes(estimator, names=("a",)))
