"""Greedy pseudo-labeling: take what the model is sure of."""

from __future__ import annotations

from functools import partial
from numbers import Real

from dips._tools.arrays import Array, row_max
from dips._tools.sklearn_compat import Interval
from dips.labelers._base import Choice, Labeler, Total


class Greedy(Labeler):
    """Rows whose most probable class reaches `threshold` (Lee 2013).

    Parameters
    ----------
    threshold : float
    """

    name = "greedy"
    has_rule = True
    _parameter_constraints = {"threshold": [Interval(Real, 0, 1, closed="both")]}

    def __init__(self, threshold: float = 0.8) -> None:
        self.threshold = threshold

    def rule(self, total: Total) -> Choice:
        """Most probable class, if probable enough."""
        return partial(_probable, self.threshold)


def _probable(threshold: float, p: Array) -> tuple[Array, Array, Array]:
    best = row_max(p)
    return p.argmax(axis=1), best, best >= threshold
