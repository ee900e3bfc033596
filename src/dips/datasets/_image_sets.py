"""Image sets of the paper, from a local folder or downloaded from their official addresses."""

from __future__ import annotations

import io
import os
import pickle
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from dips._tools.arrays import Array
from dips.datasets._download import Remote, cache_folder, fetch
from dips.datasets._plain_pickle import read_pickle, read_torch_file
from dips.exceptions import DataError, InputError, UserError

_CIFAR = "https://www.cs.toronto.edu/~kriz/"
_PEOPLE = "https://github.com/UCSC-REAL/cifar-10-100n/raw/main/data/"
_MEDMNIST = "https://zenodo.org/records/10519652/files/"
FILES = {
    "cifar10": Remote(_CIFAR + "cifar-10-python.tar.gz", md5="c58f30108f718f92721af3b95e74349a"),
    "cifar10n": Remote(_PEOPLE + "CIFAR-10_human.pt"),
    "cifar100": Remote(_CIFAR + "cifar-100-python.tar.gz", md5="eb9058c3a382ffc7106e4002c42a8d85"),
    "cifar100n": Remote(_PEOPLE + "CIFAR-100_human.pt"),
    "eurosat": Remote("https://madm.dfki.de/files/sentinel/EuroSAT.zip", md5="c8fa014336c82ac7804f0398fcb19387"),
    "tissuemnist": Remote(_MEDMNIST + "tissuemnist.npz", md5="ebe78ee8b05294063de985d821c1c34b"),
    "organamnist": Remote(_MEDMNIST + "organamnist.npz", md5="866b832ed4eeba67bfb9edee1d5544e6"),
    "pathmnist": Remote(_MEDMNIST + "pathmnist.npz", md5="a8b06965200029087d5bd730944a56c1"),
}
_PARTS = {"cifar10n": ("cifar10", "cifar10n"), "cifar100n": ("cifar100", "cifar100n")}  # others are one file
_MOSAICS = {"cifar10n": "cifar10n.npz", "eurosat": "eurosat32.npz"}
_TILES_PER_ROW = 100
_TEST_SHARE = 0.2
_DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    AttributeError,
    NotImplementedError,
    RuntimeError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    pickle.PickleError,
)


def file_names(name: str) -> list[tuple[str, ...]]:
    """The files of a set: what is downloaded, and, where one exists, the file of mosaics that will do instead."""
    downloaded = tuple(FILES[part].file_name for part in _PARTS.get(name, (name,)))
    return [downloaded, (_MOSAICS[name],)] if name in _MOSAICS else [downloaded]


def find(remote: Remote, folder: str | Path | None = None) -> Path:
    """Return the file from the given folder, ``$DIPS_DATA`` or the cache; else download it into the cache."""
    for named in (folder, os.environ.get("DIPS_DATA")):
        if named and (path := Path(named) / remote.file_name).exists():
            return path
    return fetch(remote, cache_folder())


@dataclass(frozen=True)
class ImageData:
    """A set of images in two parts.

    Attributes
    ----------
    X_train, X_test : (n, height, width, channels) uint8
    y_train, y_test : (n,) true classes
    noisy : labels that people gave to the training images, by the name of the labeling
    class_names : in the order of the classes, if the set has names
    """

    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array
    noisy: dict[str, Array] = field(default_factory=dict)
    class_names: tuple[str, ...] = ()

    def head(self, n: int | None) -> ImageData:
        """Return the first n training and test images; None returns all."""
        parts = {name: getattr(self, name)[:n] for name in ("X_train", "y_train", "X_test", "y_test")}
        return replace(self, **parts, noisy={name: labels[:n] for name, labels in self.noisy.items()})


def load_images(name: str, folder: str | Path | None = None) -> ImageData:
    """Return a public image set, downloaded once if you do not have it.

    EuroSAT has no official test images: a fifth of each class is held out, the same at every call.

    Parameters
    ----------
    name : {"cifar10n", "cifar100n", "eurosat", "tissuemnist", "organamnist", "pathmnist"}
        The set.
    folder : str, Path or None, default=None
        Where to look first for its files, then in ``$DIPS_DATA`` and in the cache. CIFAR-10N and EuroSAT are also read
        from single files of mosaics, ``cifar10n.npz`` and ``eurosat32.npz``.

    Returns
    -------
    ImageData
        Training and test images with their classes.

    Examples
    --------
    >>> from dips.datasets import load_images
    >>> data = load_images("cifar10n")  # doctest: +SKIP
    >>> data.noisy["worse"]  # the labels that people gave  # doctest: +SKIP
    """
    if name not in LOADERS:
        raise InputError(f"There is no image set {name!r}; choose one of {', '.join(LOADERS)}.")
    try:
        for place in (folder, os.environ.get("DIPS_DATA")):
            if place and name in _MOSAICS and (Path(place) / _MOSAICS[name]).exists():
                return read_mosaics(Path(place) / _MOSAICS[name])
        return LOADERS[name](folder)
    except UserError:
        raise
    except _DAMAGE as error:
        raise DataError(
            f"The files of {name} cannot be read ({type(error).__name__}: {error}): they are damaged, or not what "
            "their names say. Delete them to download them again."
        ) from error


def _cifar10n(folder: str | Path | None) -> ImageData:
    with tarfile.open(find(FILES["cifar10"], folder)) as archive:
        batches = [_batch(archive, f"cifar-10-batches-py/data_batch_{k}") for k in range(1, 6)]
        test, meta = (_batch(archive, f"cifar-10-batches-py/{part}") for part in ("test_batch", "batches.meta"))
    data = ImageData(
        np.concatenate([_planes(b["data"]) for b in batches]),
        np.concatenate([b["labels"] for b in batches]),
        _planes(test["data"]),
        np.array(test["labels"]),
        class_names=tuple(meta["label_names"]),
    )
    return _with_peoples_labels(data, find(FILES["cifar10n"], folder))


def _cifar100n(folder: str | Path | None) -> ImageData:
    with tarfile.open(find(FILES["cifar100"], folder)) as archive:
        train, test, meta = (_batch(archive, f"cifar-100-python/{part}") for part in ("train", "test", "meta"))
    data = ImageData(
        _planes(train["data"]),
        np.array(train["fine_labels"]),
        _planes(test["data"]),
        np.array(test["fine_labels"]),
        class_names=tuple(meta["fine_label_names"]),
    )
    return _with_peoples_labels(data, find(FILES["cifar100n"], folder))


def _with_peoples_labels(data: ImageData, path: Path) -> ImageData:
    """Add the human labels; the true labels stored beside them must show that they are in the order of the images."""
    stored = read_torch_file(path)
    labels = {name.removesuffix("_label"): np.asarray(v).astype(np.int64) for name, v in stored.items()}
    if not np.array_equal(labels.pop("clean", np.empty(0)), data.y_train):
        raise DataError(
            f"The true labels in {path} are not those of the images; it belongs to another set, or to another order."
        )
    return replace(data, noisy={name: v for name, v in labels.items() if v.shape == data.y_train.shape})


def _eurosat(folder: str | Path | None) -> ImageData:
    from PIL import Image

    with zipfile.ZipFile(find(FILES["eurosat"], folder)) as archive:
        names = sorted(n for n in archive.namelist() if n.endswith(".jpg"))
        X = np.stack([np.asarray(Image.open(io.BytesIO(archive.read(n))).convert("RGB")) for n in names])
    classes, y = np.unique([n.split("/")[-2] for n in names], return_inverse=True)
    rng, is_test = np.random.RandomState(0), np.zeros(y.size, dtype=bool)
    for c in range(classes.size):
        rows = rng.permutation(np.flatnonzero(y == c))
        is_test[rows[: int(_TEST_SHARE * rows.size)]] = True
    return ImageData(X[~is_test], y[~is_test], X[is_test], y[is_test], class_names=tuple(classes.tolist()))


def _medmnist(name: str) -> Callable[[str | Path | None], ImageData]:
    def load(folder: str | Path | None) -> ImageData:
        with np.load(find(FILES[name], folder), allow_pickle=False) as file:
            (X, y), (X_test, y_test) = (
                (file[f"{part}_images"], file[f"{part}_labels"].ravel().astype(np.int64)) for part in ("train", "test")
            )
        return ImageData(*((X, y, X_test, y_test) if X.ndim == 4 else (X[..., None], y, X_test[..., None], y_test)))

    return load


LOADERS: dict[str, Callable[[str | Path | None], ImageData]] = {
    "cifar10n": _cifar10n,
    "cifar100n": _cifar100n,
    "eurosat": _eurosat,
    **{name: _medmnist(name) for name in ("tissuemnist", "organamnist", "pathmnist")},
}


def read_mosaics(path: Path) -> ImageData:
    """Read a file of image mosaics: JPEG grids of square tiles, 100 per row, and arrays of labels."""
    with np.load(path, allow_pickle=False) as file:
        clean = "clean_label" if "clean_label" in file.files else "train_label"
        noisy = [name for name in file.files if "_label" in name and name not in (clean, "test_label")]

        def images(kind: str) -> Array:
            return np.concatenate([_tiles(file[n]) for n in sorted(file.files) if n.startswith(f"{kind}_mosaic_")])

        return ImageData(
            images("train"),
            file[clean].astype(np.int64),
            images("test"),
            file["test_label"].astype(np.int64),
            {name.replace("_label", ""): file[name].astype(np.int64) for name in noisy},
            tuple(str(name) for name in file["class_names"]),
        )


def _tiles(blob: Array) -> Array:
    from PIL import Image

    grid = np.asarray(Image.open(io.BytesIO(blob.tobytes())).convert("RGB"))
    size = grid.shape[1] // _TILES_PER_ROW
    return grid.reshape(-1, size, _TILES_PER_ROW, size, 3).swapaxes(1, 2).reshape(-1, size, size, 3)


def _planes(flat: Array) -> Array:
    """Turn CIFAR's rows of three color planes into images."""
    return np.ascontiguousarray(np.asarray(flat, dtype=np.uint8).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))


def _batch(archive: tarfile.TarFile, name: str) -> dict[str, Any]:
    file = archive.extractfile(name)
    assert file is not None
    return read_pickle(cast(BinaryIO, file))
