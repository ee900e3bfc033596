"""Cells of a sheet that are merged over several rows: the file has their value once, and each of the rows has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from dips._files.limits import CellCount
from dips.exceptions import DataError

_CHUNK = 1 << 20
_LONGEST_TAG = 200  # bytes; one that goes on is something else, and is not kept
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?\bref="([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})"')


@dataclass(frozen=True)
class Merged:
    """Cells of one column that are merged; rows and columns count from 0, the last row is one of them."""

    column: int
    first: int
    last: int


def merged_cells(sheet: BinaryIO) -> list[Merged]:
    """Find what is merged over several rows in the XML of a sheet; of several columns, the first is named.

    Examples
    --------
    >>> from io import BytesIO
    >>> merged_cells(BytesIO(b'<mergeCells count="2"><mergeCell ref="A2:A4"/><mergeCell ref="B1:F1"/></mergeCells>'))
    [Merged(column=0, first=1, last=3)]
    """
    found = (Merged(_number(name), int(first) - 1, int(last) - 1) for name, first, last in _references(sheet))
    return [merged for merged in found if merged.last > merged.first]


def fill(rows: list[list[Any]], merged: list[Merged], path: Path) -> set[int]:
    """Give each row the value of the cells that it is merged with; return the columns that have such cells.

    Cells that begin above these rows, as in a header of two lines, stay as they are.
    """
    last = len(rows) - 1
    here = [m for m in merged if 0 <= m.first < last and m.column < len(rows[m.first])]
    if sum(min(m.last, last) - m.first for m in here) > len(rows) * max(map(len, rows), default=0):
        raise DataError(f"{path} has more merged cells than cells; save it again.")
    for m in here:
        value = rows[m.first][m.column]
        for row in rows[m.first + 1 : m.last + 1]:
            row += [None] * (m.column + 1 - len(row))
            row[m.column] = value
    cells = CellCount(path)
    for row in rows if here else ():
        cells.add(row)
    return {m.column for m in here}


def _references(sheet: BinaryIO) -> Iterator[tuple[bytes, bytes, bytes]]:
    before = b""
    while chunk := sheet.read(_CHUNK):
        text = before + chunk
        end = max(text.rfind(b"<"), len(text) - _LONGEST_TAG)  # a tag that the chunk cuts is read with the next
        yield from _MERGED.findall(text[:end])
        before = text[end:]
    yield from _MERGED.findall(before)


def _number(letters: bytes) -> int:
    """Column A is 0, AA is 26."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number - 1
