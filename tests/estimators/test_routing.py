"""What fit passes on to the backbone's own fit, by scikit-learn's metadata routing."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import DMatrix, XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier, SelfTrainingClassifier, SemiSupervisedKFold
from dips.datasets import make_quadrants

X, TRUTH = make_quadrants(160, random_state=0)
NAMES = np.array(["no", "yes"], dtype=object)[TRUTH]
Y = np.where(np.arange(160) < 80, NAMES, None)
X_VALID, Y_VALID = make_quadrants(60, random_state=1)
VALID = (X_VALID, np.array(["no", "yes"])[Y_VALID])

MODELS = {
    "pseudo": lambda estimator, **s: PseudoLabelClassifier(estimator, random_state=0, **s),
    "curated": lambda estimator, **s: CuratedClassifier(estimator, random_state=0, **s),
    "self-training": lambda estimator, **s: SelfTrainingClassifier(estimator, max_iter=1, random_state=0, **s),
}


@pytest.fixture(autouse=True)
def _routing():
    with config_context(enable_metadata_routing=True):
        yield


def labels(kind):
    return NAMES if kind == "curated" else Y


class Recorder(HistGradientBoostingClassifier):
    """Keeps what each fit is given."""

    seen = []

    def fit(self, X, y, sample_weight=None, *, doctor=None, note=None):
        Recorder.seen.append((np.array(X), doctor, note))
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("curator", ["auto", "small_loss", "none"])
def test_one_entry_per_row_stays_with_its_row(kind, curator):
    Recorder.seen.clear()
    doctor = [f"Dr {x:.6f}" for x in X[:, 0]]
    estimator = Recorder(max_iter=5).set_fit_request(doctor=True, note=True)
    MODELS[kind](estimator, curator=curator).fit(X, labels(kind), doctor=doctor, note="night shift")
    assert len(Recorder.seen) >= 1
    for rows, doctors, note in Recorder.seen:
        assert doctors == [f"Dr {x:.6f}" for x in rows[:, 0]]
        assert note == "night shift"


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("pairs", [VALID, [VALID]], ids=["pair", "list"])
def test_a_validation_set_is_given_as_x_and_y_are(kind, pairs):
    lightgbm = pytest.importorskip("lightgbm")
    estimator = lightgbm.LGBMClassifier(n_estimators=30, min_child_samples=5, n_jobs=1, verbosity=-1)
    estimator.set_fit_request(eval_set=True, callbacks=True)
    callbacks = [lightgbm.early_stopping(3, verbose=False)]
    model = MODELS[kind](estimator).fit(X, labels(kind), eval_set=pairs, callbacks=callbacks)
    assert model.estimator_.best_iteration_ > 0
    assert len(model.estimator_.evals_result_["valid_0"]["binary_logloss"]) > 0
    assert set(model.predict(X)) == {"no", "yes"}


class Watcher:
    """A callback of LightGBM that keeps the models it was called for."""

    def __init__(self):
        self.models = []

    def __call__(self, training):
        if training.iteration == 0:
            self.models.append(training.model)

    def __deepcopy__(self, memo):
        return Watcher()


def test_trainings_side_by_side_share_no_callback():
    lightgbm = pytest.importorskip("lightgbm")
    estimator = lightgbm.LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1).set_fit_request(callbacks=True)
    watcher = Watcher()
    model = CuratedClassifier(estimator, random_state=0, n_jobs=2).fit(X, NAMES, callbacks=[watcher])
    assert watcher.models == [model.estimator_.booster_]


def test_xgboost_with_a_validation_set():
    estimator = XGBClassifier(n_estimators=10, n_jobs=1).set_fit_request(eval_set=True, verbose=True)
    frame = pd.DataFrame({"a": X[:, 0], "side": np.where(X[:, 1] > 0, "up", "down")})
    valid = pd.DataFrame({"a": X_VALID[:, 0], "side": np.where(X_VALID[:, 1] > 0, "up", "down")})
    model = PseudoLabelClassifier(estimator).fit(frame, Y, eval_set=[(valid, VALID[1])], verbose=False)
    losses = model.estimator_.evals_result()["validation_0"]["logloss"]
    p = model.predict_proba(valid)[np.arange(60), Y_VALID]
    assert losses[-1] == pytest.approx(-np.log(p).mean(), rel=1e-4)


def test_xgboost_stops_early():
    estimator = XGBClassifier(n_estimators=200, early_stopping_rounds=2, n_jobs=1).set_fit_request(
        eval_set=True, verbose=True
    )
    model = CuratedClassifier(estimator, random_state=0).fit(X, NAMES, eval_set=[VALID], verbose=False)
    assert model.estimator_.best_iteration < 190
    with pytest.raises(ValueError, match=r"early_stopping_rounds=2\) grows rounds that its predictions leave out"):
        CuratedClassifier(estimator, curator="dips").fit(X, NAMES, eval_set=[VALID], verbose=False)
    with pytest.raises(ValueError, match=r"early_stopping_rounds=2\) needs a validation set: pass eval_set"):
        CuratedClassifier(estimator).fit(X, NAMES)


def test_hist_gradient_boosting_with_a_validation_set():
    estimator = HistGradientBoostingClassifier(max_iter=300, early_stopping=True, n_iter_no_change=2)
    estimator.set_fit_request(X_val=True, y_val=True)
    model = CuratedClassifier(estimator, random_state=0).fit(X, NAMES, X_val=VALID[0], y_val=VALID[1])
    assert model.estimator_.n_iter_ < 300


@pytest.mark.parametrize("n", [60, len(X)])
def test_a_validation_set_may_have_as_many_rows_as_x(n):
    X_valid, codes = make_quadrants(n, random_state=1)
    estimator = HistGradientBoostingClassifier(max_iter=20, early_stopping=True, n_iter_no_change=20)
    estimator.set_fit_request(X_val=True, y_val=True, sample_weight_val=True)
    valid = {"X_val": X_valid, "y_val": np.array(["no", "yes"])[codes], "sample_weight_val": np.arange(n) + 1.0}
    model = PseudoLabelClassifier(estimator, random_state=0).fit(X, Y, **valid)
    loss = log_loss(codes, model.predict_proba(X_valid), sample_weight=np.arange(n) + 1.0)
    assert -model.estimator_.validation_score_[-1] == pytest.approx(loss, rel=1e-4)


@pytest.mark.parametrize("kind", MODELS)
def test_cat_features_of_catboost(kind):
    catboost = pytest.importorskip("catboost")
    frame = pd.DataFrame({"a": X[:, 0], "side": np.where(X[:, 1] > 0, "up", "down")})
    estimator = catboost.CatBoostClassifier(iterations=10, verbose=False, allow_writing_files=False, thread_count=1)
    model = MODELS[kind](estimator).fit(frame, labels(kind), cat_features=["side"])
    assert model.estimator_.get_cat_feature_indices() == [1]
    assert model.score(frame, NAMES) > 0.8
    assert "cat_features" not in estimator.get_params()


@pytest.mark.parametrize("columns", [["side"], [1]])
def test_categories_of_lightgbm_are_given_by_name_or_place(columns):
    lightgbm = pytest.importorskip("lightgbm")
    frame = pd.DataFrame({"a": X[:, 0], "side": np.where(X[:, 1] > 0, "up", "down")})
    estimator = lightgbm.LGBMClassifier(n_estimators=10, min_child_samples=5, n_jobs=1, verbosity=-1)
    estimator.set_fit_request(categorical_feature=True)
    model = PseudoLabelClassifier(estimator, random_state=0).fit(frame, Y, categorical_feature=columns)
    assert model.estimator_.booster_.params["categorical_column"] == [1]


def test_the_last_step_of_a_pipeline_is_given_its_arguments():
    Recorder.seen.clear()
    pipeline = make_pipeline(StandardScaler(), Recorder(max_iter=5).set_fit_request(note=True))
    CuratedClassifier(pipeline, random_state=0).fit(X, NAMES, note="night shift")
    assert {note for _, _, note in Recorder.seen} == {"night shift"}


class Curious(StandardScaler):
    def fit(self, X, y=None, sample_weight=None, note=None):
        return super().fit(X, y, sample_weight)


def test_what_a_transformer_requests_is_refused():
    pipeline = make_pipeline(Curious().set_fit_request(note=True), Recorder(max_iter=5).set_fit_request(note=True))
    with pytest.raises(ValueError, match="The step 'curious' requests note, but only the last step"):
        CuratedClassifier(pipeline, random_state=0).fit(X, NAMES, note="night shift")


def test_arguments_come_through_a_search():
    Recorder.seen.clear()
    estimator = Recorder(max_iter=5).set_fit_request(doctor=True)
    doctor = np.array([f"Dr {x:.6f}" for x in X[:, 0]])
    model = PseudoLabelClassifier(estimator, random_state=0)
    cross_validate(model, X, Y, cv=SemiSupervisedKFold(2), params={"doctor": doctor}, error_score="raise")
    for rows, doctors, _ in Recorder.seen:
        assert_array_equal(doctors, [f"Dr {x:.6f}" for x in rows[:, 0]])


@pytest.mark.parametrize("kind", MODELS)
def test_weights_need_no_request(kind):
    if kind != "self-training":  # there the weights are the estimator's, as in scikit-learn
        MODELS[kind](Recorder(max_iter=5)).fit(X, labels(kind), sample_weight=np.ones(160))


# What is refused


@pytest.mark.parametrize("kind", MODELS)
def test_nothing_is_passed_on_while_routing_is_off(kind):
    with (
        config_context(enable_metadata_routing=False),
        pytest.raises(ValueError, match="is only supported if enable_metadata_routing=True"),
    ):
        MODELS[kind](Recorder(max_iter=5)).fit(X, labels(kind), note="night shift")


@pytest.mark.parametrize("kind", MODELS)
def test_what_nobody_requests_is_refused(kind):
    with pytest.raises(TypeError, match="unexpected argument"):
        MODELS[kind](Recorder(max_iter=5)).fit(X, labels(kind), colour="blue")
    with pytest.raises(ValueError, match="note"):
        MODELS[kind](Recorder(max_iter=5)).fit(X, labels(kind), note="night shift")


def refused(estimator, message, y=Y, **params):
    with pytest.raises(ValueError, match=message):
        PseudoLabelClassifier(estimator.set_fit_request(**dict.fromkeys(params.keys() - {"X_unlabeled"}, True))).fit(
            X, y, **params
        )


def test_rows_that_cannot_be_aligned_are_refused():
    refused(
        Recorder(), "doctor must have one entry per row: .* none for the 60 rows", doctor=NAMES, X_unlabeled=X_VALID
    )
    refused(
        XGBClassifier(),
        "base_margin must have one entry per row: X has 160 rows, base_margin has 80",
        base_margin=X[:80],
    )


def test_validation_sets_that_cannot_be_used_are_refused():
    xgboost = XGBClassifier(n_estimators=5)
    refused(xgboost, "eval_set holds the label 'maybe'", eval_set=[(X_VALID, np.full(60, "maybe"))])
    refused(xgboost, "eval_set must be a pair", eval_set=DMatrix(X_VALID, Y_VALID))
    refused(xgboost, "cannot be used with a multi-label y", y=np.column_stack([TRUTH, TRUTH]), eval_set=[VALID])
    pipeline = make_pipeline(StandardScaler(), xgboost.set_fit_request(eval_set=True))
    with pytest.raises(ValueError, match="cannot pass through the transformers of a Pipeline"):
        PseudoLabelClassifier(pipeline).fit(X, Y, eval_set=[VALID])


def test_epoch_by_epoch_there_is_no_use_for_more():
    sgd = SGDClassifier(loss="log_loss").set_fit_request(coef_init=True)
    with pytest.raises(ValueError, match="has no use for coef_init"):
        CuratedClassifier(sgd, curator="small_loss").fit(X, NAMES, coef_init=np.zeros((1, 2)))
