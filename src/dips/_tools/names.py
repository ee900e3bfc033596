"""Columns of the input beside columns of results."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def apart_from(names: Iterable[str], taken: Collection[str]) -> dict[str, str]:
    """Return what each column of the input is called beside results, so that no name is there twice.

    Examples
    --------
    >>> apart_from(["age", "row"], taken=["row", "reason"])
    {'age': 'age', 'row': 'row (input)'}
    """
    names = list(names)
    used, called = {*names, *taken}, {}
    for name in names:
        other = name
        if name in taken:
            other = f"{name} (input)"
            n = 2
            while other in used:
                other, n = f"{name} (input {n})", n + 1
            used.add(other)
        called[name] = other
    return called
