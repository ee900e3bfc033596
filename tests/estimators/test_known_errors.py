"""The estimators hear what is known of the errors, and refuse what does not fit before any training."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from dips import CuratedClassifier, PseudoLabelClassifier, characterize, load_model, save_model
from dips.curators import Beliefs
from dips.datasets import make_quadrants
from dips.exceptions import InputError
from tests.effort import small_backbone, whole_effort

pytestmark = pytest.mark.usefixtures("quick")

X, CODES = make_quadrants(240, random_state=0)
TRUTH = np.where(CODES == 1, "ill", "well")
MISSED = (TRUTH == "ill") & (np.random.RandomState(1).rand(240) < 0.4)
LABELS = np.where(MISSED, "well", TRUTH)
TRUSTING = Beliefs(trusted_labels=["ill"])


class Untrained(LogisticRegression):
    """Must not be trained."""

    def fit(self, *_, **__):
        raise AssertionError("training has begun")


def few_labels():
    return np.where(np.arange(240) < 160, LABELS, None)


def test_a_trusted_label_is_never_doubted():
    audit = characterize(small_backbone(), X, LABELS, curator=TRUSTING, random_state=0)
    assert (audit.samples["p_wrong"][LABELS == "ill"] == 0).all()
    assert audit.samples["p_wrong"][LABELS == "well"].max() > 0.1
    assert set(audit.suspects()["given_label"]) <= {"well"}


def test_no_look_at_a_trusted_label_is_asked_for():
    audit = characterize(small_backbone(), X, LABELS, curator=TRUSTING, random_state=0)
    assert (audit.samples["check_gain"][LABELS == "ill"] == 0).all()
    assert (audit.samples["check_gain"][LABELS == "well"] >= 1).sum() == 10


def test_known_frequencies_find_the_errors_of_one_direction():
    with whole_effort():
        share = float((TRUTH == "ill").mean())
        told, default = (
            CuratedClassifier(curator=curator, random_state=0).fit(X, LABELS)
            for curator in (Beliefs(class_frequencies={"ill": share}), "auto")
        )
    assert told.curator_.noise_rate_ == pytest.approx(MISSED.mean(), abs=0.04)
    doubts = [model.samples_["p_wrong"].to_numpy(dtype=float)[MISSED].mean() for model in (told, default)]
    assert doubts[0] > 0.8
    assert doubts[0] > doubts[1] + 0.1


@pytest.mark.parametrize("at_hand", [True, False])
def test_pseudo_labeling_hears_it_wherever_its_rows_are(at_hand, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame[160:].to_parquet(tmp_path / "more.parquet")
    model = PseudoLabelClassifier(small_backbone(), curator=TRUSTING, random_state=0)
    if at_hand:
        model.fit(frame, few_labels())
    else:
        model.fit(frame[:160], LABELS[:160], X_unlabeled=tmp_path / "more.parquet")
    p_wrong = model.samples_["p_wrong"].to_numpy(dtype=float)[:160]
    assert (p_wrong[LABELS[:160] == "ill"] == 0).all()
    assert p_wrong[LABELS[:160] == "well"].max() > 0.05


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"trusted_labels": ["sick"]}, "trusted_labels names 'sick', which is not a label; choose among ill, well"),
        ({"trusted_labels": "ill"}, "The 'trusted_labels' parameter of Beliefs must be an array-like. Got 'ill'"),
        ({"class_frequencies": {"ill": 2.0}}, "class_frequencies must be positive and sum to 1"),
        ({"class_frequencies": 0.5}, "class_frequencies"),
        ({"trusted_labels": np.array("ill")}, "trusted_labels is a list of labels; got one label, so write"),
        ({"class_frequencies": {"ill": 10**400}}, "one is too large to be a share"),
    ],
)
@pytest.mark.parametrize("kind", [CuratedClassifier, PseudoLabelClassifier])
def test_what_does_not_fit_the_labels_is_refused_before_any_training(kind, told, message):
    with pytest.raises(ValueError, match=message):
        kind(Untrained(), curator=Beliefs(**told)).fit(X, LABELS)


def test_a_trusted_label_that_was_corrected_is_refused_before_any_training():
    before = np.where(np.arange(240) < 1, "ill", LABELS)
    after = np.where(np.arange(240) < 1, "well", LABELS)
    verified = np.arange(240) < 5
    with pytest.raises(InputError, match="The label 'ill' is trusted, but that of row 0 was corrected to 'well'"):
        CuratedClassifier(Untrained(), curator=TRUSTING).fit(X, after, verified=verified, y_given=before)


def test_trust_is_for_every_label_of_several_and_frequencies_for_one():
    y = np.column_stack([LABELS == "ill", X[:, 0] > 0.3]).astype(int)
    model = CuratedClassifier(small_backbone(), curator=Beliefs(trusted_labels=[1]), random_state=0).fit(X, y)
    for _, of_label in model.samples_.groupby("target"):
        assert (of_label["p_wrong"][of_label["given_label"] == 1] == 0).all()
    with pytest.raises(InputError, match="class_frequencies tells of one label column, and y has 2"):
        CuratedClassifier(Untrained(), curator=Beliefs(class_frequencies=[0.5, 0.5])).fit(X, y)


def test_a_curator_that_was_told_is_cloned_and_its_model_saved(tmp_path):
    curator = Beliefs(trusted_labels=["ill"], class_frequencies={"ill": 0.5})
    assert clone(curator).get_params() == curator.get_params()
    model = CuratedClassifier(small_backbone(), curator=curator, random_state=0).fit(X, LABELS)
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X))
