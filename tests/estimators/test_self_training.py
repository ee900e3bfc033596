"""SelfTrainingClassifier with a curator: scikit-learn's loop, and what scikit-learn's class cannot read."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context, semi_supervised
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

from dips import SelfTrainingClassifier, SemiSupervisedKFold, load_model, save_model
from dips.datasets import flip_labels, make_quadrants

X, CLEAN = make_quadrants(300, random_state=0)
DIRTY, FLIPPED = flip_labels(CLEAN, 0.2, random_state=0)
Y = np.where(np.arange(300) < 100, DIRTY, -1)

N = 120
RNG = np.random.RandomState(0)
FRAME = pd.DataFrame({"age": RNG.randint(20, 80, N), "ward": RNG.choice(["east", "north", "west"], N)})
ILL = ((FRAME["age"] > 50) ^ (FRAME["ward"] == "west")).to_numpy(dtype=int)
WARD_CODES = FRAME["ward"].astype("category").cat.codes
UNLABELED = np.arange(N) % 2 == 1


def xgboost(n_estimators=30):
    return XGBClassifier(n_estimators=n_estimators, max_depth=3, n_jobs=1)


def quick(estimator=None, **settings):
    return SelfTrainingClassifier(estimator or xgboost(), **{"curator": "small_loss", "random_state": 0} | settings)


def written(classes, mark):
    """The labels of the frame, as people write them."""
    return [mark if gap else classes[label] for gap, label in zip(UNLABELED, ILL, strict=True)]


# The loop


SETTINGS = [
    {},
    {"threshold": 0.9},
    {"max_iter": 1},
    {"max_iter": 0},
    {"max_iter": None, "threshold": 0.55},
    {"criterion": "k_best"},
    {"criterion": "k_best", "k_best": 70, "max_iter": None},
    {"criterion": "k_best", "k_best": 1000},
]


@pytest.mark.filterwarnings("ignore:k_best is larger")
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize(
    "estimator", [GaussianNB(), RandomForestClassifier(5, random_state=0)], ids=["bayes", "forest"]
)
def test_without_curation_every_round_is_that_of_scikit_learn(estimator, settings):
    X, y = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    y[60:] = -1
    theirs = semi_supervised.SelfTrainingClassifier(estimator, **settings).fit(X, y)
    for curator in (None, "none"):
        ours = SelfTrainingClassifier(estimator, **settings, curator=curator).fit(X, y)
        for name in ("transduction_", "labeled_iter_", "n_iter_", "termination_condition_", "classes_"):
            assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
        assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))


@pytest.mark.parametrize("curator", ["auto", "dips"])
def test_dirty_labels_do_less_harm_than_without_a_curator(curator):
    plain = quick(curator=None).fit(X, Y)
    assert quick(curator=curator).fit(X, Y).score(X[100:], CLEAN[100:]) > plain.score(X[100:], CLEAN[100:]) + 0.03


def test_the_default_estimator():
    assert SelfTrainingClassifier(max_iter=1, random_state=0).fit(X, Y).score(X, CLEAN) > 0.85
    with pytest.raises(ValueError, match="curator=None is scikit-learn's own self-training, which needs an estimator"):
        SelfTrainingClassifier(curator=None).fit(X, Y)


def test_the_same_seed_gives_the_same_model():
    first, second = (quick(curator="auto").fit(X, Y) for _ in range(2))
    assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    pd.testing.assert_frame_equal(first.samples_, second.samples_)


def test_warnings_and_progress_are_those_of_scikit_learn(capsys):
    with pytest.warns(UserWarning, match="y contains no unlabeled samples"):
        assert quick().fit(X, DIRTY).termination_condition_ == "all_labeled"
    with pytest.warns(UserWarning, match="k_best is larger than the amount of unlabeled samples"):
        quick(criterion="k_best", k_best=1000, verbose=True).fit(X, Y)
    assert capsys.readouterr().out == "End of iteration 1, added 200 new labels.\n"


# The account


def test_samples_tell_of_every_row():
    names = [f"row {i}" for i in range(300)]
    model = quick(max_iter=2).fit(pd.DataFrame(X, index=names, columns=["a", "b"]), Y)
    samples = model.samples_
    assert samples.index.tolist() == names
    assert_array_equal(samples["round"], model.labeled_iter_)
    assert_array_equal(samples["final_label"].fillna(-1).astype(int), model.transduction_)
    assert_array_equal(samples["given_label"].fillna(-1).astype(int), Y)
    assert_array_equal(
        samples["source"], np.select([Y != -1, model.transduction_ != -1], ["given", "pseudo"], "unlabeled")
    )
    suspects = ~samples["useful"].to_numpy() & (Y != -1)
    assert FLIPPED[suspects].mean() > 0.5
    assert samples.loc[samples["source"] != "given", "suggested_label"].isna().all()


def test_given_labels_never_change():
    model = quick().fit(X, Y)
    assert_array_equal(model.transduction_[:100], Y[:100])
    assert model.estimator_ is model.curated_.estimator_
    assert isinstance(model.estimator_, XGBClassifier)


# What scikit-learn's class cannot read


@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame(FRAME.to_dict("list"))], ids=["pandas", "polars"])
@pytest.mark.parametrize("curator", ["auto", "small_loss", "none"])
def test_frames_with_texts(frame, curator):
    y = np.where(UNLABELED, -1, ILL)
    model = quick(curator=curator).fit(frame, y)
    assert model.score(frame, ILL) > 0.85
    assert model.feature_names_in_.tolist() == ["age", "ward"]
    assert model.n_features_in_ == 2
    numbers = FRAME.assign(ward=WARD_CODES)
    assert_allclose(model.predict_proba(frame), quick(curator=curator).fit(numbers, y).predict_proba(numbers))


@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame(FRAME.to_dict("list"))], ids=["pandas", "polars"])
def test_a_pipeline_gets_the_frame_itself(frame):
    columns = ColumnTransformer([("ward", OneHotEncoder(sparse_output=False), ["ward"])], remainder="passthrough")
    model = quick(make_pipeline(columns, HistGradientBoostingClassifier(min_samples_leaf=5)), curator="auto").fit(
        frame, np.where(UNLABELED, -1, ILL)
    )
    assert model.score(frame, ILL) > 0.85


LABELS = {
    "missing as None": (written([0, 1], None), [0, 1]),
    "missing as NaN": (np.array(written([0, 1], np.nan), dtype=float), [0, 1]),
    "pandas with NA": (pd.Series(written([0, 1], pd.NA), dtype="Int64"), [0, 1]),
    "polars with null": (pl.Series(written([0, 1], None)), [0, 1]),
    "classes 1 and 2": (np.array(written([1, 2], -1)), [1, 2]),
    "texts with None": (written(["well", "ill"], None), ["well", "ill"]),
    "texts with -1": (np.array(written(["well", "ill"], -1), dtype=object), ["well", "ill"]),
    "signs with None": (written([-1, 1], None), [-1, 1]),
    "booleans": (written([False, True], None), [False, True]),
}


@pytest.mark.parametrize(("y", "classes"), LABELS.values(), ids=LABELS.keys())
@pytest.mark.filterwarnings("error")
def test_labels_in_every_spelling(y, classes):
    numbers = np.column_stack([FRAME["age"], WARD_CODES])
    expected = quick(threshold=0.6).fit(numbers, np.where(UNLABELED, -1, ILL)).predict_proba(numbers)
    model = quick(threshold=0.6).fit(numbers, y)
    assert_array_equal(model.classes_, sorted(classes))
    order = np.argsort(np.array(classes, dtype=object))
    if order.tolist() == [0, 1]:  # otherwise the codes are swapped, and XGBoost rounds differently
        assert_array_equal(model.predict_proba(numbers), expected)
    assert model.score(numbers, np.array(classes, dtype=object)[ILL].tolist()) > 0.85
    never = model.labeled_iter_ == -1
    assert all(pd.isna(label) or label == -1 for label in np.asarray(model.transduction_, dtype=object)[never])


def test_texts_as_a_plain_array_have_no_unlabeled_rows():
    with pytest.warns(UserWarning, match="y contains no unlabeled samples"):
        assert quick().fit(X, np.array(["no", "yes"])[CLEAN]).score(X, np.array(["no", "yes"])[CLEAN]) > 0.95


# What is refused


def test_multilabel_is_refused_with_a_way_out():
    with pytest.raises(ValueError, match="use PseudoLabelClassifier, which takes it"):
        quick().fit(X, np.column_stack([Y, Y]))


def test_an_estimator_without_probabilities_is_refused():
    with pytest.raises(ValueError, match="gives no class probabilities"):
        quick(SGDClassifier()).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": 1.5}, "'threshold' parameter"),
        ({"criterion": "best"}, "'criterion' parameter"),
        ({"k_best": 0}, "'k_best' parameter"),
        ({"max_iter": -1}, "'max_iter' parameter"),
        ({"curator": 3}, "'curator' parameter"),
        ({"curator": "dipz"}, "dipz"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        quick(**settings).fit(X, Y)


def test_a_fit_that_fails_leaves_the_earlier_one():
    model = quick().fit(X, Y)
    expected = model.predict_proba(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, Y[:-1])
    assert_array_equal(model.predict_proba(X), expected)


@pytest.mark.parametrize(("first", "second"), [(None, "dips"), ("dips", None)])
def test_a_second_fit_leaves_nothing_of_the_first(first, second):
    model = quick(curator=first).fit(X, Y).set_params(curator=second).fit(X, Y)
    fresh = quick(curator=second).fit(X, Y)
    assert vars(model).keys() == vars(fresh).keys()
    assert_array_equal(model.predict_proba(X), fresh.predict_proba(X))


# Methods of the estimator


def test_methods_are_there_where_the_estimator_has_them():
    model = quick(make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)))
    assert hasattr(model, "decision_function")
    model.fit(X, np.where(np.arange(300) < 100, np.array(["b", "a"])[CLEAN], None))
    scores = model.decision_function(X)
    assert_array_equal(model.predict(X), np.where(scores > 0, "b", "a"))
    assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    for missing in ("decision_function", "predict_log_proba"):
        assert not hasattr(quick(), missing)
        with pytest.raises(AttributeError, match=f"'SelfTrainingClassifier' has no attribute '{missing}'"):
            getattr(quick().fit(X, Y), missing)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_nothing_is_predicted_before_a_fit(method):
    with pytest.raises(NotFittedError, match="This SelfTrainingClassifier instance is not fitted yet"):
        getattr(quick(), method)(X)


def test_columns_are_compared_with_those_of_the_training():
    model = quick().fit(FRAME, np.where(UNLABELED, -1, ILL))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(FRAME.rename(columns={"age": "years"}))


# Metadata


def test_parameters_need_metadata_routing():
    with pytest.raises(ValueError, match="is only supported if enable_metadata_routing=True"):
        quick().fit(X, Y, sample_weight=np.ones(300))
    with pytest.raises(ValueError, match="is only supported if enable_metadata_routing=True"):
        quick().fit(X, Y).predict(X, sample_weight=np.ones(300))


def test_routed_weights_of_full_length_reach_the_estimator():
    weights = np.where(FLIPPED, 1e-3, 1.0)
    with config_context(enable_metadata_routing=True):
        estimator = xgboost().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        model = quick(estimator, curator="none").fit(X, Y, sample_weight=weights)
        for_fit_alone = xgboost().set_fit_request(sample_weight=True)
        assert_array_equal(
            quick(for_fit_alone, curator="none").fit(X, Y, sample_weight=weights).predict(X), model.predict(X)
        )
        unweighted = quick(estimator, curator="none").fit(X, Y)
        assert model.score(X, CLEAN) > unweighted.score(X, CLEAN) + 0.02
        right = (model.predict(X) == CLEAN).astype(float)
        assert model.score(X, CLEAN, sample_weight=right) == 1
        with pytest.raises(ValueError, match="sample_weight"):
            quick(estimator).fit(X, Y, sample_weight=weights[:-1])
        with pytest.raises(TypeError, match="unexpected argument"):
            quick(estimator).fit(X, Y, wards=weights)


def test_weights_are_routed_through_a_search():
    weights = np.where(FLIPPED, 1e-3, 1.0)
    with config_context(enable_metadata_routing=True):
        estimator = xgboost(5).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(quick(estimator), {"threshold": [0.7, 0.8]}, cv=SemiSupervisedKFold(2))
        search.fit(X, Y, sample_weight=weights)
        assert search.best_estimator_.score(X, CLEAN) > 0.7


# Citizenship


def test_clone_pickle_and_search():
    model = pickle.loads(pickle.dumps(quick(max_iter=1).fit(X, Y)))
    assert model.score(X, CLEAN) == quick(max_iter=1).fit(X, Y).score(X, CLEAN)
    assert clone(quick(max_iter=None)).get_params()["max_iter"] is None
    search = GridSearchCV(quick(xgboost(5), max_iter=1), {"curator": [None, "dips"]}, cv=SemiSupervisedKFold(2))
    assert search.fit(X, Y).best_params_["curator"] in (None, "dips")
    assert cross_val_score(quick(xgboost(5), max_iter=1), X, Y, cv=SemiSupervisedKFold(2)).mean() > 0.6


def test_it_is_a_self_training_classifier_to_scikit_learn():
    assert isinstance(quick(), semi_supervised.SelfTrainingClassifier)
    theirs = semi_supervised.SelfTrainingClassifier(xgboost()).get_params(deep=False)
    ours = set(quick().get_params(deep=False))
    assert ours - set(theirs) == {"curator", "random_state"}
    assert set(theirs) - ours <= {"base_estimator"}  # deprecated until it went in 1.8


def test_save_and_load(tmp_path):
    model = quick(max_iter=1).fit(FRAME, np.where(UNLABELED, -1, ILL))
    save_model(model, tmp_path / "model")
    assert_array_equal(load_model(tmp_path / "model").predict_proba(FRAME), model.predict_proba(FRAME))
    with pytest.raises(ValueError, match="curator=None"):
        save_model(quick(curator=None).fit(X, Y), tmp_path / "other")
