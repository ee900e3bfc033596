"""UPS: take what an ensemble is sure of and agrees on."""

from __future__ import annotations

from numbers import Real

import numpy as np

from dips._tools.arrays import Array
from dips._tools.sklearn_compat import Interval
from dips.labelers._base import Candidates, EnsembleLabeler


class UPS(EnsembleLabeler):
    """Rows whose most probable class is confident and certain over an ensemble (Rizve et al. 2021).

    Parameters
    ----------
    threshold : float
        Mean probability over the members must exceed this.
    kappa : float
        Its standard deviation over the members must be under this.
    n_models : int
    members : {"trained", "checkpoints"}, default="trained"
        Train the members, or take the checkpoints of the second half of the one training there is (Malinin et al.
        2021), which costs next to nothing; these then count for at most `n_models`.
    """

    name = "ups"
    _parameter_constraints = EnsembleLabeler._parameter_constraints | {
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "kappa": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self, threshold: float = 0.8, kappa: float = 0.2, n_models: int = 10, members: str = "trained"
    ) -> None:
        self.threshold = threshold
        self.kappa = kappa
        self.n_models = n_models
        self.members = members

    def choose(self, candidates: Candidates) -> tuple[Array, Array, Array]:
        """Most probable class on average, if probable and certain enough."""
        members = self.moments(candidates)
        labels = members.mean.argmax(axis=1)
        rows = np.arange(labels.size)
        best, spread = members.mean[rows, labels], members.std[rows, labels]
        return labels, best, (best > self.threshold) & (spread < self.kappa)
