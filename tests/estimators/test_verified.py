"""A verified label is never a suspect and never changed, with every curator; and it teaches."""

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.model_selection import cross_validate

from dips import CuratedClassifier, PseudoLabelClassifier, SelfTrainingClassifier, characterize
from dips._data.verified import check_verified
from dips.curators import Beliefs
from dips.curators._choose import curator_names
from dips.datasets import flip_labels, make_quadrants
from dips.exceptions import InputError
from tests.effort import small_backbone

pytestmark = pytest.mark.usefixtures("quick")

X, TRUTH = make_quadrants(60, random_state=0)
NOISY, WRONG = flip_labels(TRUTH, 0.3, random_state=0)
CURATORS = [*curator_names("tables"), Beliefs(reviewer_error=0.3)]


def check_account(samples, verified, y):
    of_verified = samples[verified]
    assert (samples["verified"] == verified).all()
    assert of_verified["useful"].all()
    assert (of_verified["p_wrong"] == 0).all()
    assert of_verified["suggested_label"].isna().all()
    assert (of_verified["final_label"] == y[verified]).all()
    assert (of_verified["given_label"] == y[verified]).all()


@pytest.mark.parametrize("curator", CURATORS)
@settings(max_examples=6, deadline=None)
@given(verified=st.lists(st.booleans(), min_size=60, max_size=60).map(np.array), seed=st.integers(0, 9))
def test_no_curator_doubts_a_verified_label(curator, verified, seed):
    model = CuratedClassifier(small_backbone(), curator=curator, random_state=seed).fit(X, NOISY, verified=verified)
    check_account(model.samples_, verified, NOISY)


@pytest.mark.parametrize("curator", ["auto", "adaptive", "dips", "none"])
def test_pseudo_labels_do_not_overrule_it(curator):
    y, verified = np.where(np.arange(60) < 40, NOISY, -1), np.arange(60) < 20
    model = PseudoLabelClassifier(small_backbone(), curator=curator, n_rounds=3, random_state=0)
    model.fit(X, y, X_unlabeled=X, verified=verified)
    check_account(model.samples_, np.append(verified, np.zeros(60, dtype=bool)), np.append(y, y))
    assert (model.transduction_[:20] == y[:20]).all()


@pytest.mark.parametrize("curator", ["auto", "dips"])
def test_self_training_keeps_it(curator):
    y, verified = np.where(np.arange(60) < 40, NOISY, -1), np.arange(60) < 20
    model = SelfTrainingClassifier(small_backbone(), curator=curator, max_iter=2, random_state=0)
    check_account(model.fit(X, y, verified=verified, y_given=y).samples_, verified, y)


def test_a_table_of_labels_has_one_mask_or_one_for_each():
    Y = np.column_stack([NOISY, 1 - NOISY])
    for verified in (WRONG, np.column_stack([WRONG, ~WRONG])):
        samples = CuratedClassifier(small_backbone(), random_state=0).fit(X, Y, verified=verified).samples_
        for target, mask in zip((0, 1), np.broadcast_to(verified.T, (2, 60)), strict=True):
            check_account(samples[samples["target"] == target].reset_index(drop=True), mask, Y[:, target])


def test_texts_and_frames_will_do():
    y = np.where(NOISY == 1, "ill", "well")
    audit = characterize(small_backbone(), pd.DataFrame(X), y, verified=pd.Series(WRONG), y_given=y, random_state=0)
    assert not audit.suspects().index.isin(np.flatnonzero(WRONG)).any()
    assert "verified" in audit.samples


def test_what_is_not_a_mask_is_refused():
    clf = CuratedClassifier(small_backbone())
    half = pd.Series(np.where(WRONG, True, pd.NA), dtype="boolean")
    for verified in ([True], np.full(60, 2), np.full(60, "yes"), np.full(60, np.nan), half):
        with pytest.raises(InputError, match="verified must be a mask of shape"):
            clf.fit(X, NOISY, verified=verified)
    with pytest.raises(InputError, match="say which are, with verified"):
        clf.fit(X, NOISY, y_given=NOISY)
    with pytest.raises(InputError, match="y_given must be labels like y, 60 rows of them; got 3"):
        clf.fit(X, NOISY, verified=WRONG, y_given=[0, 1, 0])
    with pytest.raises(InputError, match="y_given holds '0', and no label that y has; the classes of y are 0, 1"):
        clf.fit(X, NOISY, verified=WRONG, y_given=NOISY.astype(str))


def test_a_label_that_was_mistyped_before_it_was_checked_is_not_known():
    y, before = np.where(NOISY == 1, "ill", "well"), np.full(60, None, dtype=object)
    before[7] = "iII"
    model = CuratedClassifier(small_backbone(), random_state=0).fit(X, y, verified=np.arange(60) == 7, y_given=before)
    assert model.samples_["verified"].sum() == 1


def test_a_row_without_a_label_cannot_be_verified():
    y = np.where(np.arange(60) == 7, -1, NOISY)
    with pytest.raises(InputError, match="verified marks row 7, which has no label"):
        PseudoLabelClassifier(small_backbone()).fit(X, y, verified=np.arange(60) == 7)


def test_scikit_learns_own_self_training_knows_none():
    with pytest.raises(InputError, match="knows no verified labels"):
        SelfTrainingClassifier(small_backbone(), curator=None).fit(X, NOISY, verified=WRONG)


@pytest.mark.parametrize("kind", [CuratedClassifier, PseudoLabelClassifier, SelfTrainingClassifier])
def test_it_is_routed_as_metadata(kind, monkeypatch):
    seen = []
    home = sys.modules[kind.__module__]
    monkeypatch.setattr(home, "check_verified", lambda mask, *more: seen.append(mask) or check_verified(mask, *more))
    with config_context(enable_metadata_routing=True):
        model = kind(small_backbone(), curator="none").set_fit_request(verified=True)
        cross_validate(model, X, NOISY, params={"verified": WRONG}, cv=2, error_score="raise")
    assert [mask.size for mask in seen] == [30, 30]


def test_wrong_labels_that_were_found_raise_the_estimate():
    X, truth = make_quadrants(200, random_state=1)
    y, wrong = flip_labels(truth, 0.3, random_state=1)
    looked = characterize(small_backbone(), X, y, random_state=0).suspects().index[:30]
    verified = np.isin(np.arange(200), looked)
    after = characterize(
        small_backbone(), X, np.where(verified, truth, y), verified=verified, y_given=y, random_state=0
    ).model.curator_
    assert after.noise_interval_[0] > 0.1
    assert abs(after.noise_rate_ - wrong.mean()) < 0.1
