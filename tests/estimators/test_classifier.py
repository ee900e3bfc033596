"""PseudoLabelClassifier: its account, its place among scikit-learn's estimators, and its invariants."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier, SelfTrainingClassifier, SemiSupervisedKFold
from dips.curators import DIPS
from dips.datasets import flip_labels, make_quadrants
from dips.labelers import UPS

X, TRUTH = make_classification(300, 6, n_informative=4, n_classes=3, class_sep=1.5, random_state=0)
UNLABELED = np.random.RandomState(1).uniform(size=300) < 0.6
Y = flip_labels(np.where(UNLABELED, -1, TRUTH), 0.1, random_state=0)[0]
WEIGHT = np.random.RandomState(2).uniform(0.5, 2, 300)


def xgboost(**settings):
    return XGBClassifier(n_estimators=12, max_depth=3, learning_rate=0.8, n_jobs=1, **settings)


def quick(estimator=None, **settings):
    estimator = xgboost() if estimator is None else estimator
    return PseudoLabelClassifier(estimator, **{"n_rounds": 3, "random_state": 0} | settings)


VARIANTS = {
    "default": {},
    "ups and dips": {"labeler": UPS(n_models=2), "curator": "dips"},
    "flexmatch, not growing": {"labeler": "flexmatch", "grow": False},
    "start only": {"curate": "start"},
    "rounds only": {"curator": DIPS(conf=0.6), "curate": "rounds"},
    "neither": {"curate": "neither"},
    "no curator": {"curator": "none"},
}


@pytest.fixture(scope="module", params=VARIANTS.values(), ids=VARIANTS.keys())
def settings(request):
    return request.param


@pytest.fixture(scope="module")
def model(settings):
    return quick(**settings).fit(X, Y)


# The account


def test_given_labels_never_change(model):
    assert_array_equal(model.transduction_[~UNLABELED], Y[~UNLABELED])
    assert_array_equal(model.labeled_iter_[~UNLABELED], 0)
    given = model.samples_["source"] == "given"
    assert_array_equal(given, ~UNLABELED)
    assert_array_equal(model.samples_["given_label"][given].astype(int), Y[~UNLABELED])
    assert_array_equal(model.samples_["final_label"][given], model.samples_["given_label"][given])


def test_the_account_agrees_with_the_transduction(model):
    samples = model.samples_
    assert_array_equal(samples["round"], model.labeled_iter_)
    never = model.labeled_iter_ == -1
    assert_array_equal(model.transduction_ == -1, never)
    assert_array_equal(samples["source"] == "unlabeled", never)
    assert_array_equal(samples["final_label"].isna(), never)
    assert_array_equal(samples["final_label"][~never].astype(int), model.transduction_[~never])
    assert samples["given_label"][UNLABELED].isna().all()
    pseudo = samples["source"] == "pseudo"
    assert model.labeled_iter_[pseudo].min() >= 1
    assert model.labeled_iter_.max() <= model.n_iter_


def test_the_account_agrees_with_the_history(settings, model):
    history, samples = model.history_, model.samples_
    is_start_curated = settings.get("curator") != "none" and settings.get("curate", "both") in ("both", "start")
    assert history["round"].tolist() == list(range(0 if is_start_curated else 1, model.n_iter_ + 1))
    last = history.iloc[-1]
    trained_on = samples if model.curator_.believes else samples[samples["useful"]]  # beliefs leave no label out
    assert (trained_on["source"] == "given").sum() == last["n_given"]
    assert (trained_on["source"] == "pseudo").sum() == last["n_pseudo"]
    assert model.termination_condition_ in ("max_iter", "all_labeled", "no_change")
    if settings.get("grow", True):
        for t, n_proposed in zip(history["round"], history["n_proposed"], strict=True):
            assert (model.labeled_iter_[UNLABELED] == t).sum() == n_proposed


def test_the_last_model_is_trained_on_the_useful_rows(settings):
    model = quick(**{"curator": "adaptive"} | settings).fit(X, Y)
    useful = model.samples_["useful"].to_numpy()
    seed = model.estimator_.get_params()["random_state"]
    again = xgboost(random_state=seed).fit(X[useful], model.transduction_[useful])
    assert_allclose(model.predict_proba(X), again.predict_proba(X), atol=1e-6)


def test_only_a_suspect_gets_a_suggestion_and_never_its_own_label(model):
    samples = model.samples_
    suggested = samples[samples["suggested_label"].notna()]
    assert (suggested["source"] == "given").all()
    assert not suggested["useful"].any()
    assert (suggested["suggested_label"] != suggested["given_label"]).all()


def test_wrong_labels_are_found_and_corrected():
    X, clean = make_quadrants(600, random_state=0)
    y, flipped = flip_labels(clean, 0.2, random_state=0)
    y[300:] = -1
    samples = quick(XGBClassifier(n_estimators=30, n_jobs=1), curator="dips").fit(X, y).samples_[:300]
    distrusted = ~samples["useful"].to_numpy()
    assert flipped[:300][distrusted].mean() > 0.8
    assert distrusted[flipped[:300]].mean() > 0.8
    corrected = samples["suggested_label"].notna().to_numpy()
    assert (samples["suggested_label"][corrected] == clean[:300][corrected]).mean() > 0.8


def test_the_account_has_the_index_of_the_table():
    index = [f"patient {i}" for i in range(300)]
    assert quick().fit(pd.DataFrame(X, index=index), Y).samples_.index.tolist() == index


def test_columns_of_the_account():
    model = quick().fit(X, Y)
    assert model.samples_.columns.tolist() == [
        "source",
        "given_label",
        "verified",
        "final_label",
        "round",
        "p_wrong",
        "check_gain",
        "confidence",
        "aleatoric",
        "useful",
        "suggested_label",
    ]
    judged = model.samples_.query("source != 'unlabeled'")
    assert judged["confidence"].between(0, 1).all()
    assert judged["aleatoric"].between(0, 0.25).all()


@pytest.mark.parametrize(("n_rounds", "n_iter"), [(1, 1), (2, 2)])
def test_rounds_end_when_they_are_used_up(n_rounds, n_iter):
    model = quick(n_rounds=n_rounds, curator="none").fit(X, Y)
    assert model.n_iter_ == len(model.history_) == n_iter
    assert model.termination_condition_ == "max_iter"


def test_rounds_end_when_nothing_changes():
    def nobody(candidates):
        return [], []

    model = quick(labeler=nobody, curator="none").fit(X, Y)
    assert model.termination_condition_ == "no_change"
    assert_array_equal(model.transduction_, Y)


def test_plain_functions_propose_and_curate():
    def everybody(candidates):
        return np.arange(len(candidates.probabilities)), candidates.probabilities.argmax(axis=1)

    model = quick(labeler=everybody, curator=lambda evidence: evidence.confidence > 0.3).fit(X, Y)
    assert model.termination_condition_ == "all_labeled"
    assert (model.transduction_ != -1).all()


# Invariants


def test_string_labels_and_integer_labels_give_equal_probabilities():
    names = np.array(["ash", "birch", "cedar"], dtype=object)
    strings = np.where(Y == -1, None, names[Y])
    a, b = quick().fit(X, Y), quick().fit(X, strings)
    assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    assert_array_equal(names[a.predict(X)], b.predict(X))
    assert_array_equal(a.labeled_iter_, b.labeled_iter_)
    assert_array_equal(a.samples_["useful"], b.samples_["useful"])


def test_one_seed_gives_one_result(settings, model):
    again = quick(**settings).fit(X, Y)
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    pd.testing.assert_frame_equal(again.samples_, model.samples_)


def test_parallel_work_gives_the_same_result(settings, model):
    parallel = quick(n_jobs=2, **settings).fit(X, Y)
    assert_array_equal(parallel.predict_proba(X), model.predict_proba(X))
    pd.testing.assert_frame_equal(parallel.samples_, model.samples_)


def test_a_generator_moves_on_from_fit_to_fit():
    rng = np.random.RandomState(0)
    model = quick(xgboost(subsample=0.5), random_state=rng)
    assert (model.fit(X, Y).predict_proba(X) != model.fit(X, Y).predict_proba(X)).any()


def test_the_order_of_rows_hardly_matters():
    order = np.random.RandomState(0).permutation(300)
    a, b = quick(curator="dips").fit(X, Y), quick(curator="dips").fit(X[order], Y[order])
    assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-4)
    assert_array_equal(a.samples_["useful"].to_numpy()[order], b.samples_["useful"])
    assert_array_equal(a.transduction_[order], b.transduction_)


def test_nothing_of_the_user_is_changed():
    X_before, y_before, backbone = X.copy(), Y.copy(), xgboost()
    quick(backbone).fit(X, Y)
    assert_array_equal(X, X_before)
    assert_array_equal(Y, y_before)
    assert not hasattr(backbone, "classes_")
    assert backbone.get_params()["random_state"] is None


def test_a_frame_of_the_user_is_not_changed():
    frame = pl.DataFrame({"a": X[:, 0], "b": ["x", None, "y"] * 100})
    before = frame.clone()
    quick().fit(frame, Y)
    assert frame.equals(before)


def test_fitting_again_forgets_the_last_fit():
    model = quick().fit(X, np.column_stack([TRUTH == 0, TRUTH == 1]).astype(int))
    assert model.predict(X).ndim == 2
    model.fit(X[:, :3], Y)
    assert model.predict(X[:, :3]).ndim == 1
    assert model.n_features_in_ == 3


# Among scikit-learn's


def test_a_pickled_model_predicts_the_same(settings):
    model = quick(**settings).fit(pd.DataFrame(X).add_prefix("f").assign(g=list("abc") * 100), Y)
    X_new = pd.DataFrame(X).add_prefix("f").assign(g="a")
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict_proba(X_new), model.predict_proba(X_new))
    pd.testing.assert_frame_equal(copy.samples_, model.samples_)


def test_inside_a_pipeline():
    inside = Pipeline([("scale", StandardScaler()), ("model", quick())]).fit(X, Y)
    assert inside.score(X, TRUTH) > 0.7
    assert len(inside["model"].samples_) == 300


def test_a_pipeline_inside_a_pipeline_in_a_grid():
    backbone = make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=3))
    outer = Pipeline([("scale", StandardScaler()), ("model", quick(backbone, n_rounds=2))])
    grid = {"model__estimator__histgradientboostingclassifier__max_iter": [1, 3], "model__curator": ["none", "dips"]}
    search = GridSearchCV(outer, grid, cv=SemiSupervisedKFold(2), error_score="raise").fit(X, Y)
    assert search.best_score_ > 0.5


def test_weights_of_full_length_change_the_fit():
    assert (quick().fit(X, Y, sample_weight=WEIGHT).predict_proba(X) != quick().fit(X, Y).predict_proba(X)).any()
    assert_allclose(
        quick().fit(X, Y, sample_weight=np.ones(300)).predict_proba(X), quick().fit(X, Y).predict_proba(X), atol=1e-6
    )


def test_weights_of_full_length_are_routed_everywhere():
    expected = quick().fit(X, Y, sample_weight=WEIGHT).predict_proba(X)
    with sklearn.config_context(enable_metadata_routing=True):
        model = quick().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipeline = Pipeline([("nothing", "passthrough"), ("model", model)]).fit(X, Y, sample_weight=WEIGHT)
        assert_array_equal(pipeline.predict_proba(X), expected)
        cv = SemiSupervisedKFold(2)
        search = GridSearchCV(model, {"n_rounds": [1, 3]}, cv=cv, error_score="raise").fit(X, Y, sample_weight=WEIGHT)
        assert_array_equal(clone_and_fit(search, WEIGHT).predict_proba(X), search.predict_proba(X))
        scores = cross_validate(model, X, Y, cv=cv, params={"sample_weight": WEIGHT}, error_score="raise")
        train, test = next(cv.split(X, Y))
        by_hand = quick().fit(X[train], Y[train], sample_weight=WEIGHT[train])
        assert scores["test_score"][0] == by_hand.score(X[test], Y[test], sample_weight=WEIGHT[test])


def clone_and_fit(search, weight):
    return sklearn.base.clone(search.best_estimator_).fit(X, Y, sample_weight=weight)


def test_weights_reach_the_end_of_a_pipeline_backbone():
    model = quick(make_pipeline(StandardScaler(), xgboost()))
    assert (model.fit(X, Y, sample_weight=WEIGHT).predict_proba(X) != model.fit(X, Y).predict_proba(X)).any()


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("curator", ["auto", "fine", "none"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_frames_asked_of_every_transformer_do_no_harm(output, curator):
    frame = pd.DataFrame(X).add_prefix("f").assign(g=list("abc") * 100)
    encode = ColumnTransformer(
        [("one", OneHotEncoder(sparse_output=False), ["g"]), ("two", StandardScaler(), ["f0", "f1"])]
    )
    backbones = [xgboost(), make_pipeline(encode, SGDClassifier(loss="log_loss", max_iter=5, tol=None))]
    for backbone in backbones:
        expected = quick(backbone, curator=curator).fit(frame, Y).predict_proba(frame)
        with sklearn.config_context(transform_output=output):
            model = quick(backbone, curator=curator, n_jobs=2).fit(frame, Y)
            assert_allclose(model.predict_proba(frame), expected, atol=1e-6)


def test_the_default_backbone_is_named_by_none():
    model = PseudoLabelClassifier(random_state=0, n_rounds=2).fit(X, Y)
    assert type(model.estimator_).__name__ == "XGBClassifier"
    assert model.estimator is None


def test_one_round_makes_no_use_of_unlabeled_rows_and_a_warning_says_so():
    with pytest.warns(UserWarning, match="n_rounds=1 makes no use of unlabeled rows; choose 2 or more"):
        model = quick(labeler="greedy", curator="adaptive", n_rounds=1).fit(X, Y)
    assert set(model.samples_["source"]) == {"given", "unlabeled"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(n_rounds=1).fit(X, TRUTH)
        quick(n_rounds=2).fit(X, Y)


def test_a_bar_moves_only_where_someone_watches(capsys):
    quick(verbose=1, curator="none").fit(X, Y)
    assert capsys.readouterr().err == ""  # not a terminal


def test_the_model_shows_itself():
    assert "PseudoLabelClassifier" in repr(quick())
    assert "PseudoLabelClassifier" in quick()._repr_html_()


@pytest.mark.parametrize("names", [["ill", "well"], [0, 1]], ids=["texts", "numbers"])
@pytest.mark.parametrize("model", [PseudoLabelClassifier, SelfTrainingClassifier])
def test_a_label_that_is_missing_in_samples_is_none(model, names):
    X, codes = make_quadrants(60, random_state=0)
    y = np.where(np.arange(60) < 40, np.array(names, dtype=object)[codes], None)
    index = pd.Index(np.arange(60) // 2)  # names need not differ
    samples = model(random_state=0, curator="auto").fit(pd.DataFrame(X, index=index), y).samples_
    labels = samples[["given_label", "final_label", "suggested_label"]]
    assert set(labels.dtypes) == {np.dtype(object)}
    assert labels["given_label"].tolist() == y.tolist()
    assert all(label is None or label in names for column in labels for label in labels[column])


@pytest.mark.parametrize("n_labels", [400, 3200])
def test_the_default_estimator_grows_with_the_labels_not_with_the_rows(n_labels):
    X = np.random.RandomState(0).normal(size=(3300, 2))
    y = np.where(np.arange(3300) < n_labels, X[:, 0] > 0, -1)
    for model in (PseudoLabelClassifier(curator="none", n_rounds=1, random_state=0), CuratedClassifier(curator="none")):
        rows = slice(None) if isinstance(model, PseudoLabelClassifier) else slice(n_labels)
        fitted = model.fit(X[rows], y[rows]).estimator_
        assert fitted.get_params()["max_depth"] == (4 if n_labels > 3000 else 3)
