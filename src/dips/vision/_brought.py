"""Networks of torchvision and timm, where these are installed: with a last layer for the classes at hand."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from dips.exceptions import InputError
from dips.vision._last_layer import last_linear, replace_layer

_PRETRAINED = "pretrained"
_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))  # mean and deviation of pixels from 0 to 1


class BroughtNetwork(nn.Module):
    """A network for color images that also takes gray ones, and says how its pixels are scaled.

    Attributes
    ----------
    pixel_scaling : mean and deviation of each channel, of bytes, that the weights were trained with; None if untrained
    """

    def __init__(self, network: nn.Module, pixel_scaling: tuple[Tensor, Tensor] | None) -> None:
        super().__init__()
        self.network, self.pixel_scaling = network, pixel_scaling

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, C) of images (n, channels, height, width)."""
        return self.network(x.expand(-1, 3, -1, -1) if x.shape[1] == 1 else x)


def is_brought(network: Any) -> bool:
    """Whether a network is named as one of torchvision or timm: ``torchvision:resnet18``."""
    return isinstance(network, str) and network.partition(":")[0] in _LIBRARIES and ":" in network


def check_brought(name: str) -> None:
    """Refuse a network whose library is not installed, or that is not in it."""
    library, model, _ = _parted(name)
    module = _library(name)
    known = module.models.list_models() if library == "torchvision" else module.list_models()
    if model.partition(".")[0] not in known and model not in known:  # timm has a name for each set of weights, too
        raise InputError(f"network={name!r}: {library} has no model {model!r}, but {len(known)} others.")


def build_brought(name: str, n_classes: int, n_channels: int, pretrained: bool = True) -> nn.Module:
    """Return a network by name: ``torchvision:resnet18``, or with its trained weights ``timm:resnet18:pretrained``."""
    library, model, wants_weights = _parted(name)
    if n_channels not in (1, 3):
        raise InputError(f"network={name!r} takes images of 1 or 3 channels; these have {n_channels}.")
    return _LIBRARIES[library](_library(name), model, wants_weights and pretrained, n_classes, n_channels)


def _from_torchvision(module: ModuleType, model: str, pretrained: bool, n_classes: int, n_channels: int) -> nn.Module:
    network = module.models.get_model(model, weights="DEFAULT" if pretrained else None)
    name = last_linear(network)
    if name is None:
        raise InputError(f"{model} of torchvision does not end in a linear layer; pass a function that makes yours.")
    old = network.get_submodule(name)
    replace_layer(network, name, nn.Linear(old.in_features, n_classes, bias=old.bias is not None))
    return BroughtNetwork(network, _scaling(*_IMAGENET, n_channels) if pretrained else None)


def _from_timm(module: ModuleType, model: str, pretrained: bool, n_classes: int, n_channels: int) -> nn.Module:
    network = module.create_model(model, pretrained=pretrained, num_classes=n_classes)
    trained_with = getattr(network, "pretrained_cfg", None) or {}
    moments = trained_with.get("mean", _IMAGENET[0]), trained_with.get("std", _IMAGENET[1])
    return BroughtNetwork(network, _scaling(*moments, n_channels) if pretrained else None)


_LIBRARIES = {"torchvision": _from_torchvision, "timm": _from_timm}


def _scaling(mean: Sequence[float], deviation: Sequence[float], n_channels: int) -> tuple[Tensor, Tensor]:
    """Of bytes; a gray image has the mean of the colors'."""
    moments = (255 * torch.tensor(moment, dtype=torch.float32) for moment in (mean, deviation))
    first, second = (m if n_channels == 3 else m.mean(dim=0, keepdim=True) for m in moments)
    return first, second


def _parted(name: str) -> tuple[str, str, bool]:
    library, _, rest = name.partition(":")
    model, _, how = rest.partition(":")
    if not model or how not in ("", _PRETRAINED):
        raise InputError(f"network={name!r} should be {library}:MODEL or {library}:MODEL:{_PRETRAINED}.")
    return library, model, how == _PRETRAINED


def _library(name: str) -> ModuleType:
    library = _parted(name)[0]
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise InputError(f"network={name!r} needs {library}, which is not installed: pip install {library}.") from error
