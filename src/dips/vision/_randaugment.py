"""RandAugment's fourteen operations (Cubuk et al. 2020, with FixMatch's ranges), drawn for each image separately.

Every operation is applied to the whole batch, and each image takes the result of the one it drew. On a GPU that is
cheap: together they move a fiftieth of the bytes that one pass through a network does.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

OPERATIONS = (
    "identity",
    "autocontrast",
    "equalize",
    "posterize",
    "solarize",
    "brightness",
    "color",
    "contrast",
    "sharpness",
    "rotate",
    "shear_x",
    "shear_y",
    "translate_x",
    "translate_y",
)
GRAY = 128.0  # what fills the gaps
_MAX_ANGLE, _MAX_SHEAR, _MAX_SHIFT = math.radians(30), 0.3, 0.3
_LEAST_FACTOR, _FACTORS = 0.05, 0.9  # of brightness, color, contrast and sharpness
_LUMA = (0.299, 0.587, 0.114)


def random_operation(x: Tensor, which: Tensor, magnitude: Tensor, sign: Tensor) -> Tensor:
    """Apply to each of (n, height, width, channels) images, 0 to 255, one operation drawn by numbers in [0, 1)."""
    drawn = (which * len(OPERATIONS)).long()
    return apply_operation(x, drawn, magnitude, torch.where(sign < 0.5, -1.0, 1.0))


def apply_operation(x: Tensor, drawn: Tensor, magnitude: Tensor, sign: Tensor) -> Tensor:
    """Apply operation number `drawn` (n,) of ``OPERATIONS`` to each image; magnitude is 0 to 1, sign is -1 or 1."""
    x = _move(x, drawn, magnitude * sign)
    m = magnitude[:, None, None, None]

    def is_drawn(name: str) -> Tensor:
        return (drawn == OPERATIONS.index(name))[:, None, None, None]

    # Blends with a degenerate image: black, gray, flat, smooth.
    gray = gray_of(x)
    plain = torch.where(is_drawn("brightness"), 0.0, x)
    plain = torch.where(is_drawn("color"), gray, plain)
    plain = torch.where(is_drawn("contrast"), gray.mean(dim=(1, 2, 3), keepdim=True), plain)
    plain = torch.where(is_drawn("sharpness"), _smooth(x), plain)
    out = plain + (_LEAST_FACTOR + _FACTORS * m) * (x - plain)

    step = 2.0 ** torch.floor(4.999 * (1 - m))  # 4 to 8 bits are left
    out = torch.where(is_drawn("posterize"), torch.floor(x / step) * step, out)
    out = torch.where(is_drawn("solarize") & (x >= 256 * m), 255 - x, out)
    out = torch.where(is_drawn("autocontrast"), _stretch(x), out)
    return torch.where(is_drawn("equalize"), _equalize(x), out)


def _move(x: Tensor, drawn: Tensor, amount: Tensor) -> Tensor:
    """Rotate, shear or translate about the center; each pixel is the nearest one of where it came from."""
    n, height, width = x.shape[:3]

    def amount_of(name: str, largest: float) -> Tensor:
        return torch.where(drawn == OPERATIONS.index(name), amount * largest, 0.0)[:, None, None]

    angle = amount_of("rotate", _MAX_ANGLE)
    cos, sin = angle.cos(), angle.sin()
    y = (torch.arange(height, device=x.device) - (height - 1) / 2)[None, :, None]
    c = (torch.arange(width, device=x.device) - (width - 1) / 2)[None, None, :]
    from_x = cos * c + sin * y + amount_of("shear_x", _MAX_SHEAR) * y + amount_of("translate_x", _MAX_SHIFT * width)
    from_y = cos * y - sin * c + amount_of("shear_y", _MAX_SHEAR) * c + amount_of("translate_y", _MAX_SHIFT * height)
    column = (from_x + (width - 1) / 2).round().long()
    row = (from_y + (height - 1) / 2).round().long()
    is_inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    image = torch.arange(n, device=x.device)[:, None, None]
    moved = x[image, row.clamp(0, height - 1), column.clamp(0, width - 1)]
    return torch.where(is_inside[..., None], moved, GRAY)


def gray_of(x: Tensor) -> Tensor:
    """The luminance (n, height, width, 1) of images; the mean of their channels where these are not three."""
    if x.shape[3] != len(_LUMA):
        return x.mean(dim=3, keepdim=True)
    red, green, blue = x.split(1, dim=3)
    return _LUMA[0] * red + _LUMA[1] * green + _LUMA[2] * blue


def _smooth(x: Tensor) -> Tensor:
    """Weigh each pixel 5 and its eight neighbors 1; the border is not changed."""
    box = sum(
        x[:, 1 + dy : x.shape[1] - 1 + dy, 1 + dx : x.shape[2] - 1 + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1)
    )
    inner = (box + 4 * x[:, 1:-1, 1:-1]) / 13
    middle = torch.cat([x[:, 1:-1, :1], inner, x[:, 1:-1, -1:]], dim=2)
    return torch.cat([x[:, :1], middle, x[:, -1:]], dim=1)


def _stretch(x: Tensor) -> Tensor:
    low, high = x.amin(dim=(1, 2), keepdim=True), x.amax(dim=(1, 2), keepdim=True)
    return torch.where(high > low, (x - low) * (255 / (high - low).clamp(min=1)), x)


def _equalize(x: Tensor) -> Tensor:
    """Spread each channel's levels so that all are about as frequent, in whole numbers as Pillow does."""
    level = x.round().long().clamp(0, 255).permute(0, 3, 1, 2).flatten(2)  # (n, channels, pixels)
    counts = torch.zeros(*level.shape[:2], 256, dtype=torch.int32, device=x.device)
    counts = counts.scatter_add(2, level, torch.ones_like(level, dtype=torch.int32))
    below = counts.cumsum(dim=2, dtype=torch.int32) - counts
    n_highest = counts.gather(2, level.amax(dim=2, keepdim=True))
    step = (level.shape[2] - n_highest) // 255  # pixels to a level
    spread = ((step // 2 + below) // step.clamp(min=1)).clamp(max=255).gather(2, level)
    spread = torch.where(step > 0, spread, level)  # too few pixels to spread
    return spread.unflatten(2, x.shape[1:3]).permute(0, 2, 3, 1).to(x.dtype)
