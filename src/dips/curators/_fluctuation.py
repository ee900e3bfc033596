"""Fluctuation: rows that were right at one checkpoint and wrong at the next are taken as mislabeled."""

from __future__ import annotations

from numbers import Real

from dips._tools.arrays import Array
from dips._tools.sklearn_compat import Interval
from dips.curators._base import Curator, Evidence


class Fluctuation(Curator):
    """Useful rows did not fall from right to wrong along the training (Wei et al. 2022, appendix C.2).

    The number of falls is smoothed with the confidence: the score is falls + (1 - average confidence), so that rows
    with equally many falls are ordered by the confidence in them. A row that was wrong all along never falls; its low
    confidence gives it away.

    Parameters
    ----------
    threshold : float
        Rows with a score up to this are useful. At 0.5: no fall, and an average confidence of at least 0.5. At
        1.5, such rows may have fallen once.
    """

    name = "fluctuation"
    statistics = ("fluctuation",)
    _parameter_constraints = {"threshold": [Interval(Real, 0, None, closed="left")]}

    def __init__(self, threshold: float = 0.5) -> None:
        self.threshold = threshold

    def curate(self, evidence: Evidence) -> Array:
        """Apply the threshold to the smoothed count."""
        return evidence.statistics["fluctuation"] + (1 - evidence.confidence) <= self.threshold

    def has_rule(self, at_start: bool) -> bool:
        """Each row is compared with a fixed threshold."""
        return True
