"""Which labels are shown, and what is noted of a run."""

import base64
import io

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("PIL")

import torch
from PIL import Image

from dips._paper.images.measures import _rehearse, labeled_part, noisy_labels, some_of, train_and_measure
from dips.curators._choose import resolve_curator
from dips.datasets._image_sets import ImageData
from dips.vision._turns import outcome_of

from ..vision.examples import CPU, PLAN, colors, pool, recipe


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def data():
    X, y = colors()
    people = {"people": (y + (np.arange(y.size) < 12)) % 3}
    return ImageData(X, y, *colors(30, random_state=1), people, class_names=("red", "green", "blue"))


def measured(curator, noise=0.2):
    labels = noisy_labels(data(), noise, 45, seed=0)
    judge = resolve_curator(curator, "images")
    return outcome_of(train_and_measure(data(), labels, recipe(n_steps=9), PLAN, judge, 0, CPU))


def test_as_many_labels_of_each_class_are_shown():
    hidden = labeled_part(data().y_train, 30, seed=0)
    assert np.bincount(hidden[hidden >= 0]).tolist() == [10, 10, 10]
    assert not (hidden == labeled_part(data().y_train, 30, seed=1)).all()


def test_noise_is_what_people_said_or_symmetric():
    said = noisy_labels(data(), "people", 60, seed=0)
    assert set((said - data().noisy["people"])[said >= 0]) == {0}
    symmetric = noisy_labels(data(), 0.2, 60, seed=0)
    assert (symmetric != data().y_train)[symmetric >= 0].sum() == 12


def test_labels_that_cannot_be_shown_are_refused():
    with pytest.raises(ValueError, match="2 labels are too few for 3 classes"):
        labeled_part(data().y_train, 2, seed=0)
    with pytest.raises(ValueError, match="no human labels called 'worse'; choose from people"):
        noisy_labels(data(), "worse", 60, seed=0)


def test_a_part_of_a_set_has_all_its_classes_and_keeps_labels_with_their_images():
    sorted_by_class = np.argsort(data().y_train, kind="stable")
    full = ImageData(
        data().X_train[sorted_by_class],
        data().y_train[sorted_by_class],
        data().X_test,
        data().y_test,
        {"people": sorted_by_class},
    )
    part = some_of(full, 20)
    assert set(part.y_train) == {0, 1, 2}
    for image, true, row in zip(part.X_train, part.y_train, part.noisy["people"], strict=True):
        assert (image == data().X_train[row]).all()
        assert true == data().y_train[row]
    assert part.X_test.shape[0] == 20
    assert some_of(full, None) is full


def test_a_run_notes_its_accuracy_along_the_training():
    outcome = measured("none")
    assert [point["step"] for point in outcome["curve"]] == list(range(1, 10))
    assert outcome["accuracy"] == outcome["curve"][-1]["accuracy"]
    times = [point["elapsed_s"] for point in outcome["curve"]]
    assert times == sorted(times)
    assert outcome["training_s"] == times[-1]
    assert (outcome["n_labeled"], outcome["n_images"], outcome["n_test"]) == (45, 120, 30)
    assert outcome["curation"] == []
    assert outcome["examples"] is None
    assert outcome["top5"] is None


def test_a_run_notes_how_many_useful_labels_and_suspects_are_wrong():
    outcome = measured("percentile")
    assert outcome["share_wrong"] == pytest.approx(9 / 45)
    assert [judged["round"] for judged in outcome["curation"]] == [0, 1, 2]
    for judged in outcome["curation"]:
        n_suspects = 45 - judged["n_kept"]
        n_wrong = judged["n_kept"] * judged["wrong_kept"] + n_suspects * judged["wrong_dropped"]
        assert n_wrong == pytest.approx(9)


def test_suspect_images_can_be_seen_without_the_data():
    examples = measured("percentile")["examples"]
    mosaic = np.asarray(Image.open(io.BytesIO(base64.b64decode(examples["mosaic"]))))
    height, width = examples["tile"]
    for k, (row, given, true) in enumerate(zip(examples["rows"], examples["given"], examples["true"], strict=True)):
        top, left = k // examples["tiles_a_row"] * height, k % examples["tiles_a_row"] * width
        assert (mosaic[top : top + height, left : left + width] == data().X_train[row]).all()
        assert true == data().class_names[data().y_train[row]]
        assert given in data().class_names


def test_the_five_most_probable_classes_are_looked_at_where_there_are_more():
    X, _ = colors(120)
    many = ImageData(X, np.arange(120) % 8, X, np.arange(120) % 8)
    labels = labeled_part(many.y_train, 64, seed=0)
    judge = resolve_curator("none", "images")
    outcome = outcome_of(train_and_measure(many, labels, recipe(n_steps=3), PLAN, judge, 0, CPU))
    assert outcome["accuracy"] <= outcome["top5"] <= 1


@pytest.mark.parametrize("curator", ["none", "percentile", "auto", "dips", "small_loss", "fluctuation"])
def test_every_curator_can_be_rehearsed_and_keeps_nothing_of_it(curator):
    judge = resolve_curator(curator, "images")
    before = set(vars(judge))
    _rehearse(pool(), recipe(), judge, seed=0)
    assert set(vars(judge)) == before
