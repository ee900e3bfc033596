"""Multi-label: every label is a problem of its own, and each (row, label) pair is judged by itself."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier, SemiSupervisedKFold, characterize
from dips.datasets import make_quadrants

N, NAMES = 120, ["rain", "snow", "wind"]
X, TRUTH = make_multilabel_classification(N, 8, n_classes=3, n_labels=2, random_state=0)
Y = TRUTH.astype(float)
Y[60:] = np.nan  # unlabeled rows
Y[::7, 1] = np.nan  # rows labeled in part


def quick(**settings):
    backbone = HistGradientBoostingClassifier(max_iter=6, learning_rate=0.5, min_samples_leaf=3)
    return PseudoLabelClassifier(backbone, **{"n_rounds": 3, "curator": "dips", "random_state": 0} | settings)


KINDS = {
    "floats": Y,
    "integers": np.where(np.isnan(Y), -1, Y).astype(int),
    "objects": np.where(np.isnan(Y), None, Y),
    "list": np.where(np.isnan(Y), None, Y).tolist(),
    "pandas": pd.DataFrame(Y, columns=NAMES),
    "pandas nullable": pd.DataFrame(Y, columns=NAMES).astype("Int64"),
    "pandas booleans": pd.DataFrame(Y, columns=NAMES).astype("boolean"),
    "polars": pl.DataFrame(np.where(np.isnan(Y), None, Y).tolist(), schema=NAMES, orient="row"),
}


@pytest.mark.parametrize("y", KINDS.values(), ids=KINDS.keys())
def test_however_the_labels_are_written_the_probabilities_are_the_same(y):
    model = quick().fit(X, y)
    assert_array_equal(model.predict_proba(X), quick().fit(X, Y).predict_proba(X))
    assert model.classes_.tolist() == (NAMES if hasattr(y, "columns") else [0, 1, 2])
    assert set(model.samples_["target"]) == set(model.classes_.tolist())


def test_each_label_is_a_binary_problem_of_its_own():
    model = quick().fit(X, Y)
    for j in range(3):
        alone = quick().fit(X, Y[:, j])
        assert_array_equal(model.predict_proba(X)[:, j], alone.predict_proba(X)[:, 1])
        mine = model.samples_[model.samples_["target"] == j].drop(columns="target")
        pd.testing.assert_frame_equal(mine, alone.samples_)
        assert_array_equal(model.labeled_iter_[:, j], alone.labeled_iter_)


def test_shapes():
    model = quick().fit(X, Y)
    p = model.predict_proba(X)
    assert p.shape == model.predict(X).shape == model.transduction_.shape == model.labeled_iter_.shape == (N, 3)
    assert_array_equal(model.predict(X), p > 0.5)
    assert len(model.samples_) == 3 * N
    assert len(model.estimators_) == len(model.curators_) == len(model.termination_condition_) == 3
    assert model.history_.groupby("target")["round"].max().max() == model.n_iter_
    assert model.n_features_in_ == 8


def test_given_labels_never_change_and_gaps_are_filled():
    model = quick().fit(X, Y)
    given = ~np.isnan(Y)
    assert_array_equal(model.transduction_[given], Y[given])
    assert_array_equal(model.labeled_iter_ == 0, given)
    assert_array_equal(model.transduction_ == -1, model.labeled_iter_ == -1)
    partly = np.flatnonzero(given[:, 0] & ~given[:, 1])
    assert (model.labeled_iter_[partly, 1] != 0).all()


def test_unlabeled_rows_may_be_passed_apart():
    together, apart = quick().fit(X, Y), quick().fit(X[:60], Y[:60], X_unlabeled=X[60:])
    assert_array_equal(together.predict_proba(X), apart.predict_proba(X))
    assert len(apart.samples_) == 3 * N


def test_the_index_of_the_table_is_kept():
    index = [f"day {i}" for i in range(N)]
    samples = quick().fit(pd.DataFrame(X, index=index).add_prefix("f"), Y).samples_
    assert samples.loc["day 3", "target"].tolist() == [0, 1, 2]


def test_one_row_and_a_pickled_copy():
    model = quick().fit(X, Y)
    assert_allclose(model.predict_proba(X[:1]), model.predict_proba(X)[:1])
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))


def test_scoring_counts_whole_rows():
    model = quick().fit(X, Y)
    right = (model.predict(X) == TRUTH).all(axis=1).mean()
    for truth in (TRUTH, TRUTH.tolist(), pd.DataFrame(TRUTH), pl.DataFrame(TRUTH), sp.csr_array(TRUTH)):
        assert model.score(X, truth) == pytest.approx(right)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_scoring_finds_the_labels_by_name(frame):
    model = quick().fit(X, frame(dict(zip(NAMES, np.where(np.isnan(Y), -1, Y).T, strict=True))))
    truth = dict(zip(NAMES, TRUTH.T, strict=True))
    expected = (model.predict(X) == TRUTH).all(axis=1).mean()
    assert model.score(X, frame({name: truth[name] for name in reversed(NAMES)})) == pytest.approx(expected)
    assert model.score(X, TRUTH) == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"to score on are \['rain', 'snow', 'fog'\], and those in training were"):
        model.score(X, frame({"rain": truth["rain"], "snow": truth["snow"], "fog": truth["wind"]}))


def test_scoring_on_a_row_with_a_gap_is_refused():
    model = quick().fit(X, Y)
    n_gaps = np.isnan(Y).any(axis=1).sum()
    for y in KINDS.values():
        with pytest.raises(ValueError, match=f"{n_gaps} of the 120 rows to score on are unlabeled"):
            model.score(X, y)


def test_a_grid_is_searched():
    grid = {"curator": ["none", "dips"], "estimator__max_iter": [2, 4]}
    search = GridSearchCV(quick(n_rounds=2), grid, cv=SemiSupervisedKFold(2), error_score="raise").fit(X, Y)
    assert search.predict(X).shape == (N, 3)


def test_parallel_work_gives_the_same_result():
    one, two = (quick(curator="auto", n_jobs=n).fit(X, Y) for n in (1, 2))
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_a_curated_classifier_and_an_audit():
    y = pd.DataFrame(TRUTH, columns=NAMES)
    model = CuratedClassifier(quick().estimator, random_state=0).fit(X, y)
    assert model.predict(X).shape == (N, 3)
    audit = characterize(quick().estimator, X, y, track=[0, 5], random_state=0)
    assert audit.samples.groupby("target").size().tolist() == [N, N, N]
    assert [t.shape for t in audit.trajectories] == [(2, 6, 2)] * 3
    assert audit.suspects()["p_wrong"].is_monotonic_decreasing


def test_an_audit_leaves_out_the_labels_that_are_missing():
    audit = characterize(quick().estimator, X, Y, curator="dips", random_state=0)
    assert audit.samples["useful"].isna().sum() == np.isnan(Y).sum()
    assert audit.suspects()["given_label"].notna().all()
    assert audit.share_suspect == len(audit.suspects()) / (~np.isnan(Y)).sum()


def test_a_curated_classifier_needs_every_label():
    with pytest.raises(ValueError, match="have no label, and here every row needs one"):
        CuratedClassifier(quick().estimator).fit(X, Y)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.where(np.isnan(Y), -1, Y + 1), "label 0 holds 2.0"),
        (np.where(np.arange(3) == 2, 1, Y), "Label 2 needs at least one labeled 0"),
        (np.full((N, 3), np.nan), "Label 0 needs .* no labeled row"),
        (Y[:50], "X has 120 rows, y has 50"),
    ],
)
def test_label_tables_that_cannot_be_learned_are_refused(y, words):
    with pytest.raises(ValueError, match=words):
        quick().fit(X, y)


def accuracies(seed, *curators):
    """Of supervised training and of curators: 2,000 rows, 5 labels; 10 % of the rows labeled, 30 % of that wrong."""
    X, truth = make_multilabel_classification(2500, 20, n_classes=5, n_labels=2, random_state=seed)
    rng = np.random.RandomState(seed)
    y = np.where(rng.uniform(size=truth.shape) < 0.3, 1 - truth, truth).astype(float)
    labeled = rng.permutation(2000)[:200]
    y[np.setdiff1d(np.arange(2500), labeled)] = np.nan
    backbone = XGBClassifier(n_estimators=30, n_jobs=1)
    models = [MultiOutputClassifier(backbone).fit(X[labeled], y[labeled].astype(int))]
    models += [PseudoLabelClassifier(backbone, curator=c, random_state=0).fit(X[:2000], y[:2000]) for c in curators]
    return [(model.predict(X[2000:]) == truth[2000:]).mean() for model in models]


@pytest.mark.parametrize("seed", range(2))
def test_noise_costs_less_where_labels_are_curated(seed, whole_effort):
    supervised, none, auto = accuracies(seed, "none", "auto")
    assert auto > max(supervised, none) + 0.03


def test_noise_costs_less_with_the_thresholds_of_dips():
    supervised, none, dips = np.array([accuracies(seed, "none", "dips") for seed in range(6)]).T
    assert (dips >= none).all()
    assert (dips >= supervised).all()
    assert (dips - none).mean() > 0.015


@pytest.mark.parametrize("plot", ["plot_curves", "plot_calibration"])
def test_plots_of_one_label_column_are_refused(plot):
    X, y = make_quadrants(60, random_state=0)
    audit = characterize(XGBClassifier(n_estimators=3, n_jobs=1), X, np.column_stack([y, X[:, 0] > 0]), track=[0])
    with pytest.raises(ValueError, match=f"{plot} draws one label column; audit each column of y by itself"):
        getattr(audit, plot)()
