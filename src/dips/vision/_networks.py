"""Networks for small images: the wide residual network of the papers, and one designed for speed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from dips.exceptions import InputError
from dips.vision._brought import build_brought, check_brought, is_brought

_SLOPE = 0.1  # of the leaky rectifier, as in FixMatch


def _conv(n_in: int, n_out: int, stride: int = 1, size: int = 3) -> nn.Conv2d:
    return nn.Conv2d(n_in, n_out, size, stride, padding=size // 2, bias=False)


class _PreActivated(nn.Module):
    """Two convolutions, each after norm and rectifier, and a shortcut around them."""

    def __init__(self, n_in: int, n_out: int, stride: int) -> None:
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(n_in), _conv(n_in, n_out, stride)
        self.norm2, self.conv2 = nn.BatchNorm2d(n_out), _conv(n_out, n_out)
        self.around = None if n_in == n_out else _conv(n_in, n_out, stride, size=1)

    def forward(self, x: Tensor) -> Tensor:
        active = nn.functional.leaky_relu(self.norm1(x), _SLOPE)
        out = self.conv2(nn.functional.leaky_relu(self.norm2(self.conv1(active)), _SLOPE))
        return out + (x if self.around is None else self.around(active))


class WideResNet(nn.Module):
    """WideResNet of Zagoruyko and Komodakis (2016), pre-activated: ``depth`` = 6 n + 4 layers, ``width`` times as wide.

    28-2 has 1.5 million weights, 28-8 has 23 million.

    Parameters
    ----------
    n_classes : int
    n_channels : int, default=3
        3 for color, 1 for gray.
    depth, width : int
        FixMatch uses 28 and 2.
    """

    def __init__(self, n_classes: int, n_channels: int = 3, depth: int = 28, width: int = 2) -> None:
        super().__init__()
        n_blocks, widths = (depth - 4) // 6, [16, 16 * width, 32 * width, 64 * width]
        blocks = []
        for stage, (n_in, n_out) in enumerate(pairwise(widths)):
            for block in range(n_blocks):
                stride = 2 if stage > 0 and block == 0 else 1
                blocks.append(_PreActivated(n_in if block == 0 else n_out, n_out, stride))
        self.stem = _conv(n_channels, widths[0])
        self.blocks = nn.Sequential(*blocks)
        self.norm, self.head = nn.BatchNorm2d(widths[-1]), nn.Linear(widths[-1], n_classes)
        _initialize(self)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, C) of images (n, channels, height, width)."""
        x = nn.functional.leaky_relu(self.norm(self.blocks(self.stem(x))), _SLOPE)
        return self.head(x.mean(dim=(2, 3)))


class _Pooled(nn.Module):
    """A convolution, pooled before its norm, then a residual pair at half the size."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__()
        self.conv1, self.norm1 = _conv(n_in, n_out), nn.BatchNorm2d(n_out)
        self.conv2, self.norm2 = _conv(n_out, n_out), nn.BatchNorm2d(n_out)
        self.conv3, self.norm3 = _conv(n_out, n_out), nn.BatchNorm2d(n_out)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.norm1(nn.functional.max_pool2d(self.conv1(x), 2)))
        return torch.relu(x + self.norm3(self.conv3(torch.relu(self.norm2(self.conv2(x))))))


class FastNet(nn.Module):
    """Ten convolutions, about as many multiplications as WideResNet-28-2 and a third of its memory traffic.

    On a GPU, small images are limited by the bytes moved, not by arithmetic: a few wide layers are faster than many
    narrow ones, and a norm after the pooling reads a quarter of what one before it would read.

    Parameters
    ----------
    n_classes : int
    n_channels : int, default=3
        3 for color, 1 for gray.
    widths : three int
        Channels of the three blocks.
    """

    def __init__(self, n_classes: int, n_channels: int = 3, widths: tuple[int, int, int] = (64, 256, 256)) -> None:
        super().__init__()
        self.stem = nn.Conv2d(n_channels, 32, 3, padding=1)
        self.blocks = nn.Sequential(
            _Pooled(32, widths[0]), _Pooled(widths[0], widths[1]), _Pooled(widths[1], widths[2])
        )
        self.head = nn.Linear(widths[2], n_classes)
        _initialize(self)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, C) of images (n, channels, height, width)."""
        return self.head(self.blocks(torch.relu(self.stem(x))).mean(dim=(2, 3)))


class TinyNet(nn.Module):
    """Two layers, for a quick look on a CPU."""

    def __init__(self, n_classes: int, n_channels: int = 3, width: int = 16) -> None:
        super().__init__()
        self.conv1, self.norm1 = _conv(n_channels, width, stride=2), nn.BatchNorm2d(width)
        self.conv2, self.norm2 = _conv(width, 2 * width, stride=2), nn.BatchNorm2d(2 * width)
        self.head = nn.Linear(2 * width, n_classes)
        _initialize(self)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, C) of images (n, channels, height, width)."""
        x = torch.relu(self.norm2(self.conv2(torch.relu(self.norm1(self.conv1(x))))))
        return self.head(x.mean(dim=(2, 3)))


def _initialize(network: nn.Module) -> None:
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", a=_SLOPE)
        if isinstance(module, nn.Linear):
            nn.init.xavier_normal_(module.weight)
        if isinstance(module, nn.Conv2d | nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)


NETWORKS: dict[str, Callable[[int, int], nn.Module]] = {
    "wrn-28-2": lambda n_classes, n_channels: WideResNet(n_classes, n_channels, width=2),
    "wrn-28-8": lambda n_classes, n_channels: WideResNet(n_classes, n_channels, width=8),
    "fast": FastNet,
    "tiny": TinyNet,
}


def check_network(network: str | Callable[[int, int], nn.Module]) -> None:
    """Refuse a network that is not known, or whose library is missing."""
    if isinstance(network, nn.Module):
        raise InputError(
            "network is a module; pass a function of (n_classes, n_channels) that makes one, since several are trained."
        )
    if is_brought(network):
        check_brought(str(network))
    elif isinstance(network, str) and network not in NETWORKS:
        raise InputError(
            f"network={network!r} is not known; choose one of {', '.join(NETWORKS)}, torchvision:MODEL and timm:MODEL."
        )


def check_answers(network: Any, n_classes: int, shape: tuple[int, ...]) -> None:
    """Refuse a network that does not answer images (height, width, channels) with a number for each class."""
    height, width, n_channels = shape
    wanted = f"network must make a module that answers (n, {n_channels}, {height}, {width}) with (n, {n_classes})"
    if not isinstance(network, nn.Module):
        raise InputError(f"{wanted}; got an object of type {type(network).__name__}.")
    try:
        with torch.no_grad():
            answers = network.eval()(torch.zeros(2, n_channels, height, width))
    except Exception as error:  # whatever a network of the user's may raise
        raise InputError(f"{wanted}; it fails with {type(error).__name__}: {error}") from error
    if not isinstance(answers, Tensor) or answers.shape != (2, n_classes):
        got = (
            f"(n, {', '.join(map(str, answers.shape[1:]))})" if isinstance(answers, Tensor) else type(answers).__name__
        )
        raise InputError(f"{wanted}; it answers with {got}.")


def build_network(
    network: str | Callable[[int, int], nn.Module], n_classes: int, n_channels: int, seed: int, pretrained: bool = True
) -> nn.Module:
    """Return a fresh network by name, or from a function of (n_classes, n_channels); the seed decides its weights.

    Without `pretrained`, no trained weights are looked for, since others will take their place.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if is_brought(network):
            return build_brought(str(network), n_classes, n_channels, pretrained)
        make = NETWORKS[network] if isinstance(network, str) else network
        return make(n_classes, n_channels)
