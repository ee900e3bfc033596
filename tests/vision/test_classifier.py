import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from dips import read_corrections
from dips._tools.sklearn_compat import InvalidParameterError
from dips.vision import FixMatch, ImageAuto, ImageClassifier

from .examples import N_LABELED, N_WRONG, colors, dirty_labels

QUICK = {"n_steps": 30, "n_rounds": 3, "warm_up_steps": 30, "batch_size": 8, "unlabeled_ratio": 2, "device": "cpu"}
COLUMNS = [
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


def classifier(**settings):
    settings = {"network": "tiny", "curator": ImageAuto(n_folds=3, least_noise=0), "random_state": 0} | QUICK | settings
    return ImageClassifier(**settings)


@pytest.fixture(scope="module")
def fitted():
    return classifier().fit(colors()[0], dirty_labels())


def test_it_learns_although_labels_are_wrong(fitted):
    X, y = colors(60, random_state=1)
    assert fitted.score(X, y) > 0.9
    p = fitted.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (fitted.predict(X) == fitted.classes_[p.argmax(axis=1)]).all()


def test_the_account_has_a_row_an_image_and_the_columns_of_the_tables(fitted):
    samples = fitted.samples_
    assert list(samples.columns) == COLUMNS
    assert (samples["source"] == "given").sum() == N_LABELED
    given = samples[samples["source"] == "given"]
    assert (given["final_label"] == given["given_label"]).all()
    assert given["confidence"].between(0, 1).all()
    others = samples[samples["source"] != "given"]
    assert set(others["source"]) <= {"pseudo", "unlabeled"}
    assert others["given_label"].isna().all()
    assert (others["useful"] == (others["source"] == "pseudo")).all()
    assert (samples["round"].isin([0, -1, QUICK["n_rounds"]])).all()


def test_a_suspect_comes_with_a_suggestion(fitted):
    truth = colors()[1]
    suspects = fitted.samples_[~fitted.samples_["useful"]].iloc[:N_WRONG].query("source == 'given'")
    assert len(suspects) > 0
    assert (suspects["suggested_label"] == truth[suspects.index]).mean() > 0.7


def test_the_history_has_a_row_a_round(fitted):
    assert fitted.history_["round"].tolist() == [0, 1, 2, 3]
    assert fitted.history_["step"].tolist() == [0, 10, 20, 30]
    wanted = {"n_given", "n_new_suspects", "n_useful_again", "loss", "coverage", "elapsed_s"}
    assert wanted <= set(fitted.history_.columns)


def test_curves_of_labels_are_those_their_confidence_was_measured_on(fitted):
    curves, given = fitted.label_curves_, fitted.samples_["source"] == "given"
    assert curves.index.tolist() == fitted.samples_.index[given].tolist()
    assert curves.columns.to_list() == [(t, e) for t in range(QUICK["n_rounds"]) for e in range(1, 6)]
    last = curves[QUICK["n_rounds"] - 1].mean(axis=1)
    np.testing.assert_allclose(last, fitted.samples_["confidence"][given], atol=1e-6)


def test_the_random_state_decides_the_result(fitted):
    again = classifier().fit(colors()[0], dirty_labels())
    assert (again.predict_proba(colors()[0]) == fitted.predict_proba(colors()[0])).all()


def test_labels_may_be_text_and_named_by_an_index():
    names = np.array(["red", "green", "blue"], dtype=object)
    codes = dirty_labels()
    y = pd.Series([names[c] if c >= 0 else None for c in codes], index=[f"{k}.png" for k in range(codes.size)])
    clf = classifier(curator="none").fit(colors()[0], y)
    assert clf.classes_.tolist() == ["blue", "green", "red"]
    assert clf.samples_.index[0] == "0.png"
    assert set(clf.transduction_) <= {"red", "green", "blue", None}
    assert clf.score(colors()[0], names[colors()[1]]) > 0.9


@pytest.mark.parametrize("method", ["fixmatch", "freematch"])
@pytest.mark.parametrize("curator", ["auto", "percentile", "dips", "small_loss"])
@pytest.mark.filterwarnings("ignore:The curator")
def test_every_curator_plugs_into_every_method(method, curator):
    settings = {"n_steps": 6, "n_rounds": 2, "warm_up_steps": 4, "curate_pseudo_labels": True}
    clf = classifier(method=method, curator=curator, **settings).fit(colors()[0], dirty_labels())
    assert clf.samples_["confidence"].notna().all()  # pseudo-labels are judged too
    assert clf.history_["n_given"].iloc[0] == N_LABELED


def test_gray_images_will_do():
    X, y = colors()
    clf = classifier(curator="none", n_steps=4).fit(X[..., 0], dirty_labels())
    assert clf.predict(X[..., 0]).shape == y.shape


def test_the_log_is_json_lines_with_the_accuracy_on_validation_images(tmp_path):
    clf = classifier(curator="percentile", pretrain_steps=4, log=tmp_path / "log.jsonl")
    clf.fit(colors()[0], dirty_labels(), *colors(30, random_state=1))
    records = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert {"pretraining", "checkpoint", "curation"} == {record["event"] for record in records}
    assert records[-1]["accuracy"] > 0.8
    assert clf.history_["accuracy"].iloc[-1] == records[-1]["accuracy"]


def test_a_classifier_continues_from_its_checkpoint(tmp_path, fitted):
    clf = classifier(checkpoint=tmp_path / "run.pt").fit(colors()[0], dirty_labels())
    again = classifier(checkpoint=tmp_path / "run.pt").fit(colors()[0], dirty_labels())
    X = colors()[0]
    assert (clf.predict_proba(X) == again.predict_proba(X)).all()
    assert (clf.predict_proba(X) == fitted.predict_proba(X)).all()


def test_it_is_a_scikit_learn_estimator(fitted):
    assert clone(fitted).get_params()["n_steps"] == 30
    with pytest.raises(NotFittedError):
        clone(fitted).predict(colors()[0])
    assert (pickle.loads(pickle.dumps(fitted)).predict(colors()[0]) == fitted.predict(colors()[0])).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"network": "resnet"}, "network='resnet' is not known; choose one of wrn-28-2"),
        ({"method": "mixmatch"}, "method='mixmatch' is not known; choose one of fixmatch, freematch"),
        ({"curator": "nobody"}, "curator='nobody' is not known"),
    ],
)
def test_unknown_names_are_refused_before_any_work(settings, words):
    with pytest.raises(ValueError, match=words):
        classifier(**settings).fit(colors()[0], dirty_labels())


@pytest.mark.parametrize("settings", [{"n_steps": 0}, {"lr": -1.0}, {"verbose": "loud"}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(InvalidParameterError):
        classifier(**settings).fit(colors()[0], dirty_labels())


def test_a_curator_that_needs_columns_is_refused_before_any_work():
    with pytest.raises(ValueError, match="curator='fine' is for tables and cannot judge images; choose among auto, "):
        classifier(curator="fine").fit(colors()[0], dirty_labels())


@pytest.mark.parametrize("where", ["checkpoint", "log"])
def test_a_file_in_no_folder_is_refused_before_any_work(tmp_path, where):
    with pytest.raises(ValueError, match=f"{where}=.*must be a file in a folder that exists"):
        classifier(**{where: tmp_path / "no" / "file"}).fit(colors()[0], dirty_labels())


@pytest.mark.parametrize("where", ["checkpoint", "log"])
def test_a_file_in_a_folder_of_others_is_refused_before_any_work(tmp_path, where, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path)  # a superuser may write anywhere
    with pytest.raises(ValueError, match=f"{where}=.*is in a folder that you may not write to"):
        classifier(**{where: tmp_path / "file"}).fit(colors()[0], dirty_labels())


def test_images_and_labels_must_be_as_many():
    with pytest.raises(ValueError, match="X has 120 images, y has 119"):
        classifier().fit(colors()[0], dirty_labels()[1:])


def test_images_of_other_channels_are_refused(fitted):
    with pytest.raises(ValueError, match="trained on images of 3 channels; these have 1"):
        fitted.predict(colors()[0][..., :1])


def test_images_of_another_size_are_warned_of(fitted):
    with pytest.warns(UserWarning, match="trained on images of 8 by 8 pixels; these have 9 by 8"):
        fitted.predict(colors(size=9)[0][:, :, :8])


@pytest.mark.filterwarnings("error")
def test_arrays_may_be_views_and_read_only():
    X = colors()[0]
    X.flags.writeable = False
    y, quick = dirty_labels(), {"curator": "none", "n_steps": 2, "n_rounds": 1}
    mirrored = classifier(**quick).fit(X[:, ::-1], y, X[:5, ::-1], np.arange(5) % 3)
    copied = classifier(**quick).fit(X[:, ::-1].copy(), y)
    np.testing.assert_array_equal(mirrored.predict_proba(X[:, ::-1]), copied.predict_proba(X[:, ::-1]))


@pytest.mark.parametrize("curator", ["none", "auto", "percentile"])
def test_a_training_that_diverges_says_so(curator):
    with pytest.raises(ValueError, match=r"diverged: after \d+ steps .* smaller learning rate than lr=1e\+08"):
        classifier(curator=curator, lr=1e8, n_steps=20, pretrain_steps=0).fit(colors()[0], dirty_labels())


def test_methods_are_objects_with_settings(fitted):
    clf = classifier(method=FixMatch(threshold=0.99), curator="none", n_steps=4).fit(colors()[0], dirty_labels())
    assert (clf.samples_["source"] != "pseudo").all()


def test_the_library_itself_needs_no_pytorch():
    code = "import sys, dips; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_pytorch_it_says_what_to_install():
    code = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ImportError(name)

sys.meta_path.insert(0, NoTorch())
try:
    import dips.vision
except ImportError as error:
    assert "pip install" in str(error), error
else:
    raise SystemExit("torch was found")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_torchs_own_generator_is_left_alone(fitted):
    before = torch.get_rng_state()
    classifier(n_steps=4, curator="none").fit(colors()[0], dirty_labels())
    assert torch.equal(torch.get_rng_state(), before)


def test_a_verified_label_is_never_a_suspect(fitted):
    X, y = colors()[0], dirty_labels()
    suspects = np.flatnonzero((fitted.samples_["source"] == "given") & ~fitted.samples_["useful"])
    corrections = read_corrections(pd.DataFrame({"image": suspects, "label": "keep"}))
    after = corrections.apply(pd.Series(y, dtype=object).where(y != -1, None))
    samples = classifier().fit(X, y, verified=after.verified).samples_
    assert suspects.size
    assert samples["verified"].sum() == suspects.size
    assert samples.loc[samples["verified"], "useful"].all()
    assert (samples.loc[samples["verified"], "p_wrong"] == 0).all()
    assert (samples["final_label"][suspects] == y[suspects]).all()
