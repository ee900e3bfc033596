"""Small pictures, embedded in the page."""

from __future__ import annotations

import base64
import io

import numpy as np

from dips._tools.arrays import Array, Rows

MAX_SIDE = 96  # pixels
_MAX_LOSSLESS = 48  # pixels; in smaller pictures every pixel counts
_QUALITY = 85  # of JPEG, for larger pictures


class Thumbnails:
    """Images (n, height, width, 1 or 3 channels) of bytes, as texts that a page can show.

    Each is made when it is first asked for, and kept.

    Parameters
    ----------
    images : array
    max_side : larger pictures are made smaller
    """

    def __init__(self, images: Array, max_side: int = MAX_SIDE) -> None:
        self._images, self._made = images, dict[int, str]()
        height, width = images.shape[1:3]
        self._shrunk = max(height, width) > max_side
        scale = min(1.0, max_side / max(height, width))
        self.width, self.height = (max(1, round(scale * side)) for side in (width, height))
        self._format = "PNG" if max(height, width) <= _MAX_LOSSLESS else "JPEG"
        self.prefix = f"data:image/{self._format.lower()};base64,"

    def of(self, rows: Rows, keep: bool = True) -> list[str]:
        """Return the pictures in base64; with `prefix` before it, each is a data URL."""
        if not keep:
            return [self._make(row) for row in rows.tolist()]
        for row in rows.tolist():
            if row not in self._made:
                self._made[row] = self._make(row)
        return [self._made[row] for row in rows.tolist()]

    def _make(self, row: int) -> str:
        from PIL import Image

        image = np.asarray(self._images[row])
        picture = Image.fromarray(image[..., 0] if image.shape[2] == 1 else image)
        if self._shrunk:
            picture = picture.resize((self.width, self.height), Image.Resampling.LANCZOS)
        stream = io.BytesIO()
        picture.save(stream, self._format, quality=_QUALITY, optimize=True)
        return base64.b64encode(stream.getvalue()).decode()
