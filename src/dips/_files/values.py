"""Cells to values: texts to numbers and dates, blanks and the usual words for "missing" to nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dips._tools.arrays import Array

MISSING = ("", "?", "-", "NA", "N/A", "n/a", "na", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A", "NaT")
_SOME = 2_000  # enough rows to rule most readings out
_MOSTLY = 0.95  # of the values must read as numbers, or as dates; the rest is then taken as missing

DATE_FORMATS = ("ISO8601", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%d %b %Y", "%b %d, %Y")
_TIMES = (" %H:%M:%S", " %H:%M")
_LIKE_A_DATE = (
    r"^\d{4}-\d{1,2}-\d{1,2}|^\d{1,2}[./-]\d{1,2}[./-]\d{4}|^\d{4}/\d{1,2}/\d{1,2}|^\d{1,2} \w{3} \d{4}|^\w{3} \d"
)


def is_date_format(name: Any) -> bool:
    """Whether dates are written so: one of the formats that are tried, or None where a file stores dates."""
    return name is None or name in {f + time for f in DATE_FORMATS for time in ("", *_TIMES)}


def texts(column: pa.ChunkedArray, keep: tuple[str, ...] = ()) -> pa.ChunkedArray:
    """Trim the texts of a column; words for "missing" become missing, except those in `keep`."""
    if pa.types.is_boolean(column.type):
        return pc.if_else(column, "True", "False")
    trimmed = pc.utf8_trim_whitespace(column.cast(pa.string()))
    missing = pa.array([word for word in MISSING if word not in keep])
    return pc.if_else(pc.is_in(trimmed, missing), pa.scalar(None, pa.string()), trimmed)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds texts, or categories written as texts."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def numbers(column: pa.ChunkedArray, decimal: str = ".") -> Array:
    """Numbers of a column, NaN where a cell is missing or not a number."""
    if pa.types.is_boolean(column.type) or is_number(column.type):
        values = column.cast(pa.float64(), safe=False).to_numpy()
    else:
        cells = _with_points(texts(column), decimal)
        try:
            values = cells.cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid:
            values = pd.to_numeric(cells.to_pandas(), errors="coerce").to_numpy(np.float64, na_value=np.nan)
    return np.where(np.isinf(values), np.nan, values)


def dates(column: pa.ChunkedArray, date_format: str | None) -> pd.Series:
    """Dates of a column without time zone, NaT where a cell is missing or not a date."""
    if date_format is None:
        series = pd.Series(column.cast(pa.timestamp("us"), safe=False).to_pandas())
    else:
        cells = texts(column).to_pandas()
        series = pd.to_datetime(cells, format=date_format, errors="coerce", utc=True).dt.tz_localize(None)
    return series.dt.tz_localize(None) if getattr(series.dt, "tz", None) is not None else series


def find_decimal(cells: pa.ChunkedArray) -> str | None:
    """Return the decimal mark with which (nearly) all texts are numbers, or None where they are not.

    Numbers that begin with a zero are codes: 00123 is not 123.

    Examples
    --------
    >>> find_decimal(pa.chunked_array([["1,5", "2"]])), find_decimal(pa.chunked_array([["007", "2"]]))
    (',', None)
    """
    known = cells.drop_null()
    if len(known) == 0 or pc.any(pc.match_substring_regex(known, r"^[+-]?0\d")).as_py():
        return None
    for decimal in (".", ","):
        for part in (known.slice(0, _SOME), known):
            share = np.isfinite(numbers(part, decimal)).mean()
            if share < _MOSTLY:
                break
        else:
            return decimal
    return None


def find_date_format(cells: pa.ChunkedArray) -> str | None:
    """Return the format in which (nearly) all texts are dates, or None.

    Where day and month could be either, the first format that reads most values wins: the day first.

    Examples
    --------
    >>> find_date_format(pa.chunked_array([["03/04/2024", "03/28/2024"]]))
    '%m/%d/%Y'
    """
    known = cells.drop_null()
    some = known.slice(0, _SOME)
    if len(known) == 0 or pc.mean(pc.match_substring_regex(some, _LIKE_A_DATE)).as_py() < _MOSTLY:
        return None
    candidates = [f + time for f in DATE_FORMATS for time in (("",) if f == "ISO8601" else ("", *_TIMES))]
    shares = {f: float(dates(some, f).notna().mean()) for f in candidates}
    best = max(shares, key=lambda f: shares[f])
    if shares[best] < _MOSTLY:
        return None
    rivals = [f for f in candidates if shares[f] >= _MOSTLY]
    whole = {f: float(dates(known, f).notna().mean()) for f in rivals} if len(known) > _SOME else shares
    best = max(rivals, key=lambda f: whole[f])
    return best if whole[best] >= _MOSTLY else None


def first_strange(column: pa.ChunkedArray, is_read: Any) -> tuple[int, str] | None:
    """Return row number (from 1) and text of the first cell that is not empty but was not read."""
    cells = texts(column)
    there = np.asarray(pc.is_valid(cells).to_numpy(zero_copy_only=False), dtype=bool)
    strange = np.flatnonzero(there & ~np.asarray(is_read))
    return (int(strange[0]) + 1, str(cells[int(strange[0])].as_py())) if strange.size else None


def _with_points(cells: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """Write 1.234,5 as 1234.5; where commas are the decimal mark, a text with only a point is not a number."""
    if decimal == ".":
        return cells
    is_german = pc.match_substring_regex(cells, r"^[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$")
    plain = pc.replace_substring(pc.replace_substring(cells, ".", ""), ",", ".")
    return pc.if_else(is_german, plain, "x")
