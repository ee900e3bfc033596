"""Limits on what a small file may become: looked at before memory is taken.

A compressed file of a few kilobytes can hold gigabytes of zeros, and a spreadsheet can claim 17 billion empty cells.
Environment variables raise the limits, for whoever knows the file.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, cast

from dips.exceptions import DataError, SettingsError

_ALWAYS_FINE = 1 << 24  # bytes, or cells
_CHUNK = 1 << 20
_EXCEL_CELLS, _OTHER_CELLS = 20_000_000, 1_000_000_000
_TAGS_ALWAYS_FINE = 200_000
_XML = (".xml", ".rels")
_OVERLAP = 16  # bytes that the pattern below may need
_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def most_cells(default: int) -> int:
    """Return how many cells a table may have: ``$DIPS_MAX_CELLS``, or the default of a format."""
    return _setting("DIPS_MAX_CELLS", default)


def most_times() -> int:
    """Return how many times as large as its file a table may become: ``$DIPS_MAX_EXPANSION``, or 200."""
    return _setting("DIPS_MAX_EXPANSION", 200)


def _setting(name: str, default: int) -> int:
    given = os.environ.get(name, "")
    if given and not given.isdecimal():
        raise SettingsError(f"{name} must be a whole number; got {given!r}.")
    return int(given) if given else default


class Bounded(io.RawIOBase):
    """A decompressed stream that refuses to become far larger than its file."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._stream, self._path, self._n_read = stream, path, 0
        self._most = max(_ALWAYS_FINE, most_times() * path.stat().st_size)

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into memory that is there already."""
        content = self._stream.read(len(buffer))
        self._n_read += len(content)
        if self._n_read > self._most:
            raise too_much(self._path, f"more than {self._most >> 20:,} MB")
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        """Close the stream below, too."""
        self._stream.close()
        super().close()


def bounded(stream: BinaryIO, path: Path) -> BinaryIO:
    """Return the stream with a limit on what comes out of it."""
    return cast(BinaryIO, io.BufferedReader(Bounded(stream, path), _CHUNK))


def too_much(path: Path, what: str) -> DataError:
    """Return the error for a file that becomes too large."""
    return DataError(
        f"{path} is {path.stat().st_size >> 10:,} kB and unpacks to {what}, which looks like an attack on your "
        "memory; if it is a table, unpack it yourself, or set DIPS_MAX_EXPANSION to more than 200."
    )


def check_cells(path: Path, n_rows: int, n_columns: int, default: int) -> None:
    """Refuse a table with more cells than there may be."""
    most = most_cells(default)
    if n_rows * n_columns > most:
        raise DataError(
            f"{path} has {n_rows:,} rows of {n_columns:,} columns, and at most {most:,} cells are read; use fewer, or "
            "set DIPS_MAX_CELLS."
        )


def check_metadata(path: Path, n_rows: int, n_columns: int) -> None:
    """Refuse a Parquet file with too many cells, or with far more of them than a file of its size holds."""
    check_cells(path, n_rows, n_columns, _OTHER_CELLS)
    if n_rows * n_columns > max(_ALWAYS_FINE, 5 * most_times() * path.stat().st_size):
        raise too_much(path, f"{n_rows:,} rows of {n_columns:,} columns")


def check_workbook(path: Path, source: Any) -> None:
    """Refuse an Excel file that unpacks to too much, is far more work than its size suggests, or declares entities.

    The work is the number of XML tags: a sheet of zeros has 2 for each byte of its file, and reading one takes some
    microseconds, whatever it says.
    """
    size = path.stat().st_size
    most, n_read = max(_ALWAYS_FINE, most_times() * size), 0
    most_tags, n_tags = max(_TAGS_ALWAYS_FINE, most_times() * size // 40), 0
    with zipfile.ZipFile(source) as archive:
        for member in archive.infolist():
            before = b""
            with archive.open(member) as stream:
                while chunk := stream.read(_CHUNK):
                    n_read, n_tags = n_read + len(chunk), n_tags + chunk.count(b"<")
                    if n_read > most:
                        raise too_much(path, f"more than {most >> 20:,} MB")
                    if n_tags > most_tags:
                        raise too_much(path, f"more than {most_tags:,} tags")
                    text = (before + chunk).replace(b"\0", b"")  # a tag in UTF-16 is a tag, too
                    if _DECLARATION.search(text) and member.filename.endswith(_XML):
                        raise DataError(f"{path} declares XML entities, which no table needs; save it again.")
                    before = text[-_OVERLAP:]


class CellCount:
    """Counts the cells of a sheet while they are read, and refuses one too many.

    Two texts that many cells share are one in the file and many in a table, so characters are counted as well.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._n_rows, self._n_columns, self._n_characters = path, 0, 0, 0
        self._most_characters = max(_ALWAYS_FINE, most_times() * path.stat().st_size)

    def add(self, row: list[Any]) -> None:
        """Count one row."""
        self._n_rows += 1
        self._n_columns = max(self._n_columns, len(row))
        check_cells(self._path, self._n_rows, max(1, self._n_columns), _EXCEL_CELLS)
        self._n_characters += sum(len(value) for value in row if isinstance(value, str))
        if self._n_characters > self._most_characters:
            raise too_much(self._path, f"more than {self._most_characters >> 20:,} million characters")
