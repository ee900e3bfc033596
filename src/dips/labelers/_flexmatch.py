"""FlexMatch: classes that are harder to learn get a lower threshold."""

from __future__ import annotations

from functools import partial
from numbers import Real

import numpy as np

from dips._tools.arrays import Array, row_max
from dips._tools.sklearn_compat import Interval
from dips.labelers._base import Choice, Labeler, Total


class FlexMatch(Labeler):
    """Rows whose most probable class exceeds that class's own threshold (Zhang et al. 2021).

    The threshold of class c is `threshold` times the number of rows predicted c with more than `threshold`, relative to
    the largest such number: the better a class is learned, the higher its threshold.

    Parameters
    ----------
    threshold : float
    """

    name = "flexmatch"
    has_rule = True
    _parameter_constraints = {"threshold": [Interval(Real, 0, 1, closed="both")]}

    def __init__(self, threshold: float = 0.9) -> None:
        self.threshold = threshold

    def rule(self, total: Total) -> Choice:
        """Most probable class, if it exceeds its class's threshold."""
        learned = total(partial(_count_confident, self.threshold))
        thresholds = self.threshold * learned / max(learned.max(), 1)
        if learned.max() == 0:  # nothing is learned yet, so nothing is taken
            thresholds = np.full(learned.size, self.threshold)
        return partial(_above, thresholds)


def _count_confident(threshold: float, p: Array) -> Array:
    return np.bincount(p.argmax(axis=1)[row_max(p) > threshold], minlength=p.shape[1])


def _above(thresholds: Array, p: Array) -> tuple[Array, Array, Array]:
    labels, best = p.argmax(axis=1), row_max(p)
    return labels, best, best > thresholds[labels]
