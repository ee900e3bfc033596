"""SLA: pseudo-labels as an optimal allocation of all rows to classes."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from dips._tools.arrays import Array
from dips._tools.sklearn_compat import Interval
from dips.labelers._base import Candidates, EnsembleLabeler, Moments
from dips.labelers._sinkhorn import allocate


class SLA(EnsembleLabeler):
    """Sinkhorn label allocation (Tai et al. 2021): every row enters an allocation that respects the class frequencies.

    Parameters
    ----------
    threshold : float
        Mean probability of the allocated class over the ensemble must exceed this.
    n_models : int
    max_iter : int
        Sinkhorn iterations at most.
    members : {"trained", "checkpoints"}, default="trained"
        Train the members, or take the checkpoints of the second half of the one training there is (Malinin et al.
        2021), which costs next to nothing; these then count for at most `n_models`.
    """

    name = "sla"
    _parameter_constraints = EnsembleLabeler._parameter_constraints | {
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self, threshold: float = 0.8, n_models: int = 20, max_iter: int = 1000, members: str = "trained"
    ) -> None:
        self.threshold = threshold
        self.n_models = n_models
        self.max_iter = max_iter
        self.members = members

    def choose(self, candidates: Candidates) -> tuple[Array, Array, Array]:
        """Class with the most mass, if probable enough."""
        members = self.moments(candidates)
        n = members.mean.shape[0]
        labels, scores, eligible = np.zeros(n, dtype=np.int32), np.zeros(n), np.zeros(n, dtype=bool)
        entering = self.enters(members)
        p = members.mean[entering]
        if p.size:
            at = np.arange(n, dtype=np.int32)[entering]
            for rows, mass in allocate(p, candidates.class_frequencies, candidates.share, self.max_iter):
                best = mass.argmax(axis=1, keepdims=True)
                labels[at[rows]], scores[at[rows]] = best[:, 0], np.take_along_axis(mass, best, axis=1)[:, 0]
                eligible[at[rows]] = np.take_along_axis(p[rows], best, axis=1)[:, 0] > self.threshold
        return labels, scores, eligible

    def enters(self, members: Moments) -> Array | slice:
        """Which rows take part in the allocation: a mask, or all of them."""
        return slice(None)
