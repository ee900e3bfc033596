"""One image file to bytes: whatever it holds comes out upright, gray or color, in eight bits."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dips._tools.arrays import Array

if TYPE_CHECKING:
    from PIL import Image

GRAY, COLOR = "L", "RGB"
_QUALITY = 90  # of JPEG
_GRAY_KINDS = ("1", "L", "LA", "La")
_DEEP_KINDS = ("I", "F")  # and those that begin with I;16: more than eight bits, always gray
_ORIENTATION, _TURNED = 0x0112, (5, 6, 7, 8)  # EXIF: those that swap width and height


class Header(NamedTuple):
    """What a file says of its image: upright size, whether it is gray, and whether it has more than eight bits."""

    height: int
    width: int
    is_gray: bool
    is_deep: bool


def read_header(path: Path) -> Header:
    """Read what a file says of its image, without decoding it."""
    from PIL import Image

    with Image.open(path) as image:
        is_turned = image.getexif().get(_ORIENTATION) in _TURNED
        width, height = image.size[::-1] if is_turned else image.size
        return Header(height, width, _is_deep(image) or image.mode in _GRAY_KINDS, _is_deep(image))


def decode(path: Path, size: tuple[int, int], mode: str) -> Array:
    """Return the image of a file as bytes (height, width, channels).

    It is turned upright as its EXIF record says. Transparent parts become white. An image of more than eight bits, as
    scanners in hospitals make, is windowed to its own range: its darkest value becomes 0, its brightest 255. Of
    several frames, the first is read.

    Parameters
    ----------
    path : of the file
    size : (height, width) to resize the whole image to
    mode : "RGB" or "L"
    """
    image = _opened(path, max(size)).convert(mode)
    if image.size != size[::-1]:
        image = image.resize(size[::-1])
    pixels = np.asarray(image, dtype=np.uint8)
    return pixels[..., None] if pixels.ndim == 2 else pixels


def as_jpeg(path: Path, max_side: int) -> bytes:
    """The image of a file as a JPEG to look at, read as :func:`decode` reads it; a larger one is made smaller."""
    image = _opened(path, max_side).convert(COLOR)
    image.thumbnail((max_side, max_side))
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=_QUALITY)
    return stream.getvalue()


def _opened(path: Path, max_side: int) -> Image.Image:
    """The image of a file, upright, without transparency, in eight bits."""
    from PIL import Image, ImageOps

    with Image.open(path) as opened:
        opened.draft(None, (2 * max_side, 2 * max_side))  # a large JPEG is decoded at a fraction of its size
        opened.load()
        upright = ImageOps.exif_transpose(opened)
        return windowed(upright) if _is_deep(upright) else _on_white(upright)


def windowed(image: Image.Image) -> Image.Image:
    """Eight bits of an image that has more: its own range, from the darkest to the brightest value."""
    from PIL import Image

    values = np.asarray(image).astype(np.float64)
    known = values[np.isfinite(values)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 0.0)
    shares = (np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) / max(high - low, np.finfo(float).tiny)
    return Image.fromarray((255 * shares).round().astype(np.uint8))


def _on_white(image: Image.Image) -> Image.Image:
    """The image without transparency; its transparent parts hide any color."""
    from PIL import Image

    if not image.has_transparency_data:
        return image
    with_alpha = image.convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(white, with_alpha)


def _is_deep(image: Image.Image) -> bool:
    return image.mode in _DEEP_KINDS or image.mode.startswith("I;16")
