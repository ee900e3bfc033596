"""The rule of the authors' image experiments: drop a fixed share of the least confident, again and again."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from dips._tools.arrays import Array
from dips.curators._base import Curator, Evidence


class Percentile(Curator):
    """Drop the least confident share at the start, then a share of those kept at each round, until few enough remain.

    Nothing returns, and how many labels are wrong plays no part. Pseudo-labels are all kept.

    Parameters
    ----------
    start : float
        Share dropped at the start.
    step : float
        Share of those still kept that each later curation drops.
    floor : float
        Stop when dropping would leave less than this share.

    Attributes
    ----------
    kept_ : (n_given,) mask of the given labels still kept
    """

    name = "percentile"
    judges = ("images",)
    _parameter_constraints = {
        "start": [Interval(Real, 0, 1, closed="left")],
        "step": [Interval(Real, 0, 1, closed="left")],
        "floor": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(self, start: float = 0.2, step: float = 0.1, floor: float = 0.5) -> None:
        self.start = start
        self.step = step
        self.floor = floor

    def curate(self, evidence: Evidence) -> Array:
        """Drop one more share."""
        given = np.flatnonzero(evidence.is_given)
        is_first = not hasattr(self, "kept_")
        kept: Array = np.ones(given.size, dtype=bool) if is_first else self.kept_.copy()
        candidates = np.flatnonzero(kept)
        n_dropped = int((self.start if is_first else self.step) * candidates.size)
        n_dropped = min(n_dropped, candidates.size - int(np.ceil(self.floor * given.size)))
        worst_first = candidates[np.argsort(evidence.confidence[given[candidates]], kind="stable")]
        kept[worst_first[: max(n_dropped, 0)]] = False
        self.kept_: Array = kept
        useful = np.ones(evidence.labels.shape, dtype=bool)
        useful[given] = kept
        return useful
