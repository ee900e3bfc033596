"""A folder of image files and its labels: from a table, or from the names of its subfolders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from dips._files.pictures import COLOR
from dips._tools.arrays import Array
from dips._tools.warnings import warn
from dips._tools.wording import counted
from dips.exceptions import InputError
from dips.vision._file_names import files_named
from dips.vision._image_files import listed, read_images

ENDINGS = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
_UNLABELED = "unlabeled"  # the folder beside those of the classes


def find_images(folder: Path) -> list[str]:
    """Names of all image files of a folder and its subfolders, in order; hidden ones are not looked at."""
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.")
    paths = (p.relative_to(folder) for p in folder.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file())
    names = sorted(path.as_posix() for path in paths if not any(part.startswith(".") for part in path.parts))
    if not names:
        raise InputError(f"There is no image in {folder}; dips reads {', '.join(ENDINGS)}.")
    for name in names:
        if any("\ud800" <= character <= "\udfff" for character in name):
            raise InputError(f"The file name {name!r} in {folder} is not in UTF-8; rename the file.")
    return names


def class_folders(names: Sequence[str]) -> list[str | None]:
    """Labels of files that lie in a folder per class; None for those beside the folders, or in one named unlabeled."""
    first = [name.partition("/")[0] if "/" in name else None for name in names]
    return [None if label == _UNLABELED else label for label in first]


def read_image_folder(
    folder: str | Path,
    labels: str | Path | pd.DataFrame | None = None,
    *,
    size: tuple[int, int] | None = None,
    mode: str = COLOR,
    skip_damaged: bool = False,
    cache: bool | str | Path | None = None,
) -> tuple[Array, pd.Series]:
    """Read all images of a folder, and their labels from a table or from the names of its subfolders.

    Images are rotated upright as their EXIF record says, transparent parts become white, and an image of more than
    eight bits is windowed to its own range.

    Parameters
    ----------
    folder : path
        Searched with its subfolders.
    labels : path of a CSV file, or data frame, optional
        The first column holds file names relative to the folder, the second their labels. A name may leave out
        folders and ending where only one file can be meant. Files that are not in the
        table, or whose label is empty, are unlabeled. None reads a folder per class: the first part of a file's
        path is its label; files beside these folders, or in one named ``unlabeled``, have none.
    size : (height, width), optional
        The size that every image is resized to; None requires all images to have the same size.
    mode : "RGB", "L" or "auto"
        Color, gray, or gray if all images are.
    skip_damaged : bool, default=False
        Leave out files that cannot be read, with a warning, instead of refusing the folder.
    cache : bool or path, optional
        Whether to decode into a file once and return a memory map of it, or the folder for such files. None does so,
        in your cache folder, if the images would take more than half of the memory.

    Returns
    -------
    X : (n, height, width, channels) uint8
    y : labels, None where unlabeled, indexed by file name
    """
    folder = Path(folder)
    names = find_images(folder)
    y = pd.Series(class_folders(names), names, dtype=object) if labels is None else _labels_of(names, labels, folder)
    read = read_images(folder, names, size=size, mode=mode, skip_damaged=skip_damaged, cache=cache)
    if read.damaged:
        warn(f"{counted(len(read.damaged), 'file was', 'files were')} left out: {listed(read.damaged)}.")
    return read.images, y[read.names].rename("label")


def _labels_of(names: list[str], labels: str | Path | pd.DataFrame, folder: Path) -> pd.Series:
    table = labels if isinstance(labels, pd.DataFrame) else pd.read_csv(labels, converters={0: str})
    if table.shape[1] < 2:
        raise InputError(f"The table of labels needs two columns, file and label; got {list(table.columns)}.")
    files = files_named(table.iloc[:, 0].astype(str).tolist(), names, folder)
    given = pd.Series(table.iloc[:, 1].to_numpy(), index=files, dtype=object)
    y = given.reindex(names)
    return y.where(y.notna(), None)
