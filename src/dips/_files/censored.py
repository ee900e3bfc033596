"""Numbers of which only a limit is known, as laboratories report them: <5, > 200, ≤0.1."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dips._files.values import texts
from dips._tools.arrays import Array

_SIGN = r"^(?:[<>]=?|[≤≥])\s*"
_LIKE_A_LIMIT = rf"{_SIGN}[+\x{{2212}}-]?[\d.,]*\d"  # a minus sign of its own, or a hyphen
_MEASURED = 10  # distinct numbers; beside fewer, limits are rather the ends of a scale: <1, 1, 2, 3, >3


def are_limits(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Mask of the texts that begin with a sign of comparison and a number."""
    return pc.fill_null(pc.match_substring_regex(cells, _LIKE_A_LIMIT), False)


def has_limits(cells: pa.ChunkedArray) -> bool:
    """Whether some of the texts are limits; plain numbers are told without a look for signs, which takes longer."""
    try:
        cells.cast(pa.float64())
    except pa.ArrowInvalid:
        return bool(pc.any(are_limits(cells)).as_py())
    return False


def without_limits(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cut the sign off, so that <5 is 5.

    Examples
    --------
    >>> without_limits(pa.chunked_array([["<5", "≥ 200", "7", "<b>"]])).to_pylist()
    ['5', '200', '7', '<b>']
    """
    bare = pc.replace_substring_regex(cells, _SIGN, "")
    return pc.if_else(pc.match_substring_regex(cells, _LIKE_A_LIMIT), bare, cells)


def signs(cells: pa.ChunkedArray) -> list[str]:
    """The sign before each number, empty where there is none.

    Examples
    --------
    >>> signs(pa.chunked_array([["< 5", "≥200 mg", "7", None]]))
    ['<', '≥', '', '']
    """
    sign = pc.struct_field(pc.extract_regex(cells, r"(?P<sign>^[<>≤≥]=?)"), "sign")
    return pc.if_else(are_limits(cells), sign, "").to_pylist()


def are_ends_of_a_scale(known: pa.ChunkedArray, measured: pa.ChunkedArray) -> bool:
    """Whether so few of the known texts are no limits that they are categories rather than measurements."""
    n_measured = pc.count_distinct(measured).as_py()
    n_limits = pc.count_distinct(known).as_py() - n_measured
    return bool(n_measured < max(_MEASURED, 2 * n_limits))


def about_limits(column: pa.ChunkedArray, is_read: Array, with_row: bool = False) -> str:
    """Say how many of the cells that were read give only a limit; empty where none does.

    Examples
    --------
    >>> about_limits(pa.chunked_array([["7.5", "<5", ">200"]]), np.array([True, True, True]), with_row=True)
    "2 cells give only a limit, such as '<5' in row 2; read as the limit itself"
    """
    cells = texts(column)
    rows = np.flatnonzero(are_limits(cells).to_numpy() & is_read)
    if not rows.size:
        return ""
    such = f"{cells[int(rows[0])].as_py()[:30]!r}" + (f" in row {rows[0] + 1}" if with_row else "")
    if rows.size == 1:
        return f"1 cell gives only a limit ({such}); read as the limit itself"
    return f"{rows.size:,} cells give only a limit, such as {such}; read as the limit itself"
