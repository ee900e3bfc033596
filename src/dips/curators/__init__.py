"""Curators: one module each; a new module is found by itself."""

from __future__ import annotations

from typing import Any

from dips._tools.registry import Registry
from dips.curators._base import Curator, Evidence, FunctionCurator

CURATORS: Registry[Curator] = Registry("curator", Curator, FunctionCurator)
_found = CURATORS.discover(__name__, __path__)
globals().update(_found)

__all__ = ["CURATORS", "Curator", "Evidence", "FunctionCurator", *_found]


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
