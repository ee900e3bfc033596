"""What the checks of stored models share; each says in a ValueError what does not hold together."""

from __future__ import annotations

from dips._tools.arrays import Array


def require(holds: object, what: str) -> None:
    """Refuse a file, and say because of what."""
    if not holds:
        raise ValueError(what)


def within(values: Array, end: int) -> bool:
    """Whether all numbers are from 0 to below `end`."""
    return bool((values >= 0).all() and (values < end).all())
