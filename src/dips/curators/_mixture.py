"""Two groups in a column of scores: those with the smaller ones are taken as clean."""

from __future__ import annotations

import numpy as np
from sklearn.mixture import GaussianMixture

from dips._tools.arrays import Array

_FLOOR = 1e-6  # least variance of a group, as a share of the variance of all


def smaller_group(scores: Array) -> Array:
    """Mask of the scores that belong to the lower component of a two-component Gaussian mixture.

    Where one component is much wider than the other, the mixture gives both ends of the line to the wide one. A score
    under the lower mean is in the lower group all the same, so that the groups are parted by one threshold.

    Examples
    --------
    >>> smaller_group(np.array([0.1, 0.11, 0.12, 0.9, 0.91]))
    array([ True,  True,  True, False, False])
    """
    spread = scores.std()
    if spread == 0 or scores.max() == scores.min():
        return np.ones(scores.shape, dtype=bool)
    z = (scores - scores.mean()) / spread
    groups = _two_means(np.sort(z))
    mixture = GaussianMixture(
        2,
        reg_covar=_FLOOR,
        weights_init=[group.size / z.size for group in groups],
        means_init=[[group.mean()] for group in groups],
        precisions_init=[[[1 / (group.var() + _FLOOR)]] for group in groups],
        max_iter=200,
    ).fit(z[:, None])
    lower, upper = np.argsort(mixture.means_.ravel())
    is_lower = mixture.predict_proba(z[:, None])[:, lower] > 0.5
    return (z <= mixture.means_[lower]) | ((z < mixture.means_[upper]) & is_lower)


def _two_means(ordered: Array) -> tuple[Array, Array]:
    """Cut sorted numbers in two where the squared distances to the two means are least; every cut is tried."""
    n_lower = np.arange(1, ordered.size)
    sums = ordered.cumsum()
    # Least distances within the groups are largest sums of squared group sums over group sizes.
    between = sums[:-1] ** 2 / n_lower + (sums[-1] - sums[:-1]) ** 2 / (ordered.size - n_lower)
    between[ordered[1:] == ordered[:-1]] = -np.inf  # equal scores stay together
    cut = int(between.argmax()) + 1
    return ordered[:cut], ordered[cut:]
