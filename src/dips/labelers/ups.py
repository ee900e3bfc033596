"""UPS: take what an ensemble is sure of and agrees on."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval

from dips._typing import Array
from dips.labelers.base import Candidates, Labeler


class UPS(Labeler):
    """Rows whose most probable class is confident and certain over an ensemble (Rizve et al. 2021).

    Parameters
    ----------
    threshold : float
        Mean probability over the members must exceed this.
    kappa : float
        Its standard deviation over the members must be under this.
    n_models : int
    """

    name = "ups"
    _parameter_constraints = {
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "kappa": [Interval(Real, 0, None, closed="neither")],
        "n_models": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(self, threshold: float = 0.8, kappa: float = 0.2, n_models: int = 10) -> None:
        self.threshold = threshold
        self.kappa = kappa
        self.n_models = n_models

    def choose(self, candidates: Candidates) -> tuple[Array, Array, Array]:
        """Most probable class on average, if probable and certain enough."""
        members = candidates.ensemble(self.n_models)
        labels = members.mean.argmax(axis=1)
        rows = np.arange(labels.size)
        best, spread = members.mean[rows, labels], members.std[rows, labels]
        return labels, best, (best > self.threshold) & (spread < self.kappa)
