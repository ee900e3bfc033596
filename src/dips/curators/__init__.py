"""Curators, one module each; a new module needs no registration."""

from __future__ import annotations

from typing import Any

from dips._tools.registry import Registry
from dips.curators._base import Curator, Evidence, FunctionCurator

CURATORS: Registry[Curator] = Registry("curator", Curator, FunctionCurator)
_classes = CURATORS.discover(__name__, __path__)
globals().update(_classes)

__all__ = ["CURATORS", "Curator", "Evidence", "FunctionCurator", *_classes]


def __getattr__(name: str) -> Any:  # tells type checkers that the classes are defined, too
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
