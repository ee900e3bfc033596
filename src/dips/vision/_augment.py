"""Weak and strong augmentation as tensor operations: images and uniform random numbers in, images out.

All randomness comes in as numbers in [0, 1), so that these are plain functions: they run where the images are, nothing
waits for the host, and the same numbers give the same images. Images are (n, height, width, channels)
throughout.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dips.vision._randaugment import GRAY, random_operation

N_WEAK = 3  # random numbers for a flip and a shift
_N_OPERATION, _N_CUTOUT = 3, 3


@dataclass(frozen=True)
class Augmentation:
    """How images are varied.

    Attributes
    ----------
    flip : whether left and right may be swapped; turn it off for letters and the like
    shift : largest shift, as a share of the size; the gap is filled by mirroring
    n_operations : number of RandAugment operations, drawn for each image separately
    cutout : largest side of the square that is blanked, as a share of the size
    """

    flip: bool = True
    shift: float = 0.125
    n_operations: int = 2
    cutout: float = 0.5

    @property
    def n_strong(self) -> int:
        """Random numbers needed for one strongly augmented image."""
        return N_WEAK + _N_OPERATION * self.n_operations + _N_CUTOUT

    def weak(self, images: Tensor, rows: Tensor, u: Tensor) -> Tensor:
        """Flip and shift the given rows of all images, by index arithmetic alone; u is (n, 3)."""
        height, width = images.shape[1:3]
        y = torch.arange(height, device=u.device) + _shifts(u[:, 1], self.shift, height)
        x = torch.arange(width, device=u.device) + _shifts(u[:, 2], self.shift, width)
        if self.flip:
            x = torch.where(u[:, :1] < 0.5, width - 1 - x, x)
        y, x = mirrored(y, height), mirrored(x, width)
        return images[rows[:, None, None], y[:, :, None], x[:, None, :]]

    def strong(self, images: Tensor, rows: Tensor, u: Tensor) -> Tensor:
        """Weak augmentation, then RandAugment, then cutout; u is (n, n_strong). Returns floats from 0 to 255."""
        x = self.weak(images, rows, u[:, :N_WEAK]).float()
        for k in range(self.n_operations):
            first = N_WEAK + _N_OPERATION * k
            x = random_operation(x, *u[:, first : first + _N_OPERATION].unbind(1))
        return cut_out(x, u[:, -_N_CUTOUT:], self.cutout)


def cut_out(x: Tensor, u: Tensor, share: float) -> Tensor:
    """Blank a square around a random place, of a random size up to `share` of the image's; u is (n, 3)."""
    height, width = x.shape[1:3]
    half = u[:, 2, None] * share * min(height, width) / 2
    in_rows = (torch.arange(height, device=x.device) + 0.5 - u[:, 0, None] * height).abs() < half  # (n, height)
    in_columns = (torch.arange(width, device=x.device) + 0.5 - u[:, 1, None] * width).abs() < half
    return torch.where((in_rows[:, :, None] & in_columns[:, None, :])[..., None], GRAY, x)


def _shifts(u: Tensor, share: float, size: int) -> Tensor:
    largest = round(share * size)
    return (u[:, None] * (2 * largest + 1)).long() - largest


def mirrored(i: Tensor, size: int) -> Tensor:
    return (size - 1) - ((size - 1) - i.abs()).abs()
