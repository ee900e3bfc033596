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
_OVERLAP = 64  # bytes that the longest of the patterns below may need
_PLACE = re.compile(rb'<(?:c|dimension)\s(?:[^<>]{0,30}\s)?r(?:ef)?="(?:[A-Z]{1,3}\d{1,7}:)?([A-Z]{1,3})(\d{1,7})"')
_ROW = re.compile(rb'<row\s(?:[^<>]{0,30}\s)?r="(\d{1,7})"')
_CELL = re.compile(rb"<c[\s/>]")
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
        f"{path} has {path.stat().st_size >> 10:,} kB and unpacks to {what}, which looks like an attack on your "
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
    """Refuse an Excel file that unpacks to too much, has too many cells, or declares entities."""
    most, n_read = max(_ALWAYS_FINE, most_times() * path.stat().st_size), 0
    with zipfile.ZipFile(source) as archive:
        for member in archive.infolist():
            sheet = _Extent() if "/worksheets/" in member.filename else None
            before = b""
            with archive.open(member) as stream:
                while chunk := stream.read(_CHUNK):
                    n_read += len(chunk)
                    if n_read > most:
                        raise too_much(path, f"more than {most >> 20:,} MB")
                    text = before + chunk
                    if _DECLARATION.search(text) and member.filename.endswith((".xml", ".rels")):
                        raise DataError(f"{path} declares XML entities, which no table needs; save it anew.")
                    if sheet is not None:
                        sheet.look_at(text)
                        check_cells(path, sheet.n_rows, sheet.n_columns, _EXCEL_CELLS)
                        check_cells(path, sheet.n_cells, 1, _EXCEL_CELLS)
                    before = text[-_OVERLAP:]


class _Extent:
    """How far a sheet says that it reaches, and how many cells it lists."""

    def __init__(self) -> None:
        self.n_rows = self.n_columns = self.n_cells = 0

    def look_at(self, text: bytes) -> None:
        places = set(_PLACE.findall(text))
        self.n_rows = max([self.n_rows, *(int(row) for _, row in places), *map(int, _ROW.findall(text))])
        self.n_columns = max([self.n_columns, *(_number(column) for column in {c for c, _ in places})])
        self.n_cells += len(_CELL.findall(text))


def _number(column: bytes) -> int:
    """Position of a column, from 1: A is 1, AA is 27."""
    n = 0
    for letter in column:
        n = 26 * n + letter - ord("A") + 1
    return n
