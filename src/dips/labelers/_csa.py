"""CSA: an optimal allocation of the rows on which an ensemble is confident."""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student_t

from dips._tools.arrays import Array
from dips.labelers._base import Moments
from dips.labelers._sla import SLA

_LEVEL = 0.975
_BLOCK = 65_536  # rows tested together
_EXTRA_VARIANCE = 0.1  # as in the authors' own test: members that agree to the last digit prove little


class CSA(SLA):
    """Confident Sinkhorn allocation (Nguyen et al. 2022): SLA on rows that pass a test of confidence.

    A row passes if a Welch test over the ensemble tells its most probable class from the runner-up.

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

    name = "csa"

    def enters(self, members: Moments) -> Array:
        """Rows whose two most probable classes differ significantly."""
        passes = np.empty(members.mean.shape[0], dtype=bool)
        for start in range(0, passes.size, _BLOCK):
            rows = slice(start, start + _BLOCK)
            passes[rows] = _differ(members.mean[rows], members.std[rows], members.n_models)
        return passes


def _differ(mean: Array, std: Array, n_models: int) -> Array:
    """Whether a Welch test tells the most probable class of each row from the runner-up."""
    at = np.arange(mean.shape[0])
    first, others = mean.argmax(axis=1), mean.copy()
    others[at, first] = -np.inf
    second = others.argmax(axis=1)
    v1, v2 = std[at, first].astype(np.float64) ** 2, std[at, second].astype(np.float64) ** 2
    gap = mean[at, first] - mean[at, second]
    statistic = gap / np.sqrt((v1 + v2 + _EXTRA_VARIANCE) / n_models)
    # There are n - 1 to 2 (n - 1) degrees of freedom, so only a row between two bounds needs a quantile of its own.
    differ = statistic > student_t.ppf(_LEVEL, n_models - 1)
    undecided = np.flatnonzero(~differ & (statistic > student_t.ppf(_LEVEL, 2 * (n_models - 1))))
    degrees = _degrees_of_freedom(v1[undecided], v2[undecided], n_models)
    differ[undecided] = statistic[undecided] > student_t.ppf(_LEVEL, degrees)
    return differ


def _degrees_of_freedom(v1: Array, v2: Array, n_models: int) -> Array:
    """Welch-Satterthwaite; where the members agree to the last digit, as for equal variances."""
    scale = np.maximum(v1, v2)
    a, b = (np.divide(v, scale, out=np.ones_like(v), where=scale > 0) for v in (v1, v2))
    return (a + b) ** 2 / (a**2 + b**2) * (n_models - 1)
