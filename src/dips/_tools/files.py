"""Files that are complete or absent, and plain data as JSON."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dips._tools.interrupts import raise_if_stopped
from dips.exceptions import OutputError


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write, which takes its place when the block ends; after an error nothing is left of it.

    Its content is on the disk before it takes its place, so that a loss of power leaves the old file or the new one.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            n_bytes = stream.tell()
        if partial.stat().st_size < n_bytes:
            raise OSError(None, f"only {partial.stat().st_size} of {n_bytes} bytes were kept")
        raise_if_stopped()
        os.replace(partial, path)
        sync(path.parent)
    finally:
        with contextlib.suppress(OSError):  # gone if all went well; and what stopped the writing may stop this too
            partial.unlink()


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say in one sentence that an output cannot be written, whatever the system's reason."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from error


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is complete or absent."""
    with writing(path), whole_file(path) as stream:
        stream.write(content)


def sync(place: Path) -> None:
    """Put a file, or the names in a folder, on the disk, where the system can."""
    with contextlib.suppress(OSError):  # Windows opens no folder, and some network folders cannot
        handle = os.open(place, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sync_tree(folder: Path) -> None:
    """Put a folder with all that is in it on the disk."""
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            sync(Path(place) / name)
        sync(Path(place))


def expanded(path: Path | str) -> Path:
    """Return a path with ``~`` as the home of its user; where there is no such user it is a name like any other."""
    return Path(os.path.expanduser(path))


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, where they do not exist."""
    in_the_way = next((path for path in (folder, *folder.parents) if path.exists() and not path.is_dir()), None)
    if in_the_way is not None:
        raise OutputError(f"The folder {folder} cannot be made: {in_the_way} is a file; choose another name.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder {folder} cannot be made: {error.strerror}.") from error


def write_json(path: Path, record: Any, indent: int | None = 1) -> None:
    """Write plain data as a JSON file that is complete or absent; NaN becomes null."""
    write_whole(path, (json.dumps(without_nan(record), indent=indent, ensure_ascii=False) + "\n").encode())


def without_nan(record: Any) -> Any:
    """Return plain data in which NaN and infinities, which JSON lacks, are None.

    Examples
    --------
    >>> without_nan({"a": [1.5, float("nan")]})
    {'a': [1.5, None]}
    """
    if isinstance(record, dict):
        return {str(k): without_nan(v) for k, v in record.items()}
    if isinstance(record, list | tuple):
        return [without_nan(v) for v in record]
    if isinstance(record, np.generic):
        record = record.item()
    return None if isinstance(record, float) and not np.isfinite(record) else record


def sha256(path: Path) -> str:
    """Return the checksum of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
