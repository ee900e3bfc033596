"""The default: how many labels to drop from an estimate of the noise, which ones from the dynamics."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval

from dips._typing import Array
from dips.curators.base import Curator, Evidence


class Auto(Curator):
    """Drop as many labels as look wrong, those that were learned worst; no threshold to tune.

    A fixed threshold on the average confidence fits one backbone: a slow learner believes every row little. So the two
    questions are kept apart. *How many* given labels look wrong is estimated once, by confident learning on
    out-of-fold probabilities (Northcutt et al. 2021), less what chance alone may have added to the estimate. *Which* are
    dropped is decided anew at each curation: those with the least average confidence. A pseudo-label is kept as long as
    the model it helped to train still believes it most.

    Parameters
    ----------
    n_folds : int
        Folds of the estimate; so many extra models are trained on the given labels, once.
    caution : float
        How many standard errors are taken off the estimated share; matters only for tables of a few hundred labels.
    max_drop : float
        Never drop more than this share of the given labels.

    Attributes
    ----------
    noise_rate_ : the estimated share of wrong labels
    """

    name = "auto"
    n_passes = 2
    _parameter_constraints = {
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "caution": [Interval(Real, 0, None, closed="left")],
        "max_drop": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(self, n_folds: int = 5, caution: float = 1.0, max_drop: float = 0.5) -> None:
        self.n_folds = n_folds
        self.caution = caution
        self.max_drop = max_drop

    def curate(self, evidence: Evidence) -> Array:
        """Drop the estimated share of the given labels, and pseudo-labels no longer believed."""
        given = np.flatnonzero(evidence.is_given)
        if not hasattr(self, "noise_rate_"):
            p = evidence.out_of_fold(self.n_folds)
            self.noise_rate_ = noise_rate(p[given], evidence.labels[given])
        worst_first = given[np.argsort(evidence.confidence[given], kind="stable")]
        useful = evidence.mean_probabilities.argmax(axis=1) == evidence.labels
        useful[given] = True
        useful[worst_first[: self._n_dropped(given.size)]] = False
        return useful

    def _n_dropped(self, n: int) -> int:
        standard_error = np.sqrt(self.noise_rate_ * (1 - self.noise_rate_) / n)
        share = np.clip(self.noise_rate_ - self.caution * standard_error, 0, self.max_drop)
        return round(float(share) * n)


def noise_rate(p: Array, labels: Array) -> float:
    """Share of labels that out-of-fold probabilities (n, C) contradict.

    A label is contradicted if it has less than half of the probability while another class has at least as much as it
    has on average over the rows labeled so.

    Examples
    --------
    >>> p = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]])
    >>> noise_rate(p, np.array([0, 0, 1, 1])), noise_rate(p, np.array([0, 0, 1, 0]))
    (0.0, 0.25)
    """
    rows = np.arange(labels.size)
    own = p[rows, labels]
    counts = np.bincount(labels, minlength=p.shape[1])
    usual = np.bincount(labels, own, minlength=p.shape[1]) / np.maximum(counts, 1)
    usual[counts == 0] = np.inf
    others = p >= usual
    others[rows, labels] = False
    return float((others.any(axis=1) & (own < 0.5)).mean())
