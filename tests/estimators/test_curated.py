"""The curator alone: under anybody's pseudo-labeler, and as an audit of labels."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from xgboost import XGBClassifier

from dips import CuratedClassifier, characterize
from dips.curators import DIPS
from dips.curators._choose import curator_names
from dips.datasets import flip_labels, make_quadrants
from dips.exceptions import InputError

X, CLEAN = make_quadrants(300, random_state=0)
Y, FLIPPED = flip_labels(CLEAN, 0.2, random_state=0)


def xgboost(**settings):
    return XGBClassifier(n_estimators=30, n_jobs=1, **settings)


def quick(**settings):
    return CuratedClassifier(xgboost(), **{"curator": "dips", "random_state": 0} | settings)


# Under a peer's loop


def test_under_self_training():
    y = Y.copy()
    y[100:] = -1
    plain = SelfTrainingClassifier(xgboost()).fit(X, y)
    curated = SelfTrainingClassifier(quick()).fit(X, y)
    assert curated.score(X[100:], CLEAN[100:]) > plain.score(X[100:], CLEAN[100:]) + 0.03
    assert set(curated.labeled_iter_) >= {0, 1}


@pytest.mark.parametrize("curator", curator_names("tables"))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_under_self_training_with_every_curator(curator):
    y = Y.copy()
    y[60:] = -1
    model = SelfTrainingClassifier(CuratedClassifier(XGBClassifier(n_estimators=5, n_jobs=1), curator=curator))
    assert model.fit(X, y).predict_proba(X).shape == (300, 2)


def test_under_self_training_with_three_classes():
    X, y = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    labels = np.where(np.arange(200) < 90, y, -1)
    assert SelfTrainingClassifier(quick()).fit(X, labels).predict_proba(X).shape == (200, 3)


def test_under_one_against_the_rest():
    X, y = make_classification(150, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    assert OneVsRestClassifier(quick()).fit(X, y).score(X, y) > 0.7


# As a classifier


def test_curated_labels_make_a_better_model():
    new, truth = make_quadrants(1000, random_state=1)
    assert quick().fit(X, Y).score(new, truth) > xgboost().fit(X, Y).score(new, truth) + 0.05


def test_the_model_is_trained_on_the_useful_rows():
    model = quick().fit(X, Y)
    useful = model.samples_["useful"].to_numpy()
    again = xgboost(random_state=model.estimator_.random_state).fit(X[useful], Y[useful])
    assert_allclose(model.predict_proba(X), again.predict_proba(X), atol=1e-6)
    assert model.history_["n_given"].tolist() == [Y.size, useful.sum()]


def test_without_a_curator_it_is_the_backbone_itself():
    model = quick(curator="none").fit(X, Y)
    assert_allclose(model.predict_proba(X), xgboost(random_state=0).fit(X, Y).predict_proba(X), atol=1e-6)
    assert model.samples_["useful"].all()


def test_minus_one_and_one_are_classes():
    model = quick().fit(X, np.where(Y == 1, 1, -1))
    assert model.classes_.tolist() == [-1, 1]
    assert_array_equal(model.predict_proba(X), quick().fit(X, Y).predict_proba(X))
    assert model.score(X, np.where(CLEAN == 1, 1, -1)) > 0.9


def test_string_labels_and_integer_labels_give_equal_probabilities():
    strings = np.where(Y == 1, "well", "ill")
    assert_array_equal(quick().fit(X, strings).predict_proba(X), quick().fit(X, Y).predict_proba(X))


def test_weights_change_the_fit():
    weight = np.random.RandomState(0).uniform(0.1, 3, 300)
    assert (quick().fit(X, Y, sample_weight=weight).predict_proba(X) != quick().fit(X, Y).predict_proba(X)).any()


def test_searched_cloned_and_pickled():
    search = GridSearchCV(quick(curator=DIPS()), {"curator__conf": [0.5, 0.8], "estimator__max_depth": [2, 4]}, cv=2)
    search.fit(X, Y)
    best = search.best_estimator_
    assert_array_equal(pickle.loads(pickle.dumps(best)).predict_proba(X), best.predict_proba(X))
    assert_array_equal(clone(best).fit(X, Y).predict_proba(X), best.predict_proba(X))
    assert cross_val_score(make_pipeline(StandardScaler(), quick()), X, CLEAN, cv=2, error_score="raise").min() > 0.9


def test_parallel_work_gives_the_same_result():
    one, two = (quick(curator="auto", n_jobs=n).fit(X, Y) for n in (1, 2))
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    pd.testing.assert_frame_equal(one.samples_, two.samples_)


# As an audit


def test_an_audit_puts_wrong_labels_first_and_says_what_they_might_be():
    audit = characterize(xgboost(), X, Y, curator="dips", random_state=0)
    suspects = audit.suspects()
    worst = suspects.index[:30]
    assert FLIPPED[worst].mean() > 0.9
    suggested = suspects["suggested_label"].dropna()
    assert (suggested == CLEAN[suggested.index]).mean() > 0.9
    assert audit.share_suspect == pytest.approx(len(suspects) / 300)
    assert suggested.size / 300 == pytest.approx(0.2, abs=0.03)
    assert audit.samples.columns.tolist() == [
        "given_label",
        "verified",
        "p_wrong",
        "check_gain",
        "confidence",
        "aleatoric",
        "useful",
        "suggested_label",
    ]
    assert suspects["confidence"].is_monotonic_increasing


def test_an_audit_refuses_an_order_that_it_cannot_give():
    audit = characterize(xgboost(), X, Y, curator="dips", random_state=0)
    with pytest.raises(InputError, match="order='best' is not known; choose one of wrong, useful"):
        audit.suspects("best")
    with pytest.raises(InputError, match="order='useful' needs a curator that estimates p_wrong"):
        audit.suspects("useful")


def test_an_audit_shows_the_trajectories_that_were_asked_for():
    audit = characterize(xgboost(), X, Y, curator="dips", track=[7, 3], random_state=0)
    assert audit.trajectories.shape == (2, 30, 2)
    assert_allclose(audit.trajectories.sum(axis=2), 1)
    at_label = audit.trajectories[[0, 1], :, Y[[7, 3]]]
    assert_allclose(at_label.mean(axis=1), audit.samples["confidence"].to_numpy()[[7, 3]], atol=1e-6)
    audit = characterize(xgboost(), X, Y, random_state=0)
    assert audit.trajectories is None
    assert repr(audit) == f"Audit of {len(Y)} labels, {len(audit.suspects())} suspect; see suspects() and samples"


HIDDEN = np.arange(300) % 3 == 0


@pytest.mark.parametrize(
    "y",
    [np.where(HIDDEN, -1, Y), np.where(HIDDEN, np.nan, Y), np.where(HIDDEN, None, Y).tolist()],
    ids=["-1", "NaN", "None"],
)
def test_an_audit_leaves_out_rows_without_a_label(y):
    settings = {"curator": "dips", "random_state": 0}
    audit = characterize(xgboost(), X, y, track=[4, 1], **settings)
    alone = characterize(xgboost(), X[~HIDDEN], Y[~HIDDEN], track=[2, 0], **settings)
    unlabeled = audit.samples[HIDDEN]
    assert len(unlabeled) == 100
    assert unlabeled.isna().all(axis=None)
    pd.testing.assert_frame_equal(audit.samples[~HIDDEN].reset_index(drop=True), alone.samples)
    assert not set(audit.suspects().index) & set(np.flatnonzero(HIDDEN))
    assert audit.share_suspect == alone.share_suspect == len(alone.suspects()) / 200
    assert_array_equal(audit.trajectories, alone.trajectories)
    assert_array_equal(audit.model.predict_proba(X), alone.model.predict_proba(X))


def test_tracked_rows_may_be_a_mask():
    mask = np.zeros(300, dtype=bool)
    mask[[3, 7]] = True
    by_mask = characterize(xgboost(), X, Y, track=mask, random_state=0).trajectories
    assert_array_equal(by_mask, characterize(xgboost(), X, Y, track=[3, 7], random_state=0).trajectories)


def test_an_audit_of_a_frame_speaks_of_its_rows():
    index = [f"patient {i}" for i in range(300)]
    frame = pd.DataFrame(X, index=index, columns=["a", "b"])
    audit = characterize(xgboost(), frame, pd.Series(np.where(Y == 1, "well", "ill"), index=index), random_state=0)
    assert set(audit.suspects().index) <= set(index)
    assert audit.model.feature_names_in_.tolist() == ["a", "b"]


def test_an_audit_with_weights_and_without_a_backbone_named():
    audit = characterize(None, X[:80], Y[:80], sample_weight=np.ones(80), random_state=0)
    assert type(audit.model.estimator_).__name__ == "XGBClassifier"


def test_an_audit_with_other_backbones():
    audit = characterize(HistGradientBoostingClassifier(max_iter=20), X, Y, curator="small_loss", random_state=0)
    assert FLIPPED[audit.suspects().index].mean() > 0.5


def test_the_map_needs_a_curator_that_watches():
    X, y = make_quadrants(60, random_state=0)
    with pytest.raises(ValueError, match="and a curator other than 'none'"):
        characterize(xgboost(), X, y, curator="none").plot_map()
