"""Two numbers in one cell, as blood pressure is written: 123/76."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dips._files.values import MOSTLY, SOME, texts, value_counts
from dips._tools.arrays import Array

SIDES = ("first", "second")
_NUMBER = r"[+-]?\d{1,5}(?:[.,]\d+)?"
_PAIR = rf"^(?P<first>{_NUMBER})\s*/\s*(?P<second>{_NUMBER})\s*(?P<unit>(?:[°\p{{L}}][°\p{{L}}]+ ?)*)$"
_LEAST_DIFFERENT = 20  # of fewer, 1/2 or 20/40 are rather names of grades
_MANY_DIFFERENT = 0.98  # of one of the numbers, as of case 4711/23: it counts the rows


def pairs(column: pa.ChunkedArray, unit: str = "") -> Array:
    """Return both numbers of each cell, (n, 2); NaN where a cell is missing or no pair, in this unit or in none.

    Examples
    --------
    >>> pairs(pa.chunked_array([["123/76", "110 / 70,5 mmHg", "k.A.", "80"]]), "mmHg").tolist()
    [[123.0, 76.0], [110.0, 70.5], [nan, nan], [nan, nan]]
    """
    parts = pc.extract_regex(texts(column), _PAIR)
    found = pc.utf8_lower(pc.utf8_trim_whitespace(pc.struct_field(parts, "unit")))
    is_known = pc.is_in(found, pa.array(["", unit.lower()])).to_numpy()
    sides = [_floats(pc.struct_field(parts, side)) for side in SIDES]
    return np.where(is_known[:, None], np.column_stack(sides), np.nan)


def find_pair_unit(cells: pa.ChunkedArray) -> str | None:
    """Return the unit of (nearly) all pairs, empty where they have none; None where the texts are no such pairs.

    Days, months and years, the numbers of cases, and what begins with a zero are none.

    Examples
    --------
    >>> pressure = [f"{100 + k % 40}/{60 + k % 31}" for k in range(80)]
    >>> find_pair_unit(pa.chunked_array([pressure]))
    ''
    >>> find_pair_unit(pa.chunked_array([[f"{1 + k % 12}/{2000 + k % 24}" for k in range(80)]]))
    """
    known = cells.drop_null()
    unit = pair_unit(known.slice(0, SOME))
    for some in (known.slice(0, SOME), known):
        values = pairs(some, unit)
        is_read = np.isfinite(values[:, 0])
        if is_read.mean() < MOSTLY or pc.any(pc.match_substring_regex(some, r"^[+-]?0\d|/\s*[+-]?0\d")).as_py():
            return None
    values = values[is_read]
    is_different = len(pd.DataFrame(values).drop_duplicates()) >= _LEAST_DIFFERENT
    return unit if is_different and not _are_days_or_cases(values) else None


def pair_unit(known: pa.ChunkedArray) -> str:
    """Return the most frequent unit of those texts that are pairs; some may have none."""
    units = pc.utf8_trim_whitespace(pc.struct_field(pc.extract_regex(known, _PAIR).drop_null(), "unit"))
    counts = value_counts(units.filter(pc.not_equal(units, "")))
    return max(counts, key=lambda unit: counts[unit], default="")


def _are_days_or_cases(values: Array) -> bool:
    if (values != np.round(values)).any():
        return False
    first, second = values.T
    days = [(first <= 12) & (second <= 31), (first <= 31) & (second <= 12)]
    years = [(side >= 1900) & (side < 2100) for side in (first, second)]
    is_counted = max(np.unique(side).size for side in (first, second)) >= _MANY_DIFFERENT * len(values)
    return is_counted or any(mask.mean() >= MOSTLY for mask in (*days, *years))


def _floats(cells: pa.ChunkedArray) -> Array:
    bare = pc.replace_substring(cells, ",", ".")
    return pd.to_numeric(bare.to_pandas(), errors="coerce").to_numpy(np.float64, na_value=np.nan)
