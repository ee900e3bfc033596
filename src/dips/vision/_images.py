"""Images that are in memory: arrays, or a PyTorch data set."""

from __future__ import annotations

from typing import Any

import numpy as np

from dips._tools.arrays import Array
from dips.exceptions import InputError

LEAST_SIDE = 8  # halved three times, one pixel is left
_HALF_BRIGHT = 127


def as_images(X: Any, n_channels: int | None = None) -> Array:
    """Return images as (n, height, width, channels) bytes, or say what is wrong with them.

    Examples
    --------
    >>> as_images(np.zeros((5, 28, 28), dtype=np.uint8)).shape
    (5, 28, 28, 1)
    """
    try:
        images = np.asarray(X)
    except ValueError as error:
        raise InputError(f"Images must be one array, all of the same size ({error}).") from error
    if images.dtype != np.uint8:
        raise InputError(f"Images must be bytes from 0 to 255 (uint8); got {images.dtype}{_way_to_bytes(images)}.")
    if images.ndim == 3:
        images = images[..., None]
    if images.ndim != 4:
        raise InputError(
            f"Images must be of shape (n, height, width, channels), or (n, height, width) if gray; got {images.shape}."
        )
    if images.shape[3] > 4 and images.shape[1] <= 4:
        raise InputError(
            f"Images of shape {images.shape} seem to have their channels first; put them last with "
            "X.transpose(0, 2, 3, 1)."
        )
    if min(images.shape[1:3]) < LEAST_SIDE:
        is_one = np.ndim(X) == 3 and images.shape[2] in (1, 3, 4)
        got = f"{images.shape[1:3]}{'; one image alone is X[None]' if is_one else ''}"
        raise InputError(f"Images must be at least {LEAST_SIDE} pixels high and wide; got {got}.")
    if n_channels is not None and images.shape[3] != n_channels:
        raise InputError(f"The network was trained on images of {n_channels} channels; these have {images.shape[3]}.")
    return images


def _way_to_bytes(images: Array) -> str:
    """The range of the numbers, and how to turn them into bytes."""
    if images.dtype.kind not in "iuf" or not images.size:
        return ""
    low, high = images.min(), images.max()
    if low < 0 or not high > 0:
        way = "scale them to 0 to 255 first, all by the same rule"
    elif images.dtype.kind in "iu" and high <= 255:
        way = "use X.astype('uint8')"
    elif _HALF_BRIGHT < high <= 255:  # as large as bytes, so they are not brightened by what is brightest among them
        way = "use X.round().astype('uint8')"
    else:
        way = f"use (X * (255 / {max(high, 1):.6g})).round().astype('uint8'), with the same factor for all images"
    return f" from {low:.6g} to {high:.6g}; {way}"


def read_dataset(dataset: Any) -> tuple[Array, Array]:
    """Read a PyTorch data set of (image, label) pairs into arrays.

    An image may be a Pillow image, an array of bytes (height, width, channels), or a tensor (channels, height, width)
    of bytes or of floats from 0 to 1; a label is an integer, -1 if unknown.

    Parameters
    ----------
    dataset : sequence of (image, label)
        Such as those of torchvision.
    """
    images, labels = [], []
    for k in range(len(dataset)):
        image, label = dataset[k]
        images.append(_as_bytes(image))
        if images[k].shape != images[0].shape:
            sizes = f"{images[0].shape[:2]} and {images[k].shape[:2]}"
            raise InputError(f"Images must have the same size; got {sizes}. Resize them in the data set's transform.")
        labels.append(_as_code(label))
    return as_images(np.stack(images)), np.array(labels)


def _as_code(label: Any) -> int:
    try:
        return int(label)
    except (TypeError, ValueError):
        raise InputError(f"A label must be an integer, -1 if unknown; got {label!r}.") from None


def _as_bytes(image: Any) -> Array:
    import torch

    if isinstance(image, torch.Tensor):
        if image.is_floating_point():
            low, high = float(image.min()), float(image.max())
            if not 0 <= low <= high <= 1:
                raise InputError(
                    f"A tensor of floats must be from 0 to 1; got {low:.3g} to {high:.3g}. "
                    "Leave normalization to the classifier."
                )
            image = (255 * image).round().to(torch.uint8)
        image = image.permute(1, 2, 0).numpy() if image.ndim == 3 else image.numpy()
    array = np.asarray(image)
    return array[..., None] if array.ndim == 2 else array
