"""Optimal transport of rows to classes with bounds, by Sinkhorn iterations in the log domain."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from dips._typing import Array
from dips._warnings import warn

_LOWER, _UPPER = 0.9, 1.1  # a class gets between these multiples of its frequency


def allocate(p: Array, frequencies: Array, share: float = 1.0, max_iter: int = 1000, tol: float = 1e-6) -> Array:
    """Share out n rows among C classes: the mass (n, C) that each row gives each class.

    The cost of giving row i to class c is 1 - p[i, c]. Each row has mass 1, of which it may keep some back. Class c
    takes at most 1.1 of its frequency, and all classes together at least 0.9, of the `share` of the n rows that is to
    be given out.
    """
    n, n_classes = p.shape
    lower, upper = share * _LOWER * frequencies, share * _UPPER * frequencies
    # A slack column takes what rows keep back, a slack row fills what classes leave open; both cost nothing.
    row_mass = np.append(np.ones(n), n * (upper.sum() - lower.sum()))
    column_mass = np.append(n * upper, n * (1 - lower.sum()))
    cost = np.zeros((n + 1, n_classes + 1))
    cost[:n, :n_classes] = 1 - p
    return sinkhorn(cost, row_mass, column_mass, regularization(n, n_classes), max_iter, tol)[:n, :n_classes]


def regularization(n: int, n_classes: int) -> float:
    """Entropic smoothing by rows a class: the more rows, the more they may be smoothed."""
    per_class = n / n_classes
    if per_class >= 200:
        return 0.5
    if per_class >= 100:
        return 0.2
    return 0.1 if per_class >= 50 else 0.05


def sinkhorn(
    cost: Array, row_mass: Array, column_mass: Array, reg: float, max_iter: int = 1000, tol: float = 1e-6
) -> Array:
    """Entropic transport plan with the given marginals; warns where they are not met to `tol` of the total mass.

    Examples
    --------
    >>> plan = sinkhorn(np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2), np.ones(2), reg=0.01)
    >>> plan.round(3) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    log_kernel = -cost / reg
    with np.errstate(divide="ignore"):  # a marginal may be empty
        log_rows, log_columns = np.log(row_mass), np.log(column_mass)
    f, g = log_rows - logsumexp(log_kernel, axis=1), np.zeros(column_mass.size)
    error = np.inf
    for _ in range(max_iter):
        # The rows are met exactly, here and at the end, so the columns alone tell how far off the plan is.
        reached = logsumexp(log_kernel + f[:, None], axis=0)
        error = float(np.abs(np.exp(reached + g) - column_mass).sum() / column_mass.sum())
        if error < tol:
            break
        g = log_columns - reached
        f = log_rows - logsumexp(log_kernel + g, axis=1)
    else:
        warn(
            f"Sinkhorn iterations did not converge in {max_iter} steps: {error:.1e} of the mass is out of place "
            f"({tol:.0e} wanted). The allocation is approximate.",
            ConvergenceWarning,
        )
    return np.exp(log_kernel + f[:, None] + g)
