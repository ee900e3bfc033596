"""Views for pretraining: a part of the image, enlarged to its full size, in other colors.

Such views share what an image shows and little else, so a network that can tell which two belong together has learned
to see. As in :mod:`dips.vision._augment`, all randomness comes in as numbers in [0, 1).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from dips.vision._randaugment import gray_of

N_CROP, N_COLORS = 5, 6
N_VIEW = N_CROP + N_COLORS  # random numbers of a view
_LEAST_AREA, _MAX_RATIO = 0.2, 4 / 3
_STRENGTH, _MAX_TURN = 0.4, 0.1  # of brightness, contrast and saturation; of the color circle
_SHARE_RECOLORED, _SHARE_GRAY = 0.8, 0.2


def random_view(images: Tensor, u: Tensor, flip: bool) -> Tensor:
    """Views of (n, height, width, channels) images, as floats from 0 to 255; u is (n, N_VIEW)."""
    return recolored(cropped(images.float(), u[:, :N_CROP], flip), u[:, N_CROP:])


def cropped(x: Tensor, u: Tensor, flip: bool) -> Tensor:
    """Enlarge a random part of each image, perhaps with left and right swapped; u is (n, N_CROP)."""
    area = _LEAST_AREA + (1 - _LEAST_AREA) * u[:, 0]
    ratio = torch.exp((2 * u[:, 1] - 1) * math.log(_MAX_RATIO))
    width, height = (area * ratio).sqrt().clamp(max=1), (area / ratio).sqrt().clamp(max=1)
    at_x, at_y = (2 * u[:, 2] - 1) * (1 - width), (2 * u[:, 3] - 1) * (1 - height)
    if flip:
        width = torch.where(u[:, 4] < 0.5, -width, width)
    zero = torch.zeros_like(width)
    maps = torch.stack([torch.stack([width, zero, at_x], 1), torch.stack([zero, height, at_y], 1)], 1)  # (n, 2, 3)
    channels_first = x.permute(0, 3, 1, 2)
    grid = affine_grid(maps, list(channels_first.shape), align_corners=False)
    parts = grid_sample(channels_first, grid, mode="bilinear", padding_mode="border", align_corners=False)
    return parts.permute(0, 2, 3, 1)


def recolored(x: Tensor, u: Tensor) -> Tensor:
    """Change brightness, contrast, saturation and hue of most images, and take the color of some; u is (n, 6).

    Images of another number of channels than three have no colors: they change in brightness and contrast.
    """
    brightness, contrast, saturation = (1 + _STRENGTH * (2 * u[:, k, None, None, None] - 1) for k in range(3))
    out = (x * brightness).clamp(0, 255)
    mean = gray_of(out).mean(dim=(1, 2, 3), keepdim=True)
    out = (mean + contrast * (out - mean)).clamp(0, 255)
    has_colors = x.shape[3] == 3
    if has_colors:
        gray = gray_of(out)
        out = (gray + saturation * (out - gray)).clamp(0, 255)
        out = _turned(out, (2 * u[:, 3] - 1) * _MAX_TURN * 2 * math.pi).clamp(0, 255)
    out = torch.where(u[:, 4, None, None, None] < _SHARE_RECOLORED, out, x)
    return torch.where(u[:, 5, None, None, None] < _SHARE_GRAY, gray_of(out), out) if has_colors else out


def _turned(x: Tensor, angle: Tensor) -> Tensor:
    """Turn all colors about the axis of grays, by an angle (n,)."""
    cos, sin = angle.cos()[:, None, None, None], angle.sin()[:, None, None, None]
    mean = x.mean(dim=3, keepdim=True)
    across = (x.roll(1, dims=3) - x.roll(-1, dims=3)) / math.sqrt(3)  # the axis times the color, as vectors
    return mean + cos * (x - mean) + sin * across
