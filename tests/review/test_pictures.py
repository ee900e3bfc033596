"""Images: large, beside those most like them and useful ones of both classes."""

import base64

import numpy as np
import pandas as pd
import pytest

from dips._review.export import corrections_frame
from dips._review.pictures import nearest
from dips._study.reviewing import corrections_of_run, desk_of_run
from dips._study.run import Run
from dips.exceptions import OutputError

from .reviews import correct

pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    from tests.report.pages import fitted_to_images

    place = tmp_path_factory.mktemp("album")
    clf, X = fitted_to_images()
    clf.write_review(place / "album", X, title="colors")
    return Run(place / "album"), clf, X


def test_the_nearest_are_found():
    points = np.array([[1, 0], [0, 1], [1, 0.1], [0.1, 1], [1, 0.3]])
    assert nearest(points, 2).tolist() == [[2, 4], [3, 4], [0, 4], [1, 4], [2, 0]]
    assert nearest(points).shape == (5, 4)


def test_an_image_comes_with_its_neighbors_and_examples(album):
    run, _, _ = album
    desk = desk_of_run(run)
    row = desk.queue.rows[0]
    card = desk.card("anna", row)
    for picture in (card["picture"], *(n["picture"] for n in card["neighbors"])):
        prefix, _, content = picture.partition(",")
        assert prefix == "data:image/png;base64"
        assert base64.b64decode(content).startswith(b"\x89PNG")
    assert row not in [n["row"] for n in card["neighbors"]]
    assert len(card["label"]["neighbors"]) == len(card["neighbors"]) == 8
    assert all(label in desk.material.classes for label in card["label"]["neighbors"])
    assert [len(shown) > 0 for shown in desk.start("anna")["examples"]] == [True] * 3
    assert card["key"].endswith(".png")
    assert row in [f["row"] for f in desk.find("anna", card["key"])]


def test_blinded_the_labels_of_neighbors_are_hidden_too(album):
    run, _, _ = album
    desk = desk_of_run(run, blinded=True)
    card = desk.card("zoe", desk.queue.rows[0])
    assert "label" not in card
    assert all(set(n) == {"row", "picture"} for n in card["neighbors"])


def test_corrections_name_the_image_and_can_be_read(album):
    run, _, _ = album
    desk = desk_of_run(run)
    correct(desk, "anna", desk.queue.rows[0])
    frame = corrections_frame(desk)
    assert frame["image"].tolist() == [desk.queue.rows[0]]
    assert pd.read_csv(corrections_of_run(run)[0])["label"].tolist() == frame["label"].tolist()


def test_a_folder_that_is_not_empty_is_refused(album):
    run, clf, X = album
    with pytest.raises(OutputError, match="exists already"):
        clf.write_review(run.folder, X)
