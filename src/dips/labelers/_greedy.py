"""Greedy pseudo-labeling: take what the model is sure of."""

from __future__ import annotations

from numbers import Real

from dips._tools.arrays import Array
from dips._tools.sklearn_compat import Interval
from dips.labelers._base import Candidates, Labeler


class Greedy(Labeler):
    """Rows whose most probable class reaches `threshold` (Lee 2013).

    Parameters
    ----------
    threshold : float
    """

    name = "greedy"
    _parameter_constraints = {"threshold": [Interval(Real, 0, 1, closed="both")]}

    def __init__(self, threshold: float = 0.8) -> None:
        self.threshold = threshold

    def choose(self, candidates: Candidates) -> tuple[Array, Array, Array]:
        """Most probable class, if probable enough."""
        best = candidates.probabilities.max(axis=1)
        return candidates.probabilities.argmax(axis=1), best, best >= self.threshold
