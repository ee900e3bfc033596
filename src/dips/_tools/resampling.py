"""The bootstrap, here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dips._tools.arrays import Array

_ENOUGH_GROUPS = 5  # of fewer, resamples are so alike that any difference would look certain


def are_too_few(groups: Array | None) -> bool:
    """Whether there are groups, and too few of them to draw from."""
    return groups is not None and np.unique(groups).size < _ENOUGH_GROUPS


def resamples(n_rows: int, rng: np.random.Generator, times: int, groups: Array | None = None) -> Iterator[Array]:
    """Yield so many weights of the rows, as :func:`resample_weights`; rows of one group (n_rows,) are drawn together.

    Where groups are too few, rows are drawn one by one.

    Examples
    --------
    >>> (weights,) = resamples(10, np.random.default_rng(1), 1, groups=np.array([7, 7, 7, 0, 1, 2, 3, 4, 5, 6]))
    >>> bool(weights[0] == weights[1] == weights[2])
    True
    """
    if groups is None or are_too_few(groups):
        groups = np.arange(n_rows)
    distinct, codes = np.unique(groups, return_inverse=True)
    for _ in range(times):
        yield resample_weights(distinct.size, rng)[codes]


def resample_weights(n_rows: int, rng: np.random.Generator) -> Array:
    """How often each row is drawn when as many rows are drawn with replacement, (n_rows,).

    A metric that takes weights of the rows is resampled without copying them.

    Examples
    --------
    >>> weights = resample_weights(5, np.random.default_rng(0))
    >>> weights.shape, float(weights.sum())
    ((5,), 5.0)
    """
    return np.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows).astype(float)
