"""The rule of the authors' image experiments: a fixed share of the least confident labels, again and again."""

from __future__ import annotations

from numbers import Real

import numpy as np

from dips._tools.arrays import Array
from dips._tools.sklearn_compat import Interval
from dips.curators._base import Curator, Evidence


class Percentile(Curator):
    """Suspects are the least confident share at the start, and in each round a share of those still useful.

    A suspect stays one, however many labels are really wrong. All pseudo-labels are useful.

    Parameters
    ----------
    start : float
        Share of suspects at the start.
    step : float
        Share of the useful labels that become suspects at each later curation.
    floor : float
        Share of the labels that always stay useful.

    Attributes
    ----------
    useful_ : (n_given,) mask of the given labels that are still useful
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
        """Find the next suspects."""
        given = np.flatnonzero(evidence.is_given)
        is_first = not hasattr(self, "useful_")
        still_useful: Array = np.ones(given.size, dtype=bool) if is_first else self.useful_.copy()
        candidates = np.flatnonzero(still_useful)
        n_suspects = int((self.start if is_first else self.step) * candidates.size)
        n_suspects = min(n_suspects, candidates.size - int(np.ceil(self.floor * given.size)))
        worst_first = candidates[np.argsort(evidence.confidence[given[candidates]], kind="stable")]
        still_useful[worst_first[: max(n_suspects, 0)]] = False
        self.useful_: Array = still_useful
        useful = np.ones(evidence.labels.shape, dtype=bool)
        useful[given] = still_useful
        return useful
