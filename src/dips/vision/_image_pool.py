"""All images of a run, where they are trained on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dips._tools.arrays import Array


@dataclass(frozen=True)
class Scaling:
    """Makes pixels what networks take: each channel of mean 0 and deviation 1 over the training images."""

    mean: Tensor  # (channels,)
    deviation: Tensor

    def __call__(self, images: Tensor, dtype: torch.dtype) -> Tensor:
        """Return images (n, height, width, channels) as (n, channels, height, width)."""
        return ((images.float() - self.mean) / self.deviation).to(dtype).permute(0, 3, 1, 2)


@dataclass(frozen=True)
class ImagePool:
    """Images as bytes, resident on the device, and their labels.

    Attributes
    ----------
    images : (n, height, width, channels) uint8
    labels : (n,) codes 0..C-1, -1 where unlabeled
    n_classes : C
    scaling : of the pixels
    """

    images: Tensor
    labels: Tensor
    n_classes: int
    scaling: Scaling

    @classmethod
    def of(cls, images: Array, labels: Array, n_classes: int, device: torch.device) -> ImagePool:
        """Move arrays to the device."""
        mean, deviation = (torch.as_tensor(moment, device=device) for moment in pixel_moments(images))
        return cls(
            torch.as_tensor(images, device=device).contiguous(),
            torch.as_tensor(labels, dtype=torch.long, device=device),
            n_classes,
            Scaling(mean, deviation),
        )

    @property
    def labeled_rows(self) -> Array:
        """Rows with a given label."""
        return np.flatnonzero(self.labels.cpu().numpy() >= 0)

    @property
    def device(self) -> torch.device:
        """Where the images are."""
        return self.images.device


_N_PARTS = 16


def pixel_moments(images: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of each channel, exact and in little memory: levels are counted, not copied."""
    levels = np.arange(256)
    mean, deviation = np.zeros((2, images.shape[3]), dtype=np.float32)
    for channel in range(images.shape[3]):
        parts = np.array_split(images[..., channel], _N_PARTS)
        counts = np.sum([np.bincount(part.ravel(), minlength=256) for part in parts], axis=0)
        share = counts / counts.sum()
        mean[channel] = share @ levels
        deviation[channel] = max(np.sqrt(share @ (levels - mean[channel]) ** 2), 1.0)
    return mean, deviation
