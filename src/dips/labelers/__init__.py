"""Labelers, one module each; a new module needs no registration."""

from __future__ import annotations

from typing import Any

from dips._tools.registry import Registry
from dips.labelers._base import Candidates, FunctionLabeler, Labeler, Moments

LABELERS: Registry[Labeler] = Registry("labeler", Labeler, FunctionLabeler)
_classes = LABELERS.discover(__name__, __path__)
globals().update(_classes)

__all__ = ["LABELERS", "Candidates", "FunctionLabeler", "Labeler", "Moments", *_classes]


def __getattr__(name: str) -> Any:  # tells type checkers that the classes are defined, too
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
