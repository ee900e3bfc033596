"""Networks that users bring; torchvision and timm are played by stubs with their interface."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from dips.exceptions import InputError
from dips.vision import ImageClassifier, load_classifier
from dips.vision._brought import build_brought

from .examples import colors, dirty_labels

QUICK = {"curator": "none", "n_steps": 3, "n_rounds": 1, "batch_size": 4, "random_state": 0, "device": "cpu"}


class Small(nn.Module):
    """Color images to a thousand classes, as the networks of torchvision."""

    def __init__(self, n_classes=1000):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3)
        self.classifier = nn.Sequential(nn.ReLU(), nn.Linear(4, n_classes))

    def forward(self, x):
        return self.classifier(self.stem(x).mean(dim=(2, 3)))


@pytest.fixture
def asked_for(monkeypatch):
    """What the stubs were asked for."""
    asked = []

    def get_model(name, weights=None):
        asked.append(("torchvision", name, weights))
        return nn.Conv2d(3, 1000, 8) if name == "no_linear" else Small()

    def create_model(name, pretrained=False, num_classes=1000):
        asked.append(("timm", name, pretrained))
        network = Small(num_classes)
        network.pretrained_cfg = {"mean": (0.5, 0.5, 0.5), "std": (0.25, 0.25, 0.25)}
        return network

    torchvision, timm = ModuleType("torchvision"), ModuleType("timm")
    names = ["resnet18", "no_linear"]
    torchvision.models = SimpleNamespace(get_model=get_model, list_models=lambda: names)
    timm.create_model, timm.list_models = create_model, lambda: names
    monkeypatch.setitem(sys.modules, "torchvision", torchvision)
    monkeypatch.setitem(sys.modules, "timm", timm)
    return asked


@pytest.mark.parametrize("library", ["torchvision", "timm"])
def test_the_last_layer_is_made_for_the_classes(asked_for, library):
    network = build_brought(f"{library}:resnet18", 3, 3)
    assert network(torch.zeros(2, 3, 8, 8)).shape == (2, 3)
    assert network.pixel_scaling is None  # weights that nobody trained want no scaling of their own
    assert asked_for == [(library, "resnet18", None if library == "torchvision" else False)]


@pytest.mark.parametrize(
    ("name", "weights", "mean", "deviation"),
    [
        ("torchvision:resnet18:pretrained", "DEFAULT", 255 * 0.485, 255 * 0.229),
        ("timm:resnet18:pretrained", True, 127.5, 63.75),
        ("timm:resnet18.a1_in1k:pretrained", True, 127.5, 63.75),
    ],
)
def test_trained_weights_come_with_their_own_scaling_of_pixels(asked_for, name, weights, mean, deviation):
    clf = ImageClassifier(name, **QUICK).fit(colors()[0], dirty_labels())
    assert asked_for[0][2] == weights
    assert float(clf.scaling_.mean[0]) == pytest.approx(mean)
    assert float(clf.scaling_.deviation[0]) == pytest.approx(deviation)


def test_gray_images_are_shown_to_all_three_channels(asked_for):
    network = build_brought("torchvision:resnet18:pretrained", 2, 1)
    x = torch.rand(2, 1, 8, 8)
    torch.testing.assert_close(network(x), network.network(x.repeat(1, 3, 1, 1)))
    assert network.pixel_scaling[0].shape == (1,)
    with pytest.raises(ValueError, match="takes images of 1 or 3 channels; these have 2"):
        build_brought("torchvision:resnet18", 2, 2)


def test_a_saved_network_is_loaded_without_looking_for_trained_weights(asked_for, tmp_path):
    clf = ImageClassifier("timm:resnet18:pretrained", **QUICK).fit(colors()[0], dirty_labels())
    clf.save(tmp_path / "network.safetensors")
    asked_for.clear()
    same = load_classifier(tmp_path / "network.safetensors", device="cpu")
    assert asked_for == [("timm", "resnet18", False)]
    np.testing.assert_array_equal(same.predict_proba(colors()[0]), clf.predict_proba(colors()[0]))


def test_a_function_may_say_how_pixels_are_scaled():
    def mine(n_classes, n_channels):
        network = Small(n_classes)
        network.pixel_scaling = ([1, 2, 3], [4, 5, 6])
        return network

    clf = ImageClassifier(mine, **QUICK).fit(colors()[0], dirty_labels())
    assert (clf.scaling_.mean.tolist(), clf.scaling_.deviation.tolist()) == ([1, 2, 3], [4, 5, 6])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("torchvision:alexnot", "torchvision has no model 'alexnot', but 2 others"),
        ("timm:resnet18:trained", "should be timm:MODEL or timm:MODEL:pretrained"),
        ("timm:", "should be timm:MODEL"),
        ("torchvision:no_linear", "does not end in a linear layer; pass a function that makes yours"),
        ("keras:resnet18", "network='keras:resnet18' is not known; choose one of wrn-28-2, .* timm:MODEL"),
    ],
)
def test_a_network_that_cannot_be_had_is_refused(asked_for, name, words):
    with pytest.raises(ValueError, match=words):
        ImageClassifier(name, **QUICK).fit(colors()[0], dirty_labels())


@pytest.mark.parametrize("library", ["torchvision", "timm"])
def test_a_missing_library_is_named(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ValueError, match=f"needs {library}, which is not installed: pip install {library}"):
        ImageClassifier(f"{library}:resnet18", **QUICK).fit(colors()[0], dirty_labels())


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (
            lambda c, n: nn.Sequential(nn.Flatten(), nn.Linear(192, 7)),
            r"\(n, 3, 8, 8\) with \(n, 3\); .* with \(n, 7\)",
        ),
        (lambda c, n: nn.Sequential(nn.Flatten(), nn.Linear(9, c)), "it fails with RuntimeError: mat1 and mat2"),
        (lambda c, n: nn.Sequential(nn.Flatten(), nn.LSTM(192, c)), "it answers with tuple"),
        (lambda c, n: None, "got an object of type NoneType"),
        (nn.Linear(3, 3), "pass a function of .* that makes one"),
    ],
)
def test_a_network_that_cannot_answer_is_refused_before_any_work(network, message):
    X, y = colors(30)
    with pytest.raises(InputError, match=message):
        ImageClassifier(network, n_steps=1).fit(X, y)


@pytest.mark.parametrize(
    ("device", "message"), [("gpu", "'gpu' is not known to PyTorch"), ("cuda", "needs a GPU, and PyTorch finds none")]
)
def test_a_device_that_is_not_there_is_refused(monkeypatch, device, message):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    X, y = colors(30)
    with pytest.raises(InputError, match=message):
        ImageClassifier("tiny", device=device).fit(X, y)
