"""Images in a review: each large, beside its nearest neighbours; and the folder that keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dips._report.thumbnails import Thumbnails
from dips._review.layout import lay_out
from dips._review.material import KEY, ROW, Material
from dips._tools.arrays import Array, Rows

IMAGES, NEIGHBOURS = "images.npy", "neighbours.npy"
N_NEIGHBOURS = 8
_LARGE = 480  # pixels
_BATCH = 512


def read_pictures(
    folder: Path, summary: dict[str, Any], samples: pd.DataFrame, checksum: str, truth: dict[int, str] | None = None
) -> Material:
    """Lay out the folder that an image classifier wrote."""
    images = np.load(folder / IMAGES, mmap_mode="r", allow_pickle=False)
    neighbours = np.load(folder / NEIGHBOURS, allow_pickle=False)
    return material_of_pictures(summary, samples, images, neighbours, checksum, truth)


def material_of_pictures(
    summary: dict[str, Any],
    samples: pd.DataFrame,
    images: Array,
    neighbours: Array,
    checksum: str,
    truth: dict[int, str] | None = None,
) -> Material:
    """Lay out labeled images.

    Parameters
    ----------
    images : (n, height, width, 1 or 3) bytes
    neighbours : (n_labeled, k) the labeled images most like each labeled one, as positions among all
    """
    points = summary["points"]
    prefix = points["thumbnails"]["prefix"]
    names = {"name": samples["name"].tolist()} if "name" in samples else {}
    return lay_out(
        summary, samples, checksum, lambda account: PictureCells(images, neighbours, account),
        keys=names, truth=truth, examples=[[prefix + encoded for encoded in shown] for shown in points["examples"]],
    )  # fmt: skip


def nearest(features: Array, k: int = N_NEIGHBOURS) -> Array:
    """The k rows most like each row (n, k), by the angle between their features, the nearest first."""
    unit = features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-12)
    k = min(k, len(unit) - 1)
    found = []
    for start in range(0, len(unit), _BATCH):
        likeness = unit[start : start + _BATCH] @ unit.T
        likeness[np.arange(len(likeness)), np.arange(start, start + len(likeness))] = -np.inf  # not itself
        best = np.argpartition(-likeness, k - 1, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(likeness, best, axis=1), axis=1, kind="stable")
        found.append(np.take_along_axis(best, order, axis=1))
    return np.concatenate(found)


class PictureCells:
    """Images of an account.

    Parameters
    ----------
    images : all images
    neighbours : (n_labeled, k) positions among all images
    account : the labeled ones; ``row`` is the position among all images
    """

    columns: list[dict[str, Any]] = []

    def __init__(self, images: Array, neighbours: Array, account: pd.DataFrame) -> None:
        self._rows, self._names = account[ROW].to_numpy(), account[KEY]
        self._neighbours = neighbours
        self._large, self._small = Thumbnails(images, _LARGE), Thumbnails(images)

    def of(self, position: int) -> dict[str, Any]:
        """The image and its neighbours, as texts that a page can show."""
        near: Rows = self._neighbours[position]
        row = self._rows[position : position + 1]
        return {
            "picture": self._large.prefix + self._large.of(row, keep=False)[0],
            "few_pixels": max(self._large.width, self._large.height) <= 64,
            "neighbours": [
                {"row": int(r), "picture": self._small.prefix + encoded}
                for r, encoded in zip(near, self._small.of(near), strict=True)
            ],
        }

    def find(self, words: list[str], positions: list[int]) -> list[int]:
        """Images are found by number and name alone."""
        return []
