"""Two groups in a column of scores: those with the smaller ones are taken as clean."""

from __future__ import annotations

import numpy as np
from sklearn.mixture import GaussianMixture

from dips._typing import Array


def smaller_group(scores: Array) -> Array:
    """Mask of the scores that belong to the lower component of a two-component Gaussian mixture.

    Examples
    --------
    >>> smaller_group(np.array([0.1, 0.11, 0.12, 0.9, 0.91]))
    array([ True,  True,  True, False, False])
    """
    distinct = np.unique(scores)
    if distinct.size < 2:
        return np.ones(scores.shape, dtype=bool)
    column = scores.reshape(-1, 1)
    start = np.quantile(column, [0.1, 0.9], axis=0)
    mixture = GaussianMixture(2, means_init=start, reg_covar=1e-6 * float(np.var(scores)) + 1e-12, max_iter=200)
    posterior = mixture.fit(column).predict_proba(column)
    return posterior[:, mixture.means_.ravel().argmin()] > 0.5
