"""Inputs that get a clear error, in one sentence, before any backbone is fitted."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from dips import CuratedClassifier, PseudoLabelClassifier, characterize
from dips.curators import DIPS, Adaptive, Confidence, SmallLoss
from dips.labelers import CSA, UPS, FlexMatch, Greedy

X = np.random.RandomState(0).normal(size=(20, 3))
Y = np.array([0, 1] * 5 + [-1] * 10)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


class NeverFitted(HistGradientBoostingClassifier):
    """A backbone that fails the test if any work is done with it."""

    def fit(self, X, y, sample_weight=None):
        pytest.fail("a backbone was fitted before the input was refused")


def with_value(value, where=(3, 1)):
    changed = X.copy()
    changed[where] = value
    return changed


def refused(words, *args, error=ValueError, estimator=None, **settings):
    fit_params = {k: settings.pop(k) for k in ("X_unlabeled", "sample_weight") if k in settings}
    model = PseudoLabelClassifier(NeverFitted() if estimator is None else estimator, **settings)
    with pytest.raises(error, match=words):
        model.fit(*args or (X, Y), **fit_params)
    assert not hasattr(model, "samples_")


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.full(20, -1), "No labeled row: all 20 labels are missing or -1"),
        ([None] * 20, "No labeled row"),
        (np.full(20, np.nan), "No labeled row"),
        (np.where(Y == 1, 5, -1), r"Only one class is labeled \(5, 5 rows\)"),
        (["a"] * 5 + [None] * 15, r"Only one class is labeled \('a', 5 rows\)"),
        (Y[:-1], "inconsistent numbers of samples: X has 20 rows, y has 19"),
        (X[:, 0], "Unknown label type: continuous"),
        (np.where(Y == 1, np.inf, 0.0), "Input y contains infinity"),
        (None, "requires y to be passed"),
    ],
)
def test_labels_that_cannot_be_learned(y, words):
    refused(words, X, y)


@pytest.mark.parametrize("table", [with_value(np.inf), with_value(-np.inf), sp.csr_array(with_value(np.inf))])
@pytest.mark.parametrize("estimator", [NeverFitted(), make_pipeline(StandardScaler(with_mean=False), NeverFitted())])
def test_infinities(table, estimator):
    refused("Input X contains infinity", table, Y, estimator=estimator)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("estimator", [NeverFitted(), make_pipeline(StandardScaler(), NeverFitted())])
def test_infinities_are_named_by_their_column(frame, estimator):
    table = frame({"a": X[:, 0], "b": with_value(np.inf)[:, 1]})
    refused(r"infinity .* in column\(s\) \['b'\]", table, Y, estimator=estimator)


def test_infinities_among_unlabeled_rows_passed_apart():
    refused("Input X contains infinity", X[:10], Y[:10], X_unlabeled=with_value(np.inf))


def test_no_unlabeled_rows_passed_apart():
    refused("X_unlabeled has no rows; leave it out", X[:10], Y[:10], X_unlabeled=X[:0])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_dates(frame):
    table = frame({"a": X[:, 0], "seen": np.arange(20).astype("datetime64[D]").astype("datetime64[ms]")})
    refused(r"Column 'seen' holds dates or times .* drop them", table, Y)


@pytest.mark.parametrize(
    ("unlabeled", "words"),
    [
        (X[:, :2], r"same columns; got shapes \(20, 3\) and \(20, 2\)"),
        (FRAME, "same kind of table; got numpy.ndarray and pandas.DataFrame"),
    ],
)
def test_unlabeled_rows_with_other_columns(unlabeled, words):
    refused(words, X, Y, X_unlabeled=unlabeled)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_unlabeled_frames_with_other_columns(frame):
    labeled, unlabeled = frame({"a": [0, 1, 2, 3], "b": [1, 0, 1, 0]}), frame({"a": [1], "c": [1]})
    refused(r"they differ in \['b', 'c'\]", labeled, [0, 1, 0, 1], X_unlabeled=unlabeled)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.full(20, -1.0), "Negative values in data passed to `sample_weight`"),
        (np.ones(10), r"sample_weight.shape == \(10,\), expected \(20,\)"),
        (np.full(20, np.nan), "sample_weight contains NaN"),
        (np.ones((20, 2)), "Sample weights must be 1D"),
    ],
)
def test_weights_that_make_no_sense(weight, words):
    refused(words, sample_weight=weight)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"labeler": "flexmach"}, "labeler='flexmach' is not known; did you mean 'flexmatch'?"),
        ({"labeler": "UPS"}, "labeler='UPS' is not known; did you mean 'ups'?"),
        ({"curator": "dipps"}, "curator='dipps' is not known; did you mean 'dips'?"),
        ({"curator": "smallloss"}, "curator='smallloss' is not known; did you mean 'small_loss'?"),
        ({"curator": "xyz"}, "curator='xyz' is not known. There are auto, adaptive, beliefs, confidence, dips"),
    ],
)
def test_unknown_names_with_the_nearest_match(settings, words):
    refused(words.replace("?", r"\?"), **settings)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_rounds": 0}, "'n_rounds' parameter of PseudoLabelClassifier must be an int in the range"),
        ({"n_rounds": 2.5}, "'n_rounds' parameter"),
        ({"n_jobs": 0}, "'n_jobs' parameter"),
        ({"grow": "yes"}, "'grow' parameter"),
        ({"curate": "always"}, "'curate' parameter .* must be a str among"),
        ({"random_state": "seed"}, "'random_state' parameter"),
        ({"labeler": UPS(threshold=3)}, r"'threshold' parameter of UPS must be a float in the range \[0.0, 1.0\]"),
        ({"labeler": UPS(kappa=-1)}, "'kappa' parameter of UPS"),
        ({"labeler": UPS(n_models=1)}, "'n_models' parameter of UPS"),
        ({"labeler": CSA(max_iter=0)}, "'max_iter' parameter of CSA"),
        ({"labeler": Greedy(threshold="high")}, "'threshold' parameter of Greedy"),
        ({"labeler": FlexMatch(threshold=-0.1)}, "'threshold' parameter of FlexMatch"),
        ({"curator": DIPS(conf=1.5)}, "'conf' parameter of DIPS"),
        ({"curator": DIPS(aleatoric="fixed")}, "'aleatoric' parameter of DIPS"),
        ({"curator": DIPS(window=(0.5, 0.2))}, "window must be two fractions"),
        ({"curator": DIPS(window=(0.5,))}, "window must be two fractions"),
        ({"curator": Confidence(conf=-1)}, "'conf' parameter of Confidence"),
        ({"curator": SmallLoss(drop=1.0)}, "'drop' parameter of SmallLoss"),
        ({"curator": Adaptive(n_folds=1)}, "'n_folds' parameter of Adaptive"),
    ],
)
def test_parameters_out_of_range(settings, words):
    refused(words, **settings)


@pytest.mark.parametrize("settings", [{"labeler": 3}, {"curator": None}, {"estimator": "xgboost"}])
def test_parameters_of_another_kind(settings):
    refused("parameter of PseudoLabelClassifier must be", **settings)


def test_a_class_is_not_an_object():
    refused(r"got the class NeverFitted. Write NeverFitted\(\)", estimator=NeverFitted, error=TypeError)
    refused("curator must be a name .* a Curator object or a function", curator=DIPS, error=TypeError)
    refused("labeler must be a name .* a Labeler object or a function", labeler=UPS, error=TypeError)


@pytest.mark.parametrize(
    "estimator", [HistGradientBoostingRegressor(), LinearSVC(), SGDClassifier(), make_pipeline(LinearSVC())]
)
def test_a_backbone_without_probabilities(estimator):
    refused("gives no class probabilities", estimator=estimator)


@pytest.mark.parametrize("curator", ["adaptive", "dips", "small_loss"])
def test_a_backbone_without_checkpoints(curator):
    words = 'RandomForestClassifier is not trained step by step.* use a boosted or a neural backbone, or curator="auto"'
    refused(words, estimator=RandomForestClassifier(), curator=curator)
    with pytest.raises(ValueError, match="LogisticRegression is not trained step by step"):
        CuratedClassifier(LogisticRegression(), curator=curator).fit(X, np.abs(Y))


def test_labels_missing_where_every_row_needs_one():
    with pytest.raises(ValueError, match=r"10 of 20 rows have no label.*use PseudoLabelClassifier"):
        CuratedClassifier(NeverFitted()).fit(X, np.where(Y == -1, np.nan, Y))


@pytest.mark.parametrize(
    ("track", "words"),
    [
        ([20], "rows from 20 to 20; there are rows 0 to 19"),
        ([-1, 2], "rows from -1 to 2"),
        ([0, 15], "track names row 15, which has no label"),
        ([1.5], r"1d list of integers, or a mask of all 20 rows; got float64 of shape \(1,\)"),
        ([[0, 1]], r"got int64 of shape \(1, 2\)"),
        ([True, False], r"mask of all 20 rows; got bool of shape \(2,\)"),
        (["a"], "1d list of integers"),
    ],
)
def test_tracked_rows_that_are_not_there(track, words):
    with pytest.raises(ValueError, match=words):
        characterize(NeverFitted(), X, Y, track=track)


def test_rows_of_a_backbone_that_is_not_trained_step_by_step_cannot_be_tracked():
    words = "LogisticRegression is not trained step by step, .*; leave out track, or use a boosted or a neural backbone"
    with pytest.raises(ValueError, match=words):
        characterize(LogisticRegression(), X, Y, track=[0])


def test_trajectories_where_nothing_is_watched():
    with pytest.raises(ValueError, match="track needs a curator that watches the training, and 'none' does not"):
        CuratedClassifier(NeverFitted(), curator="none", track=[0]).fit(X, np.abs(Y))


@pytest.mark.parametrize("y", [Y, np.where(Y == -1, np.nan, Y), [None if v == -1 else int(v) for v in Y]])
def test_scoring_on_unlabeled_rows(y):
    model = PseudoLabelClassifier(HistGradientBoostingClassifier(max_iter=2), curator="none").fit(X, Y)
    with pytest.raises(ValueError, match="10 of the 20 rows to score on are unlabeled; score on labeled rows only"):
        model.score(X, y)


def test_predicting_before_fitting():
    for method in ("predict", "predict_proba"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(PseudoLabelClassifier(), method)(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        CuratedClassifier().score(X, Y)


def test_a_refused_fit_leaves_no_fitted_model():
    model = PseudoLabelClassifier(NeverFitted())
    with pytest.raises(ValueError, match="infinity"):
        model.fit(with_value(np.inf), Y)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.filterwarnings("error")
def test_where_a_curator_would_leave_a_class_with_nothing_its_most_confident_rows_are_useful():
    def suspect_ones(evidence):
        return evidence.labels == 0

    model = PseudoLabelClassifier(HistGradientBoostingClassifier(max_iter=2), curator=suspect_ones, n_rounds=2)
    with pytest.warns(
        UserWarning, match="left 1 of 2 classes with no useful row; the most confident rows of each are taken as useful"
    ):
        model.fit(X, Y)
    assert model.samples_.query("given_label == 1")["useful"].any()
