"""Folders of images without a table of labels, and copies among them."""

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed, and images need it")

from PIL import Image

from dips import audit_images
from dips._image_study.album import read_album
from dips._image_study.copies import with_contrary_copies
from dips._image_study.held_out import images_to_hold_out
from dips._image_study.settings import ImageSettings
from dips._tools.observer import Observer
from dips.exceptions import DataError

QUICKLY = {"steps": 4, "network": "tiny"}

pytestmark = pytest.mark.usefixtures("cache", "one_torch_thread")


def color_folder(folder, names):
    """Save an image for each name: a new one, or one that there is already where a name is followed by another."""
    for k, (name, of) in enumerate(names.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if of is None:
            Image.fromarray(np.random.RandomState(k).randint(0, 255, (8, 8, 3)).astype(np.uint8)).save(path)
        else:
            shutil.copy(folder / of, path)
    return folder


def test_copies_are_told_of_and_held_out_together(tmp_path):
    names = {f"{'ab'[k % 2]}/{k:02}.png": None for k in range(20)}
    copies = {"a/copy.png": "a/02.png", "b/copy.png": "a/00.png", "unlabeled/copy.png": "b/01.png"}
    folder, settings = color_folder(tmp_path / "scans", names | copies), ImageSettings(holdout=0.25)
    album = read_album(folder, settings, Observer())
    assert album.notes == [
        "3 images are copies of another; copies are held out together.",
        "1 image has more than one label: a/00.png is labeled 'a', its copy b/copy.png 'b'.",
    ]
    for seed in range(5):
        split = images_to_hold_out(album, replace(settings, seed=seed))
        assert not np.isin(album.same[split.test], album.same[split.train]).any()


def test_labels_that_copies_contradict_are_suspects(tmp_path):
    names = {f"{'ab'[k % 2]}/{k:02}.png": None for k in range(20)}
    copies = {"b/copy.png": "a/00.png", "a/copy.png": "a/00.png", "b/also.png": "a/02.png"}
    folder = color_folder(tmp_path / "scans", names | copies)
    judged = audit_images(folder, **QUICKLY, curator="percentile")
    n_suspects = int((~judged.samples["useful"]).sum())
    assert f"labels, {n_suspects} suspect; see suspects(), samples and write_report()" in repr(judged)
    suspects = judged.suspects().set_index("file")
    assert {"b/copy.png", "b/also.png", "a/02.png"} <= set(suspects.index)
    assert suspects.loc["b/copy.png", "reason"].startswith("its copy a/00.png has the label 'a'; ")
    assert suspects.loc["a/02.png", "suggested_label"] == "b"
    assert judged.summary["labels"]["n_suspects"] == len(suspects)


def account_of_copies(p_wrong, useful):
    names = pd.Index(["0.png", "1.png", "2.png", "3.png"], name="file")
    return pd.DataFrame(
        {
            "source": "given",
            "given_label": ["a", "b", "a", "b"],
            "suggested_label": None,
            "p_wrong": p_wrong,
            "useful": useful,
            "verified": [False, False, True, False],
            "confidence": 0.9,
            "out_of_fold": np.nan,
        },
        index=names,
    )


def test_where_labels_are_only_ranked_those_that_copies_contradict_are_ranked_too():
    same, codes, verified = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([False, False, True, False])
    of = (same, codes, verified, ["a", "b"])
    clean = with_contrary_copies(account_of_copies([0.01, 0.7, 0.0, 0.01], True), *of)
    assert clean["useful"].all()
    assert clean["p_wrong"].tolist() == [0.5, 0.7, 0.0, 0.5]
    assert clean.loc["3.png", "reason"].startswith("its copy 2.png has the label 'a'")
    dirty = with_contrary_copies(account_of_copies([0.01, 0.7, 0.0, 0.01], [True, False, True, True]), *of)
    assert dirty["useful"].tolist() == [False, False, True, False]
    unknown = with_contrary_copies(account_of_copies(np.nan, True), *of)
    assert unknown["useful"].tolist() == [False, False, True, False]
    assert unknown["p_wrong"].isna().all()


@pytest.mark.parametrize("parts", [["train"], ["train", "Test", "val"]])
def test_parts_of_a_data_set_are_not_taken_for_classes(tmp_path, parts):
    names = {f"{part}/{'ab'[k % 2]}/{k}.png": None for k in range(10) for part in parts}
    with pytest.raises(
        DataError, match=rf"parts of a data set, not classes\. Name one of them, such as .*{parts[0]}, or"
    ):
        read_album(color_folder(tmp_path, names), ImageSettings(), Observer())


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([f"c{k}/0.png" for k in range(20)],
         r"^There are 20 different labels in 20 labeled images, .*; put all images of a class into the folder that"),
        ([f"cat/{k}.png" for k in range(12)], r"^Every labeled image has the label 'cat' \(12 images\); a classifier"),
        (["cat/0.png", "dog/1.png"], r"^Only 2 images are labeled \('cat' 1, 'dog' 1\)"),
        ([f"{'cat' if k < 3 else 'dog'}/{k}.png" for k in range(20)],
         "^The class 'cat' has 3 labeled images, .*; label more images of it"),
    ],
)  # fmt: skip
def test_labels_by_folders_are_refused_in_words_for_folders(tmp_path, names, words):
    with pytest.raises(DataError, match=words):
        read_album(color_folder(tmp_path, dict.fromkeys(names)), ImageSettings(), Observer())


def test_a_class_of_copies_cannot_be_held_out(tmp_path):
    names = {f"{'ab'[k % 2]}/{k:02}.png": None for k in range(20)}
    copies = {f"c/{k}.png": "c/0.png" for k in range(1, 8)}
    folder = color_folder(tmp_path / "scans", names | {"c/0.png": None} | copies)
    album = read_album(folder, ImageSettings(), Observer())
    with pytest.raises(DataError, match=r"class 'c' is in too few different images: .*; label more, or use holdout=0"):
        images_to_hold_out(album, ImageSettings())


def test_a_class_may_be_called_test(tmp_path):
    names = {f"{('test', 'train')[k % 2]}/{k}.png": None for k in range(20)}
    assert read_album(color_folder(tmp_path, names), ImageSettings(), Observer()).target.classes == ["test", "train"]
