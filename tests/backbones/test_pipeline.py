from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from dips import CuratedClassifier, PseudoLabelClassifier
from dips.backbones import find_backbone

from .families import catboost, fit_and_watch, gradient_boosting, sgd, table


def test_transformers_see_only_the_training_rows():
    X, y, X_watch = table(2)
    pipeline = make_pipeline(StandardScaler(), sgd())
    fit_and_watch(pipeline, X, y, X_watch + 100)
    assert_array_equal(pipeline[0].mean_, StandardScaler().fit(X).mean_)


def test_it_is_fitted_as_its_own_fit_would():
    X, y, X_watch = table(3)
    steps = lambda: make_pipeline(StandardScaler(), PCA(3, random_state=0), gradient_boosting())  # noqa: E731
    pipeline = steps()
    fit_and_watch(pipeline, X, y, X_watch)
    assert_array_equal(pipeline.predict_proba(X_watch), steps().fit(X, y).predict_proba(X_watch))


def test_transformers_kept_in_a_memory_are_fitted_too(tmp_path):
    X, y, X_watch = table(2)
    pipeline = Pipeline(
        [("scale", StandardScaler()), ("rotate", PCA(3)), ("boost", gradient_boosting())], memory=str(tmp_path)
    )
    dynamics = fit_and_watch(pipeline, X, y, X_watch)
    assert_allclose(pipeline.predict_proba(X_watch), dynamics.probabilities)


@pytest.mark.parametrize("first", [(), ("passthrough",)], ids=["alone", "passthrough"])
def test_a_pipeline_without_transformers_is_its_last_step(first):
    X, y, X_watch = table(2)
    dynamics = fit_and_watch(make_pipeline(*first, gradient_boosting()), X, y, X_watch)
    assert_array_equal(dynamics.trajectories, fit_and_watch(gradient_boosting(), X, y, X_watch).trajectories)


@pytest.mark.parametrize("step", ["passthrough", None])
def test_a_step_that_does_nothing_is_copied(step):
    pipeline = Pipeline([("nothing", step), ("scale", StandardScaler()), ("boost", gradient_boosting())])
    copy = find_backbone(pipeline).clone(pipeline)
    assert copy.steps[0] == ("nothing", step)
    assert copy[1] is not pipeline[1]
    assert copy[-1] is not pipeline[-1]
    X, y, _ = table(2)
    model = PseudoLabelClassifier(pipeline, n_rounds=2, random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == (len(y), 2)


class Named(Pipeline):
    def __init__(self, steps, *, title="", memory=None, verbose=False):
        super().__init__(steps, memory=memory, verbose=verbose)
        self.title = title


def test_a_copy_is_of_the_same_kind_with_the_same_settings():
    pipeline = Named([("scale", StandardScaler()), ("boost", gradient_boosting())], title="mine", verbose=False)
    copy = find_backbone(pipeline).clone(pipeline)
    assert type(copy) is Named
    assert copy.title == "mine"
    pipeline = make_pipeline(StandardScaler(), gradient_boosting(), memory="here", verbose=True)
    if "transform_input" in pipeline.get_params():  # since scikit-learn 1.6
        pipeline.set_params(transform_input=["X_val"])
    copy = find_backbone(pipeline).clone(pipeline)
    settings = [{k: v for k, v in p.get_params(deep=False).items() if k != "steps"} for p in (pipeline, copy)]
    assert settings[0] == settings[1]


def test_a_pipeline_may_end_in_a_pipeline():
    X, y, X_watch = table(2)
    pipeline = make_pipeline(StandardScaler(), make_pipeline(PCA(3, random_state=0), gradient_boosting()))
    dynamics = fit_and_watch(pipeline, X, y, X_watch)
    assert_allclose(find_backbone(pipeline).predict_proba(pipeline, X_watch), dynamics.probabilities)
    names = find_backbone(pipeline).seed_parameters(pipeline)
    assert set(names) == {"pipeline__pca__random_state", "pipeline__gradientboostingclassifier__random_state"}


def test_frames_reach_the_transformers_as_they_are():
    X, y, X_watch = table(2)
    frames = [
        pd.DataFrame({"a": rows[:, 0], "ward": np.where(rows[:, 1] > 0, "north", "south")}) for rows in (X, X_watch)
    ]
    encode = make_column_transformer((OneHotEncoder(), ["ward"]), (StandardScaler(), ["a"]))
    pipeline = make_pipeline(encode, gradient_boosting())
    assert find_backbone(pipeline).reads_frames(pipeline)
    dynamics = fit_and_watch(pipeline, frames[0], y, frames[1])
    assert_allclose(dynamics.probabilities, pipeline.predict_proba(frames[1]), rtol=1e-6)


def test_settings_are_named_after_the_last_step():
    pytest.importorskip("catboost")
    pipeline = Pipeline([("rotate", PCA(2)), ("boost", catboost())])
    backbone = find_backbone(pipeline)
    assert backbone.threads == "boost__thread_count"
    assert backbone.seed_parameters(pipeline) == ["rotate__random_state", "boost__random_seed"]
    assert backbone.quiet_parameters(pipeline) == {"boost__allow_writing_files": False, "boost__verbose": False}
    assert all(name.startswith("boost__") for name in backbone.vary(pipeline, np.random.RandomState(0)))


def test_a_last_step_that_warns_of_n_jobs_is_not_told_of_any():
    X, y, _ = table(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)  # LogisticRegression's, since scikit-learn 1.8
        CuratedClassifier(make_pipeline(StandardScaler(), LogisticRegression()), random_state=0).fit(X[:60], y[:60])


def test_the_last_step_is_checked():
    pipeline = make_pipeline(StandardScaler(), sgd(loss="hinge"))
    with pytest.raises(ValueError, match="SGDClassifier"):
        find_backbone(pipeline).check(pipeline)


@pytest.mark.parametrize(
    ("transformer", "learns"),
    [
        (StandardScaler(), False),
        (make_column_transformer((OneHotEncoder(), ["ward"])), False),
        ("passthrough", False),
        (TargetEncoder(), True),
        (SelectKBest(), True),
        (LinearDiscriminantAnalysis(), True),
        (make_column_transformer((make_pipeline(StandardScaler(), TargetEncoder()), ["ward"])), True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_where_transformers_learn_from_labels_a_row_is_given_only_one(transformer, learns):
    pipeline = make_pipeline(transformer, LogisticRegression())
    assert find_backbone(pipeline).takes_beliefs(pipeline) is not learns


def test_a_target_encoder_learns_what_a_category_means():
    rng = np.random.RandomState(0)
    codes = rng.randint(40, size=400)
    y = (rng.normal(size=40)[codes] + 0.3 * rng.normal(size=400) > 0).astype(int)
    frame = pd.DataFrame({"code": codes.astype(str), "other": rng.normal(size=400)})
    encode = make_column_transformer((TargetEncoder(cv=3), ["code"]), remainder="passthrough")
    pipeline = make_pipeline(encode, LogisticRegression())
    model = PseudoLabelClassifier(pipeline, random_state=0).fit(frame, np.where(np.arange(400) < 200, y, -1))
    alone = pipeline.fit(frame[:200], y[:200]).score(frame[200:], y[200:])
    assert model.score(frame[200:], y[200:]) > alone - 0.03
