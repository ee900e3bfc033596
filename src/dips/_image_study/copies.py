"""Images that are there more than once, pixel by pixel."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dips._data.labels import UNLABELED
from dips._tools.arrays import Array
from dips._tools.wording import counted


def same_images(images: Array) -> Array:
    """A code (n,) for each image, the same for images that are the same."""
    digests = [hashlib.blake2b(image.tobytes(), digest_size=16).digest() for image in images]
    return pd.factorize(np.array(digests, dtype=object))[0]


def notes_on_copies(same: Array, codes: Array, names: Sequence[str], classes: Sequence[Any]) -> list[str]:
    """Sentences on images that are there more than once, and on those that have two labels.

    Examples
    --------
    >>> notes_on_copies(np.array([0, 1, 0]), np.array([0, 1, 1]), ["a.png", "b.png", "c.png"], ["cat", "dog"])[1]
    "1 image has more than one label: a.png is labeled 'cat', its copy c.png 'dog'."
    """
    n_copies = same.size - np.unique(same).size
    if not n_copies:
        return []
    notes = [f"{counted(n_copies, 'image is a copy', 'images are copies')} of another; copies are held out together."]
    labeled = pd.DataFrame({"same": same, "code": codes, "name": names})[codes != UNLABELED]
    contrary = labeled[labeled.groupby("same")["code"].transform("nunique") > 1]
    if len(contrary):
        pair = contrary[contrary["same"] == contrary["same"].iloc[0]].drop_duplicates("code")
        (one, its), (other, others) = ((row.name, classes[row.code]) for row in pair.head(2).itertuples(index=False))
        has = counted(contrary["same"].nunique(), "image has", "images have")
        notes.append(f"{has} more than one label: {one} is labeled {its!r}, its copy {other} {others!r}.")
    return notes
