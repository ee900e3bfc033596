"""Files that are there in full or not at all, and plain data as JSON."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from dips.exceptions import OutputError


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there in full or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_bytes(content)
        os.replace(partial, path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):  # what kept it from being written may keep it from being looked for
            partial.unlink()


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are not there yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder {folder} cannot be made: {error.strerror}.") from error


def write_json(path: Path, record: Any, indent: int | None = 1) -> None:
    """Write plain data as JSON, whole or not at all; NaN becomes null."""
    write_whole(path, (json.dumps(without_nan(record), indent=indent, ensure_ascii=False) + "\n").encode())


def without_nan(record: Any) -> Any:
    """Return plain data in which NaN and infinities, which JSON does not know, are None.

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
