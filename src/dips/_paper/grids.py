"""Methods that several experiments compare, as cells with the names that tables and figures use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dips._paper.experiment import CURATORS, Cell
from dips._paper.tables.trial import Trial

NOISE = (0.1, 0.2, 0.3, 0.4)


def supervised(base: Trial, **labels: Any) -> Cell:
    """Training on the labels as they are."""
    return Cell(replace(base, method="supervised"), {"method": "Supervised"} | labels)


def curated(base: Trial, curator: str = "dips", name: str = "Curated labels only", **labels: Any) -> Cell:
    """Training on the useful labels, without unlabeled rows."""
    return Cell(replace(base, method="curated", curator={"name": curator}), {"method": name} | labels)


def with_and_without(base: Trial, name: str = "PL", **labels: Any) -> Iterator[Cell]:
    """A labeler alone, and with DIPS."""
    yield Cell(base, {"method": name} | labels)
    yield Cell(replace(base, curator={"name": "dips"}), {"method": f"{name}+DIPS"} | labels)


def curators(base: Trial, name: str = "PL", **labels: Any) -> Iterator[Cell]:
    """A labeler with DIPS and with the selectors of the noisy-label literature."""
    for title, curator in CURATORS.items():
        yield Cell(replace(base, curator={"name": curator}), {"method": f"{name}+{title}"} | labels)


def default(base: Trial, name: str = "PL", **labels: Any) -> Cell:
    """A labeler with the default curator."""
    return Cell(replace(base, curator={"name": "auto"}), {"method": f"{name}+default"} | labels)
