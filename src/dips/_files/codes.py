"""Numbers that may be codes: few different ones, which lie apart."""

from __future__ import annotations

import numpy as np

from dips._tools.arrays import Array

LEAST_CODES, MOST_CODES = 3, 12  # different values
_LEAST_ROWS = 30  # with a value; in fewer, numbers are few in any case


def may_be_codes(values: Array) -> bool:
    """Whether a column has few values, whole numbers that lie apart like those of a code; 1 to 5 and 99 are a scale.

    Examples
    --------
    >>> may_be_codes(np.tile([5411, 5812, 4829, 7995], 9)), may_be_codes(np.tile([1, 2, 3, 4, 5, 99], 9))
    (True, False)
    >>> may_be_codes(np.tile([10, 20, 50, 999], 9)), may_be_codes(np.tile([6, 12, 24, 36], 9))
    (True, False)
    """
    known = values[np.isfinite(values)]
    found = np.unique(known)
    if known.size < _LEAST_ROWS or not LEAST_CODES <= found.size <= MOST_CODES or (found != np.round(found)).any():
        return False
    if any(_is_scale(found[first : found.size - last]) for first in (0, 1) for last in (0, 1)):
        return False
    are_as_long = found[0] >= 100 and len(str(int(found[0]))) == len(str(int(found[-1])))
    is_far = max(found[1] - found[0] - np.ptp(found[1:]), found[-1] - found[-2] - np.ptp(found[:-1])) > 0
    return bool(are_as_long or is_far)


def _is_scale(found: Array) -> bool:
    """Whether hardly a number is left out."""
    return found.size > 1 and bool(np.ptp(found) <= 1.5 * (found.size - 1))
