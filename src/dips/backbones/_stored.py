"""What the checks of stored models share; each says in a DamagedFileError what is damaged."""

from __future__ import annotations

from typing import Any

import numpy as np

from dips._tools.arrays import Array
from dips.exceptions import DamagedFileError


def require(holds: object, what: str) -> None:
    """Refuse a file, and say because of what."""
    if not holds:
        raise DamagedFileError(what)


def within(values: Array, end: int) -> bool:
    """Whether all numbers are from 0 to below `end`."""
    return bool((values >= 0).all() and (values < end).all())


def numbers(values: Any, what: str) -> Array:
    """Return a list of numbers; refuse anything else."""
    array = np.asarray(values)
    require(array.ndim == 1 and (array.size == 0 or array.dtype.kind in "iuf"), what)
    return array


def whole_numbers(values: Any, what: str) -> Array:
    """Return a list of whole numbers; refuse anything else."""
    array = numbers(values, what)
    require(array.size == 0 or array.dtype.kind in "iu", what)
    return array.astype(np.int64) if array.size == 0 else array
