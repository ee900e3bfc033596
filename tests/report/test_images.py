"""The report of images: the page of the tables, with pictures where a table's report shows values."""

import base64
import io
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed; the report of images is that of dips.vision")

from PIL import Image
from sklearn.exceptions import NotFittedError

from dips._report import ImageFindings, render, summarize_images
from dips._report.suspects import suspects_of, suspicion_ranks
from dips._report.thumbnails import MAX_SIDE, Thumbnails
from dips.curators import ImageAuto
from dips.vision import ImageClassifier
from dips.vision._report import findings_of

from .pages import HOSTILE, fitted_to_images, hostile_images
from .test_page import Outline


@pytest.fixture(scope="module")
def fitted():
    return fitted_to_images(curator="auto", curate_pseudo_labels=True)


@pytest.fixture(scope="module")
def page(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("images") / "labels.html"
    fitted[0].write_report(path, fitted[1], title="colors")
    assert [p.name for p in path.parent.iterdir()] == ["labels.html"]
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def points(page):
    return json.loads(Outline(page).scripts[0])["points"]


def seen(encoded):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(encoded))))


def synthetic(n, n_labeled, side=32, judges_all=False):
    """Findings about noise, which no format makes small; half of the labels are suspect."""
    rng = np.random.RandomState(0)
    names, is_given = np.array([f"class {c}" for c in range(10)], dtype=object), np.arange(n) < n_labeled
    label, confidence = names[rng.randint(10, size=n)], rng.rand(n)
    account = pd.DataFrame(
        {
            "row": np.arange(n),
            "source": np.where(is_given, "given", "pseudo" if judges_all else "unlabeled"),
            "given_label": np.where(is_given, label, None),
            "final_label": np.where(is_given | judges_all, label, None),
            "suggested_label": np.where(is_given & (confidence < 0.5), names[0], None),
            "confidence": np.where(is_given | judges_all, confidence, np.nan),
            "aleatoric": confidence * (1 - confidence),
            "out_of_fold": np.nan,
            "useful": confidence >= 0.5,
            "round": np.where(is_given, 0, 3),
        }
    )
    nothing = {"n_new_suspects": 0, "n_useful_again": 0, "elapsed_s": 0.0}
    account["suspicion"] = account["confidence"].where(is_given & (confidence < 0.5)).rank().astype("Int64")
    return ImageFindings(
        images=rng.randint(0, 256, (500, side, side, 3)).astype(np.uint8)[np.arange(n) % 500],
        account=account,
        classes=names.tolist(),
        curves=rng.rand(n_labeled, 100),
        checkpoints=np.repeat(np.arange(20), 5),
        history=pd.DataFrame([{"round": 0, "step": 1, "n_given": n_labeled, "loss": 1.0, "coverage": 0.5} | nothing]),
        curator=object(),
        noise_rate=0.2,
        noise_interval=None,
        title="noise",
        backbone="none",
    )


def test_every_point_has_its_own_picture(fitted, points):
    assert points["thumbnails"] == {"prefix": "data:image/png;base64,", "width": 16, "height": 16}
    assert len(points["pictures"]) == len(points["row"]) >= 45
    for row, encoded in zip(points["row"], points["pictures"], strict=True):
        assert (seen(encoded) == fitted[1][row]).all()


def test_images_are_named_by_their_files(points):
    assert points["id"] == [f"{row}.png" for row in points["row"]]


def test_images_without_names_are_numbered_as_in_the_array(fitted):
    clf, X = fitted
    unnamed = ImageClassifier()
    unnamed.__dict__ |= clf.__dict__ | {"samples_": clf.samples_.reset_index(drop=True)}
    assert summarize_images(findings_of(unnamed, X))["points"]["id"] == []


def test_examples_are_useful_images_of_the_class(fitted, points):
    useful = fitted[0].samples_.query("useful and source == 'given'")
    for label, examples in zip(fitted[0].classes_, points["examples"], strict=True):
        rows = [int(name.split(".")[0]) for name in useful.index[useful["final_label"] == label]]
        pictures = {fitted[1][row].tobytes() for row in rows}
        assert examples
        assert all(seen(e).tobytes() in pictures for e in examples)


def test_large_images_become_small_and_keep_their_shape():
    made = Thumbnails(np.zeros((1, 300, 150, 1), dtype=np.uint8))
    assert (made.prefix, made.width, made.height) == ("data:image/jpeg;base64,", MAX_SIDE // 2, MAX_SIDE)
    assert seen(made.of(np.array([0]))[0]).shape == (MAX_SIDE, MAX_SIDE // 2)


def test_curves_are_those_the_confidence_was_measured_on(points):
    n, n_judged_by = points["n_curve"], points["n_judged_by"]
    curves = np.frombuffer(base64.b64decode(points["curves"]), dtype=np.uint8).reshape(-1, n) / 255
    assert (n, points["n_warm_up"], n_judged_by) == (15, 5, 5)
    assert len(curves) == 45 < len(points["row"])  # pseudo-labels come last and have none
    assert [r > 0 for r in points["round"]] == [False] * 45 + [True] * (len(points["row"]) - 45)
    judged = curves[:, -n_judged_by:].mean(axis=1)
    np.testing.assert_allclose(judged, np.array(points["confidence"][:45]) / 1000, atol=0.004)


def test_suspects_are_ranked_by_how_probably_they_are_wrong(fitted, points):
    samples = fitted[0].samples_.query("source == 'given'")
    suspects = samples[~samples["useful"].astype(bool)]
    shown = [name for rank, name in zip(points["rank"], points["id"], strict=True) if rank]
    assert suspects.loc[shown, "p_wrong"].is_monotonic_decreasing
    assert sorted(shown) == sorted(suspects.index)


def test_labels_kept_add_up_over_the_rounds(fitted):
    summary = summarize_images(findings_of(*fitted))
    last = summary["training"]["history"][-1]
    assert last["n_useful"] == summary["labels"]["n_useful"]
    assert last["n_useful"] + last["n_suspects"] == 45
    assert summary["training"]["accuracy"] == last["accuracy"]


def test_the_page_speaks_of_images_and_has_no_part_that_only_tables_have(page):
    text = re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert "45 labeled images and 45 without a label" in text
    assert not re.search(r"\b(rows?|columns?|tables?|held-out|By value)\b", text)
    ids = [a["id"] for t, a in Outline(page).elements if t == "section"]
    assert ids == ["summary", "map", "suspects", "where", "training", "made"]


def test_classes_can_be_given_names(fitted, tmp_path):
    clf, X = fitted
    clf.write_report(tmp_path / "named.html", X, class_names=["sky", "grass", "rose"])
    shown = json.loads(Outline((tmp_path / "named.html").read_text(encoding="utf-8")).scripts[0])
    assert shown["classes"] == ["sky", "grass", "rose"]  # blue, green, red
    assert set(shown["points"]["label"]) == {0, 1, 2}


def test_only_pictures_in_the_page_itself_are_allowed(page):
    outline = Outline(page)
    policy = next(a["content"] for _, a in outline.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "img-src data:;" in policy
    assert not any("src" in attributes for _, attributes in outline.elements)


def test_names_labels_and_titles_make_no_element_and_no_script(tmp_path):
    page = hostile_images(tmp_path).read_text(encoding="utf-8")
    outline = Outline(page)
    assert len(outline.scripts) == 2
    assert "<" not in outline.scripts[0]
    assert not any(tag in ("img", "iframe", "object") for tag, _ in outline.elements)
    assert all(not name.startswith("on") for _, attributes in outline.elements for name in attributes)
    data = json.loads(outline.scripts[0])
    assert sorted(data["classes"]) == sorted(HOSTILE[:3])
    assert data["points"]["id"][0].endswith(HOSTILE[2])


@pytest.mark.parametrize(("n_labeled", "judges_all"), [(1_000, False), (1_000, True), (20_000, False)])
def test_many_images_stay_a_small_page_that_says_what_is_left_out(n_labeled, judges_all):
    summary = summarize_images(synthetic(50_000, n_labeled, judges_all=judges_all))
    points = summary["points"]
    assert len(render(summary).encode()) < 5_000_000
    assert len(points["pictures"]) == len(points["row"])
    n_judged = 50_000 if judges_all else n_labeled
    assert points["n_judged"] == n_judged
    assert (len(points["row"]) == n_judged) == (points["grid"] is None)
    assert (len(points["row"]) == n_judged) == (n_judged == 1_000)


def test_large_images_stay_a_small_page_too():
    assert len(render(summarize_images(synthetic(2_000, 2_000, side=100))).encode()) < 5_000_000


def test_what_cannot_be_reported_is_refused_before_anything_is_written(fitted, tmp_path):
    clf, X = fitted
    path = tmp_path / "labels.html"
    with pytest.raises(NotFittedError):
        ImageClassifier().write_report(path, X)
    with pytest.raises(ValueError, match="fitted on 90 images, but X has 89; pass the same images"):
        clf.write_report(path, X[1:])
    with pytest.raises(ValueError, match="Images must be bytes"):
        clf.write_report(path, X / 255)
    with pytest.raises(ValueError, match="Images of 6 channels cannot be shown"):
        clf.write_report(path, np.concatenate([X, X], axis=3))
    for names in (["a", "b"], ["a", "b", "b"], "abc", 3, {"a", "b", "c"}, {"a": 0, "b": 1, "c": 2}):
        with pytest.raises(ValueError, match="class_names must be a list of 3 different names"):
            clf.write_report(path, X, class_names=names)
    for place in (tmp_path / "no" / "labels.html", tmp_path):
        with pytest.raises(ValueError, match="must be a file in a folder that exists"):
            clf.write_report(place, X)
    assert list(tmp_path.iterdir()) == []


def test_labels_that_nobody_judged_are_not_reported(tmp_path):
    clf, X = fitted_to_images(curator="none", n_rounds=1, n_steps=2)
    with pytest.raises(ValueError, match='curator="none" judged no label'):
        clf.write_report(tmp_path / "labels.html", X)


@pytest.fixture(scope="module")
def little_noise():
    """A classifier whose pilots do not open the gate."""
    return fitted_to_images(curator=ImageAuto(least_noise=0.99))


def test_where_none_is_suspect_the_most_probably_wrong_are_ranked(little_noise):
    findings = findings_of(*little_noise)
    summary, given = summarize_images(findings), findings.account[findings.is_given]
    listed = suspects_of(findings.account)
    assert given["useful"].all()
    assert summary["labels"]["n_suspects"] == 0
    assert 0 < summary["labels"]["n_listed"] == len(listed) < len(given)
    assert listed["p_wrong"].is_monotonic_decreasing
    assert listed["reason"].str.startswith("wrong with a probability of").all()
    more_likely = listed[listed["p_wrong"] > 0.5]
    assert len(more_likely)
    assert more_likely["suggested_label"].notna().all()
    assert "none is suspect. All are trained on: the estimate is under 99 %" in summary["headline"]["labels"]
    assert ". Listed are the" in summary["headline"]["labels"]
    assert "a ranking, not a verdict" in summary["headline"]["labels"]
    assert summary["next_steps"][0].startswith("Look at the first")
    assert "suspect" not in summary["next_steps"][0]
    page = render(summary)
    assert "labels to look at; none is suspect" in page
    assert "Here it left none out." in page
    assert "sits out" not in page
    assert "is then suspect" not in page


def test_a_page_of_many_labels_that_look_wrong_speaks_of_no_suspects_where_there_are_none(little_noise):
    findings = replace(findings_of(*little_noise), noise_rate=0.4, command="dips audit scans")
    first = summarize_images(findings)["next_steps"][0]
    assert "learned little" in first
    assert "suspect" not in first
    assert "(--steps)" in first


def test_a_verified_label_is_not_ranked(little_noise):
    account = findings_of(*little_noise).account
    first = account["suspicion"].eq(1).fillna(False).astype(bool)
    assert suspicion_ranks(account.assign(verified=first))[first].isna().all()
