"""The linear layer that a network ends in."""

from __future__ import annotations

from torch import nn


def last_linear(network: nn.Module) -> str | None:
    """The name of the last linear layer, as modules are listed; None if there is none."""
    names = [name for name, layer in network.named_modules() if isinstance(layer, nn.Linear)]
    return names[-1] if names else None


def replace_layer(network: nn.Module, name: str, layer: nn.Module) -> None:
    """Put another layer in the place of the one of this name."""
    parent, _, last = name.rpartition(".")
    setattr(network.get_submodule(parent), last, layer)
