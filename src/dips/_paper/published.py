"""Published values, from one data file that names the source of each."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any


@lru_cache(maxsize=1)
def _all() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("published.toml").read_text(encoding="utf-8"))


def published(name: str) -> dict[str, Any]:
    """Everything that is published about an experiment."""
    return _all()[name]


def accuracy(name: str, first: Any, second: Any) -> Any:
    """A published accuracy, or None.

    Examples
    --------
    >>> accuracy("quadrants", "PL", 0.1), accuracy("quadrants", "PL", 0.45)
    ('95.99 ± 0.38', None)
    """
    return published(name)["accuracy"].get(str(first), {}).get(str(second))
