"""What the checks of stored models share; each says in a DamagedFileError what does not hold together."""

from __future__ import annotations

from dips._tools.arrays import Array
from dips.exceptions import DamagedFileError


def require(holds: object, what: str) -> None:
    """Refuse a file, and say because of what."""
    if not holds:
        raise DamagedFileError(what)


def within(values: Array, end: int) -> bool:
    """Whether all numbers are from 0 to below `end`."""
    return bool((values >= 0).all() and (values < end).all())
