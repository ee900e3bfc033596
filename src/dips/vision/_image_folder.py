"""A folder of image files and its labels: from a table, or from the names of its subfolders."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from dips._files.pictures import COLOR
from dips._files.read import is_table
from dips._tools.arrays import Array
from dips._tools.warnings import warn
from dips._tools.wording import counted, some_of
from dips.exceptions import InputError
from dips.vision._file_names import files_named, note_on_missing, note_on_nameless
from dips.vision._image_files import listed, read_images

ENDINGS = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
_UNLABELED = "unlabeled"  # the folder beside those of the classes


def find_images(folder: Path) -> list[str]:
    """Names of all image files of a folder and its subfolders, in order; hidden ones are not looked at."""
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.")
    names = sorted(path.as_posix() for path in _files(folder) if _is_image(path))
    if not names:
        wanted = f"There is no image in {folder}; dips reads {', '.join(ENDINGS)}."
        raise InputError(" ".join([wanted, *notes_on_other_files(folder)]))
    for name in names:
        if any("\ud800" <= character <= "\udfff" for character in name):
            raise InputError(f"The file name {name!r} in {folder} is not in UTF-8; rename the file.")
    return names


def notes_on_other_files(folder: Path) -> list[str]:
    """A sentence on files that are neither images that can be read nor tables."""
    others = [path for path in _files(folder) if not (_is_image(path) or is_table(path))]
    if not others:
        return []
    endings = Counter(path.suffix.lower() or "without an ending" for path in others)
    listed = some_of(f"{n:,} {ending}" for ending, n in endings.most_common())
    are = counted(len(others), "file that dips does not read is", "files that dips does not read are")
    return [f"{are} left out: {listed}."]


def _files(folder: Path) -> Iterator[Path]:
    """Files of a folder and its subfolders, but not hidden ones, relative to the folder.

    A link to a folder is followed, unless it leads back to a folder that it is in. A link that leads nowhere counts as
    a file, so that it is named among those that cannot be read.
    """
    inside = {str(folder): {os.path.realpath(folder)}}  # by folder, those that it is in, and itself
    for place, folders, files in os.walk(folder, followlinks=True):
        above = inside.pop(place)
        real = {name: os.path.realpath(os.path.join(place, name)) for name in folders if not name.startswith(".")}
        folders[:] = [name for name, leads_to in real.items() if leads_to not in above]
        inside |= {os.path.join(place, name): above | {real[name]} for name in folders}
        for name in files:
            path = Path(place, name)
            if not name.startswith(".") and (path.is_file() or path.is_symlink()):
                yield path.relative_to(folder)


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS


def class_folders(names: Sequence[str]) -> list[str | None]:
    """Labels of files that lie in a folder per class; None for those beside the folders, or in one named unlabeled."""
    first = [name.partition("/")[0] if "/" in name else None for name in names]
    return [None if label == _UNLABELED else label for label in first]


def read_image_folder(
    folder: str | Path,
    labels: str | Path | pd.DataFrame | None = None,
    *,
    size: tuple[int, int] | str | None = None,
    mode: str = COLOR,
    skip_damaged: bool = False,
    skip_missing: bool = False,
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
        folders and ending where only one file can be meant. Files that are not in the table, or whose label is empty,
        are unlabeled. None reads a folder per class: the first part of a file's path is its label; files beside these
        folders, or in one named ``unlabeled``, have none.
    size : (height, width) or "auto", optional
        The size that every image is resized to; "auto" takes the one that most images have, if it is up to 128 pixels,
        else 96 by 96. None requires all images to have the same size.
    mode : "RGB", "L" or "auto"
        Color, gray, or gray if all images are.
    skip_damaged : bool, default=False
        Leave out files that cannot be read, with a warning, instead of refusing the folder.
    skip_missing : bool, default=False
        Leave out lines of the table whose file is not in the folder, with a warning, instead of refusing the table.
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
    notes = notes_on_other_files(folder)
    if labels is None:
        y = pd.Series(class_folders(names), names, dtype=object)
    else:
        y, skipped = _labels_of(names, labels, folder, skip_missing)
        notes += skipped
    read = read_images(folder, names, size=size, mode=mode, skip_damaged=skip_damaged, cache=cache)
    if read.damaged:
        notes.append(f"{counted(len(read.damaged), 'file was', 'files were')} left out: {listed(read.damaged)}.")
    for note in notes:
        warn(note)
    return read.images, y[read.names].rename("label")


def _labels_of(
    names: list[str], labels: str | Path | pd.DataFrame, folder: Path, skip_missing: bool
) -> tuple[pd.Series, list[str]]:
    """The label of each image, and a note on what was skipped."""
    table = labels if isinstance(labels, pd.DataFrame) else _table_of(Path(labels))
    if table.shape[1] < 2:
        raise InputError(f"The table of labels needs two columns, file and label; got {list(table.columns)}.")
    first = table.iloc[:, 0]
    is_named = first.notna() & (first.astype(str).str.strip() != "")
    named = first[is_named].astype(str).tolist()
    files = files_named(named, names, folder, skip_missing)
    given = pd.Series(table.iloc[:, 1][is_named].to_numpy(), index=files, dtype=object)
    y = given[given.index.notna()].reindex(names)
    notes = [] if isinstance(labels, pd.DataFrame) else _on_missing_words(Path(labels), table)
    notes += [*note_on_nameless(len(table) - len(named)), *note_on_missing(named, files)]
    return y.where(y.notna(), None), notes


def _on_missing_words(path: Path, table: pd.DataFrame) -> list[str]:
    """Say which labels were read as "no label" although they are not empty, and how to have them as classes."""
    written = pd.read_csv(path, dtype=str, keep_default_na=False, usecols=[1]).iloc[:, 0].str.strip()
    words = written[table.iloc[:, 1].isna().to_numpy() & (written != "").to_numpy()]
    if words.empty:
        return []
    listed = some_of(f"{word!r} ({n:,})" for word, n in words.value_counts().items())
    return [f"Labels read as missing: {listed}; if one is a class, pass the table as a data frame that holds it."]


def _table_of(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise InputError(f"labels names {path}, which is not a file; name a CSV file with the columns file and label.")
    try:
        table = pd.read_csv(path, converters={0: str})
    except ValueError as error:  # also what pandas says of an empty file, and of another encoding
        raise InputError(f"{path} cannot be read as a CSV file with the columns file and label: {error}") from error
    if table.shape[1] < 2:
        raise InputError(f"{path} needs two columns, file and label, set apart by a comma; got {list(table.columns)}.")
    return table
