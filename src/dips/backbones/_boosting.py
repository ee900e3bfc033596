"""How large a boosted model to suggest: few labels bear a small one, and from many a small one learns too little."""

from __future__ import annotations

from dataclasses import dataclass

_MANY = 3_000  # labels; docs/experiments.md has the figures


@dataclass(frozen=True)
class BoostingSize:
    """Of a boosted model.

    Attributes
    ----------
    n_trees, learning_rate : how long and how fast it learns
    depth : of each tree
    """

    n_trees: int
    learning_rate: float
    depth: int


def size_for(n_labels: int) -> BoostingSize:
    """Return slow, shallow trees for a few hundred labels; for thousands, more trees, twice as fast, a level deeper.

    Examples
    --------
    >>> size_for(400)
    BoostingSize(n_trees=200, learning_rate=0.05, depth=3)
    """
    return BoostingSize(300, 0.1, 4) if n_labels >= _MANY else BoostingSize(200, 0.05, 3)
