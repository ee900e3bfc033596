"""FlexMatch: classes that are harder to learn get a lower threshold."""

from __future__ import annotations

from numbers import Real

import numpy as np

from dips._tools.arrays import Array
from dips._tools.sklearn_compat import Interval
from dips.labelers._base import Candidates, Labeler


class FlexMatch(Labeler):
    """Rows whose most probable class exceeds that class's own threshold (Zhang et al. 2021).

    The threshold of class c is `threshold` times the number of rows predicted c with more than `threshold`, relative to
    the largest such number: the better a class is learned, the more is asked of it.

    Parameters
    ----------
    threshold : float
    """

    name = "flexmatch"
    _parameter_constraints = {"threshold": [Interval(Real, 0, 1, closed="both")]}

    def __init__(self, threshold: float = 0.9) -> None:
        self.threshold = threshold

    def choose(self, candidates: Candidates) -> tuple[Array, Array, Array]:
        """Most probable class, if it exceeds its class's threshold."""
        labels = candidates.probabilities.argmax(axis=1)
        best = candidates.probabilities.max(axis=1)
        n_classes = candidates.probabilities.shape[1]
        learned = np.bincount(labels[best > self.threshold], minlength=n_classes)
        thresholds = self.threshold * learned / max(learned.max(), 1)
        if learned.max() == 0:  # nothing is learned yet, so nothing is taken
            thresholds = np.full(n_classes, self.threshold)
        return labels, best, best > thresholds[labels]
