"""Images in a review: each large, beside its nearest neighbors; and the folder that keeps them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dips._files.pictures import as_jpeg
from dips._report.thumbnails import Thumbnails
from dips._review.layout import lay_out
from dips._review.material import ROW, Material
from dips._tools.arrays import Array, Rows

IMAGES, NEIGHBORS = "images.npy", "neighbors.npy"
N_NEIGHBORS = 8
_LARGE = 480  # pixels
_BATCH = 512
_FILE_PREFIX = "data:image/jpeg;base64,"


def read_pictures(
    folder: Path,
    summary: dict[str, Any],
    samples: pd.DataFrame,
    checksum: str,
    originals: Path | None = None,
    **more: Any,
) -> Material:
    """Lay out the folder that an image classifier wrote, with `more` of its material."""
    images = np.load(folder / IMAGES, mmap_mode="r", allow_pickle=False)
    neighbors = np.load(folder / NEIGHBORS, allow_pickle=False)
    return material_of_pictures(summary, samples, images, neighbors, checksum, originals, **more)


def material_of_pictures(
    summary: dict[str, Any],
    samples: pd.DataFrame,
    images: Array,
    neighbors: Array,
    checksum: str,
    originals: Path | None = None,
    **more: Any,
) -> Material:
    """Lay out labeled images, with `more` of the material.

    Parameters
    ----------
    images : (n_labeled, height, width, 1 or 3) bytes, of the labeled ones in order
    neighbors : (n_labeled, k) the labeled images most like each labeled one, as positions among all
    originals : the folder with the files, if it is at hand; those are shown larger
    """
    points = summary["points"]
    prefix = points["thumbnails"]["prefix"]
    named = [name for name in points["id_names"] if name in samples]
    keys = {name: samples[name].tolist() for name in named}
    files = _files(originals, samples.loc[samples["source"] == "given", named]) if named else None
    return lay_out(
        summary, samples, checksum, lambda account: PictureCells(images, neighbors, account, files),
        keys=keys, key_names=named, **more,
        examples=[[prefix + encoded for encoded in shown] for shown in points["examples"]],
    )  # fmt: skip


def _files(folder: Path | None, names: pd.DataFrame) -> list[Path] | None:
    """The files of the labeled images; what lies outside of the folder is not looked at."""
    if folder is None:
        return None
    files = [(folder / str(name)).resolve() for name in names.iloc[:, 0]]
    return files if all(file.is_relative_to(folder.resolve()) for file in files) else None


def nearest(features: Array, k: int = N_NEIGHBORS) -> Array:
    """The k rows most like each row (n, k), by the angle between their features, the nearest first."""
    unit = features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-12)
    k = min(k, len(unit) - 1)
    neighbors = []
    for start in range(0, len(unit), _BATCH):
        likeness = unit[start : start + _BATCH] @ unit.T
        likeness[np.arange(len(likeness)), np.arange(start, start + len(likeness))] = -np.inf  # not itself
        best = np.argpartition(-likeness, k - 1, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(likeness, best, axis=1), axis=1, kind="stable")
        neighbors.append(np.take_along_axis(best, order, axis=1))
    return np.concatenate(neighbors)


class PictureCells:
    """Images of an account.

    Parameters
    ----------
    images : the labeled ones, in order
    neighbors : (n_labeled, k) positions among all images
    account : the labeled ones; ``row`` is the position among all images
    files : of the labeled images, if they are at hand
    """

    columns: list[dict[str, Any]] = []

    def __init__(self, images: Array, neighbors: Array, account: pd.DataFrame, files: list[Path] | None = None) -> None:
        self._rows, self._files = account[ROW].to_numpy(), files
        self._neighbors = neighbors
        self._large, self._small = Thumbnails(images, _LARGE), Thumbnails(images)

    def of(self, position: int) -> dict[str, Any]:
        """The image and its neighbors, as texts that a page can show."""
        near: Rows = self._neighbors[position]
        places = np.searchsorted(self._rows, near)
        return {
            "picture": self._original(position) or self._stored(position),
            "few_pixels": max(self._large.width, self._large.height) <= 64,
            "neighbors": [
                {"row": int(r), "picture": self._small.prefix + encoded}
                for r, encoded in zip(near, self._small.of(places), strict=True)
            ],
        }

    def _stored(self, position: int) -> str:
        return self._large.prefix + self._large.of(np.array([position]), keep=False)[0]

    def _original(self, position: int) -> str | None:
        """The file itself, upright and as large as a page shows it; None if it is not there any more."""
        if self._files is None:
            return None
        try:
            return _FILE_PREFIX + base64.b64encode(as_jpeg(self._files[position], _LARGE)).decode()
        except (OSError, SyntaxError, ValueError):  # what Pillow says of a file that is gone or was damaged since
            return None

    def find(self, words: list[str], positions: list[int]) -> list[int]:
        """Images are found by number and name alone."""
        return []
