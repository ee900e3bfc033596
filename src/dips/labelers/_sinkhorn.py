"""Optimal transport of rows to classes with bounds, by Sinkhorn iterations in the log domain, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dips._tools.arrays import Array
from dips._tools.warnings import warn

_LOWER, _UPPER = 0.9, 1.1  # a class gets between these multiples of its frequency
_BLOCK = 16_384  # rows: what is computed of them stays in the cache
_LEAST = 1e-300  # a column that nobody reaches in double precision climbs by this factor an iteration

Blocks = Callable[[], Iterable[tuple[Array, Array]]]
"""Rows to share out: minus their costs over the regularization (columns, rows), and their mass (rows,).

The former are overwritten, so each call makes them anew.
"""


def allocate(
    p: Array, frequencies: Array, share: float = 1.0, max_iter: int = 1000, tol: float = 1e-6
) -> Iterator[tuple[slice, Array]]:
    """Share out n rows among C classes; yield for each block of rows the mass (rows, C) that they give each class.

    The cost of giving row i to class c is 1 - p[i, c]. Each row has mass 1, of which it may keep some back. Class c
    takes at most 1.1 of its frequency, and all classes together at least 0.9, of the `share` of the n rows that is to
    be given out.
    """
    n, n_classes = p.shape
    lower, upper = share * _LOWER * frequencies, share * _UPPER * frequencies
    # A slack column takes what rows keep back, a slack row fills what classes leave open; both cost nothing.
    column_mass = np.append(n * upper, n * (1 - lower.sum()))
    slack = np.array([n * (upper.sum() - lower.sum())])
    reg = regularization(n, n_classes)

    def log_kernel(rows: slice) -> Array:
        block = np.zeros((n_classes + 1, rows.stop - rows.start))
        np.subtract(p[rows].T, 1, out=block[:n_classes])
        block /= reg
        return block

    def blocks() -> Iterator[tuple[Array, Array]]:
        yield np.zeros((n_classes + 1, 1)), slack
        for rows in _parts(n):
            yield log_kernel(rows), np.ones(1)

    potentials = _potentials(blocks, column_mass, max_iter, tol)
    for rows in _parts(n):
        yield rows, _shared_out(log_kernel(rows), potentials, np.ones(1))[:n_classes].T


def regularization(n: int, n_classes: int) -> float:
    """Entropic smoothing by rows a class: the more rows, the more they may be smoothed."""
    per_class = n / n_classes
    if per_class >= 200:
        return 0.5
    if per_class >= 100:
        return 0.2
    return 0.1 if per_class >= 50 else 0.05


def _potentials(blocks: Blocks, column_mass: Array, max_iter: int, tol: float) -> Array:
    """What each column adds to its entries of the log kernel (columns,), so that the plan meets both marginals.

    The rows' potentials need not be kept: given those of the columns, every row is shared out exactly. Warns where the
    columns are not met to `tol` of the total mass.
    """
    potentials, is_open = np.where(column_mass > 0, 0.0, -np.inf), column_mass > 0
    error = np.inf
    for _ in range(max_iter):
        reached = np.zeros(column_mass.size)
        for log_kernel, row_mass in blocks():
            reached += _shared_out(log_kernel, potentials, row_mass).sum(axis=1)
        # The rows are met exactly, so the columns alone tell how far off the plan is.
        error = float(np.abs(reached - column_mass).sum() / column_mass.sum())
        if error < tol:
            break
        potentials[is_open] += np.log(column_mass[is_open] / np.maximum(reached[is_open], _LEAST))
    else:
        warn(
            f"Sinkhorn iterations did not converge in {max_iter} steps: {error:.1e} of the mass is out of place "
            f"({tol:.0e} wanted). The allocation is approximate.",
            ConvergenceWarning,
        )
    return potentials


def _shared_out(log_kernel: Array, potentials: Array, row_mass: Array) -> Array:
    """Plan of a block (columns, rows), in the place of its log kernel: each row's mass, split by a softmax."""
    plan = log_kernel
    plan += potentials[:, None]
    plan -= plan.max(axis=0)
    np.exp(plan, out=plan)
    plan *= row_mass / plan.sum(axis=0)
    return plan


def _parts(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK))
