"""Cells to texts: blanks and the usual words for "missing" become nothing; numbers and dates have their modules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dips._tools.wording import cut

MISSING = ("", "?", "-", "NA", "N/A", "n/a", "na", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A", "NaT")
SOME = 2_000  # enough rows to rule most readings out
MOSTLY = 0.95  # of the values must read as numbers, or as dates; the rest is then taken as missing


def texts(column: pa.ChunkedArray, keep: tuple[str, ...] = ()) -> pa.ChunkedArray:
    """Trim the texts of a column; words for "missing" become missing, except those in `keep`."""
    if pa.types.is_boolean(column.type):
        return as_text(column)
    trimmed = pc.utf8_trim_whitespace(as_text(column))
    missing = pa.array([word for word in MISSING if word not in keep], pa.string())
    return pc.if_else(pc.is_in(trimmed, missing), pa.scalar(None, pa.string()), trimmed)


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write the cells of a column as texts, booleans as pandas writes them to CSV."""
    return pc.if_else(column, "True", "False") if pa.types.is_boolean(column.type) else column.cast(pa.string())


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds texts, or categories written as texts."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def is_bytes(kind: pa.DataType) -> bool:
    """Whether a column of this type holds bytes."""
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)


def is_time(kind: pa.DataType) -> bool:
    """Whether a column of this type holds times of day, or durations."""
    return pa.types.is_time(kind) or pa.types.is_duration(kind)


def example(known: pa.ChunkedArray) -> str:
    """The first value of a column without gaps, cut to forty characters."""
    try:
        value = known[0].as_py()
    except (ValueError, OverflowError):  # a date beyond the year 9999, which Python has no value for
        value = known.slice(0, 1).cast(pa.string())[0].as_py()
    text = f"{value:.6g}" if isinstance(value, float) else str(value).removesuffix(" 00:00:00")
    return cut(text, 40)


def value_counts(cells: pa.ChunkedArray) -> dict[str, int]:
    """Rows of each text."""
    return {c["values"]: c["counts"] for c in pc.value_counts(cells.drop_null()).to_pylist()}


def first_strange(column: pa.ChunkedArray, is_read: Any) -> tuple[int, str] | None:
    """Return row number (from 1) and text of the first cell that is not empty but was not read."""
    cells = texts(column)
    there = np.asarray(pc.is_valid(cells).to_numpy(zero_copy_only=False), dtype=bool)
    strange = np.flatnonzero(there & ~np.asarray(is_read))
    return (int(strange[0]) + 1, str(cells[int(strange[0])].as_py())) if strange.size else None


def unread(n: int, kind: str, cell: str, where: str = "") -> str:
    """Say that cells are not of the kind of their column; `cell` is one of them.

    Examples
    --------
    >>> unread(1, "date", "spring")
    "1 cell is not a date ('spring'); read as missing"
    >>> unread(20, "number", "neg.", " in row 3")
    "20 cells are not numbers, such as 'neg.' in row 3; read as missing"
    """
    if n == 1:
        return f"1 cell is not a {kind} ({cell[:30]!r}{where}); read as missing"
    return f"{n:,} cells are not {kind}s, such as {cell[:30]!r}{where}; read as missing"
