"""The default: how many rows to drop from an estimate of the noise, which ones from the dynamics."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval

from dips._typing import Array
from dips.curators.base import Curator, Evidence


class Auto(Curator):
    """Drop as many labels as look wrong, those that were learned worst."""

    name = "auto"
    _parameter_constraints = {
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "max_drop": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(self, n_folds: int = 5, max_drop: float = 0.5) -> None:
        self.n_folds = n_folds
        self.max_drop = max_drop

    def curate(self, evidence: Evidence) -> Array:
        """Drop the estimated share of the given labels with the least average confidence."""
        if not hasattr(self, "noise_rate_"):
            p = evidence.out_of_fold(self.n_folds)[evidence.is_given]
            self.noise_rate_ = noise_rate(p, evidence.labels[evidence.is_given])
        useful = np.ones(evidence.labels.shape, dtype=bool)
        given = np.flatnonzero(evidence.is_given)
        n_drop = round(min(self.noise_rate_, self.max_drop) * given.size)
        useful[given[np.argsort(evidence.confidence[given], kind="stable")[:n_drop]]] = False
        pseudo = ~evidence.is_given
        assert evidence.mean_probabilities is not None
        useful[pseudo] = evidence.mean_probabilities.argmax(axis=1)[pseudo] == evidence.labels[pseudo]
        return useful


def noise_rate(p: Array, labels: Array) -> float:
    """Share of labels contradicted by out-of-fold probabilities (n, C), by confident learning."""
    n, n_classes = p.shape
    own = p[np.arange(n), labels]
    thresholds = np.array([own[labels == c].mean() if (labels == c).any() else np.inf for c in range(n_classes)])
    reached = p >= thresholds
    reached[np.arange(n), labels] = False
    return float((reached.any(axis=1) & (own < 0.5)).mean())
