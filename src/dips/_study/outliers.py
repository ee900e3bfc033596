"""Numbers that lie far from all others of their column: often a code for "missing", or a slip of the hand.

Where a column has few values that may be codes, none of them is far from the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dips._files.codes import may_be_codes
from dips._files.columns import Schema, named_sides
from dips._files.read import Table
from dips._tools.arrays import Array

_FEW = 0.02  # of the known values; more are no exception
_MANY_ALIKE = 0.1  # but for one and the same value, as a code for "missing" is
_LEAST_KNOWN = 30
_LISTED = 5
_MOST_COLUMNS = 8


def find_outliers(table: Table, schema: Schema) -> list[dict[str, Any]]:
    """One record per column that has such values: how many, which, in which rows, and the range of the others."""
    records = []
    for column in schema.used:
        if column.kind not in ("number", "pair"):
            continue
        numbers = np.asarray(column.values(table.columns[column.name]), dtype=float)
        for name, values in named_sides(column, numbers):
            if may_be_codes(values) and not column.is_declared:
                continue  # the rarest of them is no slip, and its cells should not be emptied
            low, high = usual_range(values[np.isfinite(values)])
            rows = np.flatnonzero((values < low) | (values > high))
            if rows.size:
                distinct = np.unique(values[rows])
                records.append(
                    {
                        "column": name,
                        "n": int(rows.size),
                        "values": distinct[:_LISTED].tolist(),
                        "rows": (rows[:_LISTED] + 1).tolist(),
                        "low": low,
                        "high": high,
                    }
                )
    return sorted(records, key=lambda record: -record["n"])[:_MOST_COLUMNS]


def usual_range(known: Array) -> tuple[float, float]:
    """Lowest and highest value that is not far out.

    A few values are far out if the gap to all others is wider than these are spread. A single one may be more frequent.

    Examples
    --------
    >>> ages = np.append(np.arange(20, 90), [999, 999])
    >>> usual_range(ages.astype(float))
    (20.0, 89.0)
    >>> usual_range(np.append(np.arange(20, 90), np.full(5, 999)).astype(float))
    (20.0, 89.0)
    """
    ordered = np.sort(known)
    if ordered.size < _LEAST_KNOWN:
        return -np.inf, np.inf
    low, high = (_counts_to_try(ordered, end) for end in (ordered[0], ordered[-1]))
    first, last = 0, ordered.size - 1
    for k in low:
        rest = ordered[k:]
        if ordered[k] - ordered[k - 1] > rest[-1 - high[0]] - rest[0] > 0:
            first = k
            break
    for k in high:
        rest = ordered[first : ordered.size - k]
        if ordered[-k] - rest[-1] > rest[-1] - rest[0] > 0:
            last = ordered.size - 1 - k
            break
    return float(ordered[first]), float(ordered[last])


def _counts_to_try(ordered: Array, end: float) -> list[int]:
    """How many values at one end may be far out, the most first: few, or all that are the same."""
    few, alike = max(int(_FEW * ordered.size), 2), int((ordered == end).sum())
    return [alike] * (few < alike <= _MANY_ALIKE * ordered.size) + list(range(few, 0, -1))
