"""The input of a study of images: files, their labels, and what people have checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from dips._data.verified import Verified
from dips._files.corrections import read_corrections
from dips._files.read import Table, read_table
from dips._files.target import LabelOrigin, Target, read_target
from dips._files.values import texts
from dips._image_study.copies import notes_on_copies, same_images
from dips._image_study.settings import FILE, ImageSettings
from dips._study.reviewed import labels_after_review
from dips._tools.arrays import Array
from dips._tools.files import sha256
from dips._tools.observer import Observer
from dips._tools.wording import counted, option, some_of
from dips.exceptions import DataError
from dips.vision._file_names import files_named, note_on_missing, note_on_nameless
from dips.vision._image_files import FolderImages, read_images
from dips.vision._image_folder import class_folders, find_images, notes_on_other_files

_IMAGES = LabelOrigin("image")
_FOLDERS = LabelOrigin("image", "There are", "", "put all images of a class into the folder that names it")
_PARTS = ("train", "training", "val", "valid", "validation", "dev", "test", "testing")


@dataclass
class Album:
    """Images, and one label for some of them.

    Attributes
    ----------
    folder : where the files are
    read : the images that could be read, and their names
    target : their labels, after corrections
    given : their labels before that
    verified : those that somebody has checked
    same : (n,) a code for each image, the same for copies
    notes : sentences on what was read, and how it was understood
    """

    folder: Path
    read: FolderImages
    target: Target
    given: Target
    verified: Verified
    same: Array
    notes: list[str]

    @property
    def labels(self) -> pd.Series:
        """Labels as texts, None where there is none, by the names of the files."""
        return self._texts(self.target.codes)

    @property
    def labels_before(self) -> pd.Series:
        """What verified labels were before, where that is known."""
        return self._texts(self.verified.before)

    def _texts(self, codes: Array) -> pd.Series:
        texts = [None if label is None else str(label) for label in self.target.names(codes)]
        return pd.Series(texts, pd.Index(self.read.names, name=FILE), dtype=object)

    @property
    def images(self) -> Array:
        """The pixels."""
        return self.read.images


def read_album(folder: Path, settings: ImageSettings, observer: Observer) -> Album:
    """Read labels first, so that what cannot be used is refused before any file is decoded."""
    names = find_images(folder)
    table = _from_folders(folder, names) if settings.labels is None else _from_table(folder, names, settings)
    _labels(table, settings)  # refuses what is wrong with them, before the long part
    size = "auto" if settings.size is None else (settings.size, settings.size)
    read = read_images(folder, names, size=size, skip_damaged=settings.skip_damaged, observer=observer)
    kept = table.columns.filter(pa.array([name not in read.damaged for name in names]))
    target, given, verified, notes = _labels(Table(kept, table.source), settings)
    same = same_images(read.images)
    notes += notes_on_copies(same, target.codes, read.names, target.classes)
    notes = [*table.notes, *notes_on_other_files(folder), *read.notes, *notes]
    return Album(folder, read, target, given, verified, same, notes)


def _labels(table: Table, settings: ImageSettings) -> tuple[Target, Target, Verified, list[str]]:
    """Labels now and as given, which of them are verified, and notes on all that."""
    given = read_target(
        table, settings.target, settings.unlabeled_mark, keep=settings.keep_label,
        merge_labels=settings.merge_labels, map_label=settings.map_label,
        origin=_FOLDERS if settings.labels is None else _IMAGES,
    )  # fmt: skip
    classes = [str(c) for c in given.classes]
    corrections = None if settings.corrections is None else read_corrections(settings.corrections, classes)
    target, verified, notes = labels_after_review(table, given, [FILE], settings.verified, corrections)
    return target, given, verified, [*given.notes, *notes]


def _from_folders(folder: Path, names: Sequence[str]) -> Table:
    labels = class_folders(names)
    if all(label is None for label in labels):
        raise DataError(
            f"The images in {folder} are not in folders that could name their classes; name a table with "
            f"{option('labels')}, or make a folder for each class."
        )
    _refuse_parts(folder, names, {label for label in labels if label is not None})
    columns = pa.table({FILE: pa.array(names, pa.string()), "label": pa.array(labels, pa.string())})
    return Table(columns, f"the folders of {folder}")


def _refuse_parts(folder: Path, names: Sequence[str], labels: set[str]) -> None:
    """Refuse folders that hold the parts of a data set, each with a folder per class, as if these were the classes."""
    part = min(labels, key=lambda label: (not label.lower().startswith("train"), label))
    if all(label.lower() in _PARTS for label in labels) and all(name.count("/") > 1 for name in names if "/" in name):
        raise DataError(
            f"The folders in {folder} are {some_of(sorted(labels))}, with folders in them: parts of a data set, not "
            f"classes. Name one of them, such as {folder / part}, or a table with {option('labels')}."
        )


def _from_table(folder: Path, names: list[str], settings: ImageSettings) -> Table:
    """One line per image, with the label and the mark of its line in the table of labels, if it has one."""
    table = read_table(settings.labels, wanted=(settings.target,))
    key = _key(table, settings)
    listed = {line: name for line, name in enumerate(texts(table.columns[key]).to_pylist()) if name is not None}
    named = list(listed.values())
    files = files_named(named, names, folder, settings.skip_missing)
    wanted = [name for name in (settings.target, settings.verified) if name is not None]
    for name in wanted:
        if name not in table.names:
            raise DataError(f"{table.subject} has no column {name!r}; it has {some_of(table.names)}.")
    place = dict(zip(files, listed, strict=True))
    lines = pa.array([place.get(name) for name in names], pa.int64())
    columns = {FILE: pa.array(names, pa.string())} | {name: table.columns[name].take(lines) for name in wanted}
    made = Table(pa.table(columns), table.source)
    on_lines = [*note_on_nameless(table.n_rows - len(named)), *note_on_missing(named, files)]
    made.notes.extend([*table.notes, *_on_names(named, files), *on_lines])
    return made


def _on_names(listed: list[str], files: list[str | None]) -> list[str]:
    """A word on files that the table names otherwise than the folder does."""
    other = [(name, file) for name, file in zip(listed, files, strict=True) if file not in (name, None)]
    if not other:
        return []
    are = counted(len(other), "file is", "files are")
    return [f"{are} named in another way by the table, such as {other[0][1]!r} as {other[0][0]!r}."]


def _key(table: Table, settings: ImageSettings) -> str:
    """The column with the names of the files."""
    if settings.id is not None:
        if settings.id not in table.names:
            raise DataError(f"{table.subject} has no column {settings.id!r}; it has {some_of(table.names)}.")
        return settings.id
    return FILE if FILE in table.names else table.names[0]


def source_of(settings: ImageSettings, album: Album) -> list[dict[str, Any]]:
    """What the study was made of: the folder, and the table of labels with its checksum."""
    sources: list[dict[str, Any]] = [{"path": str(album.folder), "rows": len(album.read.names)}]
    if settings.labels is not None:
        sources.append(file_record(settings.labels))
    return sources


def file_record(path: str) -> dict[str, str]:
    """A file, and the checksum that shows whether it has changed."""
    return {"path": path, "sha256": sha256(Path(path))}
