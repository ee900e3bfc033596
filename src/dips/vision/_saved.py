"""A fitted image classifier in a file: the weights of its network, and what is needed to use it. No pickle."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from dips._persistence.model import versions
from dips.exceptions import DamagedFileError, ModelError
from dips.vision._image_pool import Scaling
from dips.vision._networks import build_network, check_network
from dips.vision._tensor_file import read_tensors, write_tensors
from dips.vision._views import AS_IT_IS, View

if TYPE_CHECKING:
    from dips.vision._classifier import ImageClassifier

FORMAT = 1
_NETWORK, _MEAN, _DEVIATION = "network.", "scaling.mean", "scaling.deviation"


def save(clf: ImageClassifier, path: Path) -> None:
    """Write a fitted classifier; the parameters are those of :meth:`ImageClassifier.save`."""
    tensors = {_NETWORK + name: tensor for name, tensor in clf.network_.state_dict().items()}
    tensors |= {_MEAN: clf.scaling_.mean, _DEVIATION: clf.scaling_.deviation}
    about = {
        "format": FORMAT,
        "network": clf.network if isinstance(clf.network, str) else None,
        "classes": clf.classes_.tolist(),
        "image_size": list(clf.image_size_),
        "views": [asdict(view) for view in clf.views_],
        "versions": versions(),
    }
    write_tensors(path, tensors, {"dips": json.dumps(about)})


def load_into(
    clf: ImageClassifier, path: Path, network: Callable[[int, int], nn.Module] | None, device: torch.device
) -> None:
    """Fill a classifier from a file; the parameters are those of :func:`dips.vision.load_classifier`."""
    if not path.is_file():
        raise ModelError(f"There is no file {path}.")
    try:
        tensors, texts = read_tensors(path)
        about = _checked(json.loads(texts["dips"]))
        views = _views(about)
        scaling = Scaling(tensors.pop(_MEAN), tensors.pop(_DEVIATION))
        state = {name.removeprefix(_NETWORK): tensor for name, tensor in tensors.items()}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = str(error) if isinstance(error, DamagedFileError) else "it holds no classifier of images"
        raise ModelError(f"{path} is damaged: {reason}. Get it from its source again.") from error
    named = network or about["network"]
    if named is None:
        raise ModelError(
            f"{path} holds the weights of a network whose code is yours; pass the function that makes it as network=."
        )
    n_channels = scaling.mean.numel()
    check_network(named)
    made = build_network(named, len(about["classes"]), n_channels, seed=0, pretrained=False)
    try:
        made.load_state_dict(state)
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise ModelError(f"The weights in {path} are not those of the network {named}: {reason}") from error
    clf.network = named
    clf.network_ = made.to(device, memory_format=torch.channels_last).eval()
    clf.scaling_ = Scaling(scaling.mean.to(device), scaling.deviation.to(device))
    clf.classes_ = np.array(about["classes"])
    clf.image_size_ = (about["image_size"][0], about["image_size"][1])
    clf.views_ = views


def _checked(about: Any) -> dict[str, Any]:
    """Return what the file says of the classifier; refuse what does not make sense."""
    if about["format"] > FORMAT:
        raise DamagedFileError(f"it was written by a later version of dips ({about['versions']['dips']}); update dips")
    height, width = about["image_size"]
    if not (isinstance(about["classes"], list) and len(about["classes"]) > 1 and min(height, width) > 0):
        raise DamagedFileError("its classes or the size of its images make no sense")
    if not isinstance(about["network"], str | None):
        raise DamagedFileError("the name of its network is not a text")
    return about


def _views(about: dict[str, Any]) -> tuple[View, ...]:
    """Return the views that are averaged; files written before there were any predict from images as they are."""
    if "views" not in about:
        return AS_IT_IS
    views = tuple(View(**view) for view in about["views"])
    if not math.isclose(sum(view.weight for view in views), 1) or not all(
        isinstance(by, int) for view in views for by in (view.down, view.right)
    ):
        raise DamagedFileError("the views of an image that it averages make no sense")
    return views
