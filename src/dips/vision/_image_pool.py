"""All images of a fit: on the device that trains on them, or in a memory map from which they are streamed."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dips._tools.arrays import Array

_SHARE_OF_MEMORY = 0.5
_ROWS_FOR_MOMENTS = 10_000  # of streamed images; more do not change the scaling
_N_PARTS = 16


@dataclass(frozen=True)
class Scaling:
    """Scales pixels for the network: over the training images, each channel has mean 0 and deviation 1."""

    mean: Tensor  # (channels,)
    deviation: Tensor

    def __call__(self, images: Tensor, dtype: torch.dtype) -> Tensor:
        """Return images (n, height, width, channels) as (n, channels, height, width)."""
        return ((images.float() - self.mean) / self.deviation).to(dtype).permute(0, 3, 1, 2)


@dataclass(frozen=True)
class ImagePool:
    """Images as bytes, and their labels.

    Attributes
    ----------
    images : (n, height, width, channels) uint8, on the device, or on the host where they are streamed
    labels : (n,) codes 0..C-1, -1 where unlabeled, on the device
    n_classes : C
    scaling : of the pixels
    is_streamed : whether each step's images are gathered ahead and sent to the device
    """

    images: Tensor
    labels: Tensor
    n_classes: int
    scaling: Scaling
    is_streamed: bool = False

    @classmethod
    def of(
        cls,
        images: Array,
        labels: Array,
        n_classes: int,
        device: torch.device,
        stream: bool | None = False,
        scaling: Scaling | None = None,
    ) -> ImagePool:
        """Move arrays to the device; with `stream`, all but the images, None for where they would not fit there."""
        streamed = is_too_large(images.nbytes, device) if stream is None else stream
        looked_at = images[:: max(1, len(images) // _ROWS_FOR_MOMENTS)] if streamed else images
        if scaling is None:
            scaling = Scaling(*(torch.as_tensor(moment, device=device) for moment in pixel_moments(looked_at)))
        return cls(
            on_host(images) if streamed else on_host(images).to(device),
            torch.as_tensor(labels, dtype=torch.long, device=device),
            n_classes,
            scaling,
            streamed,
        )

    @property
    def labeled_rows(self) -> Array:
        """Rows with a given label."""
        return np.flatnonzero(self.labels.cpu().numpy() >= 0)

    @property
    def device(self) -> torch.device:
        """Where the training is."""
        return self.labels.device


def is_too_large(n_bytes: int, device: torch.device | None = None) -> bool:
    """Whether images would take too much of a device's memory, or of the host's, beside what else is needed there."""
    if device is not None and device.type == "cuda":
        free = torch.cuda.mem_get_info(device)[0]
    elif hasattr(os, "sysconf"):
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    else:
        return False
    return n_bytes > _SHARE_OF_MEMORY * free


def on_host(images: Array) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")  # nobody writes to it
        return torch.from_numpy(np.ascontiguousarray(images))


def pixel_moments(images: Array) -> tuple[Array, Array]:
    """Exact mean and standard deviation of each channel, by counting pixel levels, which needs little memory."""
    levels = np.arange(256)
    mean, deviation = np.zeros((2, images.shape[3]), dtype=np.float32)
    for channel in range(images.shape[3]):
        parts = np.array_split(images[..., channel], _N_PARTS)
        counts = np.sum([np.bincount(part.ravel(), minlength=256) for part in parts], axis=0)
        share = counts / counts.sum()
        mean[channel] = share @ levels
        deviation[channel] = max(np.sqrt(share @ (levels - mean[channel]) ** 2), 1.0)
    return mean, deviation
