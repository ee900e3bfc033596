"""Views of an image over which answers are averaged: as it is, moved by a pixel, and each of these mirrored.

A network's answer changes a little with where an object is in the image and with which way it looks, though its class
does not. The mean over a few such views is a better answer than one of them, for as many predictions and no training.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dips.vision._augment import mirrored


@dataclass(frozen=True)
class View:
    """One way to look at an image.

    Attributes
    ----------
    down, right : pixels by which the image is moved; the gap is filled by mirroring
    flip : whether left and right are swapped
    weight : of its answer in the mean
    """

    down: int = 0
    right: int = 0
    flip: bool = False
    weight: float = 1.0

    def of(self, images: Tensor) -> Tensor:
        """Images (n, height, width, channels) as this view shows them."""
        height, width = images.shape[1:3]
        y = mirrored(torch.arange(height, device=images.device) - self.down, height)
        x = mirrored(torch.arange(width, device=images.device) - self.right, width)
        if self.flip:
            x = x.flip(0)
        return images[:, y[:, None], x]


AS_IT_IS = (View(),)


def averaged_views(flip: bool) -> tuple[View, ...]:
    """The views over which answers are averaged; without `flip`, none of them is mirrored."""
    flips = (False, True) if flip else (False,)
    still = [View(0, 0, f, 0.5 / len(flips)) for f in flips]
    moved = [View(by, by, f, 0.25 / len(flips)) for by in (-1, 1) for f in flips]
    return (*still, *moved)
