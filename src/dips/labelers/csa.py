"""CSA: an optimal allocation of the rows on which an ensemble is confident."""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student_t

from dips._typing import Array
from dips.labelers.base import Moments
from dips.labelers.sla import SLA

_LEVEL = 0.975
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
        rows = np.arange(members.mean.shape[0])
        order = np.argsort(members.mean, axis=1)
        first, second = order[:, -1], order[:, -2]
        v1, v2 = members.std[rows, first] ** 2, members.std[rows, second] ** 2
        gap = members.mean[rows, first] - members.mean[rows, second]
        statistic = gap / np.sqrt((v1 + v2 + _EXTRA_VARIANCE) / members.n_models)
        return statistic > student_t.ppf(_LEVEL, _degrees_of_freedom(v1, v2, members.n_models))


def _degrees_of_freedom(v1: Array, v2: Array, n_models: int) -> Array:
    """Welch-Satterthwaite; where the members agree to the last digit, as for equal variances."""
    scale = np.maximum(v1, v2)
    a, b = (np.divide(v, scale, out=np.ones_like(v), where=scale > 0) for v in (v1, v2))
    return (a + b) ** 2 / (a**2 + b**2) * (n_models - 1)
