"""A fitted classifier in a file that runs no code."""

import json

import numpy as np
import pytest
import torch

from dips.exceptions import ModelError
from dips.vision import ImageClassifier, load_classifier
from dips.vision._networks import TinyNet
from dips.vision._tensor_file import read_tensors, write_tensors
from dips.vision._views import View

from .examples import colors, dirty_labels

QUICK = {"curator": "none", "n_steps": 4, "n_rounds": 1, "batch_size": 8, "random_state": 0, "device": "cpu"}


def fitted(network="tiny"):
    return ImageClassifier(network, **QUICK).fit(colors()[0], np.array(["a", "b", "c", None])[dirty_labels()])


@pytest.fixture
def saved(tmp_path):
    clf = fitted()
    clf.save(tmp_path / "network.safetensors")
    return clf, tmp_path / "network.safetensors"


def test_a_saved_classifier_predicts_the_same(saved):
    clf, path = saved
    same = load_classifier(path, device="cpu")
    np.testing.assert_array_equal(same.predict_proba(colors()[0]), clf.predict_proba(colors()[0]))
    assert same.predict(colors()[0]).tolist() == clf.predict(colors()[0]).tolist()
    assert (same.image_size_, same.classes_.tolist()) == ((8, 8), ["a", "b", "c"])


def test_a_network_of_ones_own_must_be_passed_again(tmp_path):
    def mine(n_classes, n_channels):
        return TinyNet(n_classes, n_channels, width=4)

    clf, path = fitted(mine), tmp_path / "mine.safetensors"
    clf.save(path)
    with pytest.raises(ModelError, match="network whose code is yours; pass the function that makes it as network="):
        load_classifier(path)
    same = load_classifier(path, mine, device="cpu")
    np.testing.assert_array_equal(same.predict_proba(colors()[0]), clf.predict_proba(colors()[0]))
    with pytest.raises(ModelError, match="are not those of the network"):
        load_classifier(path, TinyNet)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda b: b[:5], "cut off, or is of another format"),
        (lambda b: b[:-4], "its header is damaged"),
        (lambda b: b[:-1] + bytes([b[-1] ^ 1]), "its checksum differs"),
        (lambda b: (2**40).to_bytes(8, "little") + b[8:], "cut off, or is of another format"),
        (lambda b: b.replace(b'"F32"', b'"F33"', 1), "its header is damaged"),
        (lambda b: b.replace(b"tiny", b"huge", 1), "its checksum differs"),
        (lambda b: b"", "cut off, or is of another format"),
    ],
)
def test_a_damaged_file_is_refused(saved, harm, words):
    path = saved[1]
    path.write_bytes(harm(path.read_bytes()))
    with pytest.raises(ModelError, match=f"is damaged: .*{words}"):
        load_classifier(path)


def test_a_file_that_is_missing_or_not_ours_is_refused(tmp_path):
    with pytest.raises(ModelError, match="There is no file"):
        load_classifier(tmp_path / "nothing")
    write_tensors(tmp_path / "other.safetensors", {"a": torch.zeros(2)}, {})
    with pytest.raises(ModelError, match="it holds no classifier of images"):
        load_classifier(tmp_path / "other.safetensors")


def rewritten(path, **changed):
    """Change what a file says of its classifier; a value of None takes it out."""
    tensors, texts = read_tensors(path)
    about = {key: value for key, value in (json.loads(texts["dips"]) | changed).items() if value is not None}
    write_tensors(path, tensors, {"dips": json.dumps(about)})


def test_a_file_from_before_views_were_averaged_predicts_from_images_as_they_are(saved):
    clf, path = saved
    rewritten(path, views=None)
    straight = load_classifier(path, device="cpu")
    clf.views_ = (View(),)
    np.testing.assert_array_equal(straight.predict_proba(colors()[0]), clf.predict_proba(colors()[0]))


@pytest.mark.parametrize("views", [[], [{"weight": 0.5}], [{"down": 0.5, "weight": 1.0}]])
def test_views_that_make_no_sense_are_refused(saved, views):
    rewritten(saved[1], views=views)
    with pytest.raises(ModelError, match="is damaged: the views of an image that it averages make no sense"):
        load_classifier(saved[1])


def test_tensors_of_all_kinds_come_back(tmp_path):
    kinds = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8)
    tensors = {str(kind): torch.arange(6).reshape(2, 3).to(kind) for kind in kinds}
    tensors |= {"scalar": torch.tensor(7), "empty": torch.zeros(0, 3), "mask": torch.tensor([True, False])}
    write_tensors(tmp_path / "t", tensors, {"said": "ü"})
    stored, about = read_tensors(tmp_path / "t")
    assert about == {"said": "ü"}
    assert list(stored) == list(tensors)
    for name, tensor in tensors.items():
        assert stored[name].dtype == tensor.dtype
        assert torch.equal(stored[name], tensor)


def test_the_file_is_laid_out_as_safetensors_says(tmp_path):
    write_tensors(tmp_path / "t", {"a": torch.tensor([1.0, 2.0]), "b": torch.tensor(3)}, {})
    stored = (tmp_path / "t").read_bytes()
    n = int.from_bytes(stored[:8], "little")
    header = json.loads(stored[8 : 8 + n])
    assert (8 + n) % 8 == 0
    assert header["a"] == {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    assert header["b"] == {"dtype": "I64", "shape": [], "data_offsets": [8, 16]}
    assert stored[8 + n : 16 + n] == np.array([1, 2], dtype="<f4").tobytes()
