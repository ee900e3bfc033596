from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from dips import PseudoLabelClassifier
from dips.backbones import find_backbone
from dips.datasets import flip_labels
from dips.exceptions import InputError

from .families import E, catboost, fit_and_watch, slow_catboost, table

pytest.importorskip("catboost")


@pytest.mark.parametrize(
    ("n_classes", "settings"),
    [
        (2, {"boosting_type": "Ordered"}),
        (2, {"grow_policy": "Lossguide"}),
        (2, {"auto_class_weights": "Balanced"}),
    ],
    ids=str,
)
def test_settings_that_change_how_trees_add_up_are_replayed_right(n_classes, settings):
    X, y, X_watch = table(n_classes)
    dynamics = fit_and_watch(catboost(**settings), X, y, X_watch)
    expected = slow_catboost(lambda **quiet: catboost(**settings, **quiet), X, y, X_watch)
    assert dynamics.n_checkpoints == E
    assert_allclose(dynamics.trajectories, np.stack(expected, axis=1), atol=1e-6)


def test_probabilities_of_one_class_against_the_rest_are_made_to_add_up_to_one():
    X, y, X_watch = table(3)
    settings = {"loss_function": "MultiClassOneVsAll"}
    estimator = catboost(**settings)
    dynamics = fit_and_watch(estimator, X, y, X_watch)
    expected = np.stack(slow_catboost(lambda **quiet: catboost(**settings, **quiet), X, y, X_watch), axis=1)
    assert_allclose(dynamics.trajectories, expected / expected.sum(axis=2, keepdims=True), atol=1e-6)
    assert_allclose(find_backbone(estimator).predict_proba(estimator, X_watch), dynamics.probabilities, atol=1e-6)


@pytest.mark.parametrize(
    ("encode", "settings"),
    [
        (lambda X: np.where(np.random.RandomState(0).uniform(size=X.shape) < 0.3, np.nan, X), {}),
        (lambda X: sp.csr_matrix(np.where(abs(X) < 0.5, 0, X)), {}),
        (
            lambda X: pd.DataFrame(X, columns=list("abcdef")).assign(c=np.where(X[:, 0] > 0, "u", "v")),
            {"cat_features": ["c"]},
        ),
    ],
    ids=["missing", "sparse", "categories"],
)
def test_any_table_catboost_reads_can_be_watched(encode, settings):
    X, y, X_watch = table(2)
    X, X_watch = encode(X), encode(X_watch)
    dynamics = fit_and_watch(catboost(**settings), X, y, X_watch)
    expected = slow_catboost(lambda **quiet: catboost(**settings, **quiet), X, y, X_watch)
    assert_allclose(dynamics.trajectories, np.stack(expected, axis=1), atol=1e-6)


def test_frames_are_wanted_as_they_are_only_with_declared_columns():
    backbone = find_backbone(catboost())
    assert not backbone.reads_frames(catboost())
    assert backbone.reads_frames(catboost(cat_features=["ward"]))
    assert backbone.reads_frames(catboost(text_features=["notes"]))


def wards(n=60):
    """A table with categories, some of them missing, and its labels."""
    rng = np.random.RandomState(0)
    ward, floor = rng.choice(["a", "b", None], size=n), rng.choice([1.0, 2.0, np.nan], size=n)
    frame = pd.DataFrame({"age": rng.normal(size=n), "ward": ward, "kind": pd.Categorical(ward), "floor": floor})
    return frame, (frame["age"] + (frame["ward"] == "a") > 0).astype(int).to_numpy()


def as_polars(frame):
    pl = pytest.importorskip("polars")
    return pl.from_pandas(frame).with_columns(pl.col("ward").cast(pl.Categorical))


def as_array(frame):
    return frame.iloc[:, :3].to_numpy(object)


@pytest.mark.parametrize("as_given", [lambda frame: frame, as_polars, as_array], ids=["pandas", "polars", "array"])
def test_a_missing_category_is_a_category_of_its_own(as_given):
    frame, y = wards()
    X = as_given(frame)
    columns = list(range(1, X.shape[1]))
    dynamics = fit_and_watch(estimator := catboost(cat_features=columns), X, y, X)
    filled = frame.astype({"floor": "Int64"}).astype(object).iloc[:, : X.shape[1]].fillna("missing")
    expected = slow_catboost(lambda **quiet: catboost(cat_features=columns, **quiet), filled, y, filled)
    assert_allclose(dynamics.trajectories, np.stack(expected, axis=1), atol=1e-6)
    assert_allclose(find_backbone(estimator).predict_proba(estimator, X), expected[-1])


@pytest.mark.parametrize("curator", ["auto", "adaptive"])
def test_a_table_of_polars_with_missing_categories_is_curated(curator):
    frame, y = wards()
    X, estimator = as_polars(frame), catboost(cat_features=["ward", "kind", "floor"])
    assert PseudoLabelClassifier(estimator, curator=curator, random_state=0).fit(X, y).score(X, y) > 0.8


def test_missing_categories_may_be_in_a_validation_set():
    frame, y = wards()
    estimator = catboost(cat_features=["ward", "kind", "floor"], verbose=False, allow_writing_files=False)
    find_backbone(estimator).fit(estimator, frame, y, fit_params={"eval_set": [(frame, y)]})
    assert len(estimator.evals_result_["validation"]["Logloss"]) == E


def test_declared_categories_are_learned_from_one_label_per_row():
    rng = np.random.RandomState(0)
    codes = rng.randint(40, size=500)
    truth = (rng.normal(size=40)[codes] + 0.3 * rng.normal(size=500) > 0).astype(int)
    y, _ = flip_labels(truth[:250], 0.15, random_state=0)
    frame = pd.DataFrame({"code": codes.astype(str), "other": rng.normal(size=500)})
    estimator = catboost(iterations=50, cat_features=["code"], verbose=False, allow_writing_files=False)
    model = PseudoLabelClassifier(estimator, random_state=0).fit(frame, np.append(y, np.full(250, -1)))
    alone = estimator.fit(frame[:250], y).score(frame[250:], truth[250:])
    assert model.score(frame[250:], truth[250:]) > alone - 0.03


def test_a_user_who_asks_catboost_to_talk_and_write_is_heard():
    backbone = find_backbone(catboost())
    assert backbone.quiet_parameters(catboost()) == {"allow_writing_files": False, "verbose": False}
    for name, value in [("verbose", 10), ("silent", False), ("logging_level", "Info")]:
        asked = catboost(**{name: value}, allow_writing_files=True)
        assert backbone.quiet_parameters(asked) == {}


def test_settings_keep_the_name_under_which_they_were_given():
    from catboost import CatBoostClassifier

    backbone = find_backbone(catboost())
    given = CatBoostClassifier(n_estimators=5, max_depth=2, eta=0.1, random_state=1)
    assert backbone.seed_parameters(given) == ["random_state"]
    assert backbone.seed_parameters(catboost()) == ["random_seed"]
    varied = backbone.vary(given, np.random.RandomState(0))
    assert set(varied) == {"max_depth", "eta", "n_estimators", "rsm"}
    assert varied["max_depth"] <= 8
    given.set_params(**varied | {"n_estimators": 2}, **backbone.quiet_parameters(given)).fit(*table(2)[:2])


def test_a_copy_predicts_on_the_threads_that_it_is_told(monkeypatch):
    X, y, X_watch = table(2)
    fitted = catboost(thread_count=1).fit(X, y)
    backbone = find_backbone(fitted)
    told = pickle.loads(pickle.dumps(backbone.on_threads(fitted, 3)))  # as it is sent to another process
    asked, predict_proba = [], type(fitted).predict_proba
    monkeypatch.setattr(
        type(fitted), "predict_proba", lambda *a, **kw: asked.append(kw["thread_count"]) or predict_proba(*a, **kw)
    )
    assert_allclose(backbone.predict_proba(told, X_watch), backbone.predict_proba(fitted, X_watch), atol=0)
    assert asked == [3, 1]
    assert backbone.n_threads(told) == 3


def test_rows_without_a_column_that_varies_are_refused_in_a_sentence():
    constant, y = np.zeros((20, 2)), np.arange(20) % 2
    with pytest.raises(InputError, match=r"No column varies among the rows of a training.*choose another backbone"):
        PseudoLabelClassifier(catboost(), curator="none").fit(constant, y)
