"""Confidence alone: the ablation of DIPS without its aleatoric term."""

from __future__ import annotations

from numbers import Real

from dips._tools.arrays import Array
from dips._tools.sklearn_compat import Interval
from dips.curators._base import Curator, Evidence


class Confidence(Curator):
    """Useful rows have average confidence >= `conf`.

    Parameters
    ----------
    conf : float
        The threshold tau_conf.
    """

    name = "confidence"
    _parameter_constraints = {"conf": [Interval(Real, 0, 1, closed="both")]}

    def __init__(self, conf: float = 0.8) -> None:
        self.conf = conf

    def curate(self, evidence: Evidence) -> Array:
        """Apply the threshold."""
        return evidence.confidence >= self.conf

    def has_rule(self, at_start: bool) -> bool:
        """Each row is compared with a fixed threshold."""
        return True
