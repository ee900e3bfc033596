"""Image sets of the paper, read from a local folder or downloaded from their official places."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from dips._typing import Array


@dataclass(frozen=True)
class ImageData:
    """A set of images in two parts.

    Attributes
    ----------
    X_train, X_test : (n, height, width, channels) uint8
    y_train, y_test : (n,) true classes
    noisy : other labels of the training images, by name: what people said they are
    class_names : in the order of the classes
    """

    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array
    noisy: dict[str, Array] = field(default_factory=dict)
    class_names: tuple[str, ...] = ()

    def head(self, n: int | None) -> ImageData:
        """Return the first n training and test images; None returns all."""
        noisy = {name: labels[:n] for name, labels in self.noisy.items()}
        return replace(
            self,
            X_train=self.X_train[:n],
            y_train=self.y_train[:n],
            X_test=self.X_test[:n],
            y_test=self.y_test[:n],
            noisy=noisy,
        )


def read_mosaics(path: Path) -> ImageData:
    """Read a file of image mosaics: JPEG grids of square tiles, 100 in a row, with label arrays beside them."""
    with np.load(path, allow_pickle=False) as file:
        parts = {
            kind: [_tiles(file[name]) for name in sorted(file.files) if name.startswith(f"{kind}_mosaic_")]
            for kind in ("train", "test")
        }
        clean = "clean_label" if "clean_label" in file.files else "train_label"
        noisy = {
            name.removesuffix("_label"): file[name].astype(np.int64)
            for name in file.files
            if "_label" in name and name not in (clean, "test_label")
        }
        return ImageData(
            np.concatenate(parts["train"]),
            file[clean].astype(np.int64),
            np.concatenate(parts["test"]),
            file["test_label"].astype(np.int64),
            noisy,
            tuple(str(name) for name in file["class_names"]),
        )


_TILES_A_ROW = 100


def _tiles(blob: Array) -> Array:
    from PIL import Image

    grid = np.asarray(Image.open(io.BytesIO(blob.tobytes())).convert("RGB"))
    size = grid.shape[1] // _TILES_A_ROW
    return grid.reshape(-1, size, _TILES_A_ROW, size, 3).swapaxes(1, 2).reshape(-1, size, size, 3)


def data_folder(folder: str | Path | None = None) -> Path | None:
    """Where local files are looked for: the given folder, else ``$DIPS_DATA``."""
    found = folder or os.environ.get("DIPS_DATA")
    return Path(found) if found else None


def load_images(name: str, folder: str | Path | None = None) -> ImageData:
    """Read a data set by name."""
    mosaics = {"cifar10n": "cifar10n.npz", "eurosat": "eurosat32.npz"}
    local = data_folder(folder)
    assert local is not None
    return read_mosaics(local / mosaics[name])
