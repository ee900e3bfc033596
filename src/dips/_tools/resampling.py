"""The bootstrap, here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dips._tools.arrays import Array


def resamples(n_rows: int, rng: np.random.Generator, times: int, groups: Array | None = None) -> Iterator[Array]:
    """Yield so many weights of the rows, as :func:`resample_weights`; rows of one group (n_rows,) are drawn together.

    Examples
    --------
    >>> (weights,) = resamples(4, np.random.default_rng(1), 1, groups=np.array([7, 7, 7, 9]))
    >>> bool(weights[0] == weights[1] == weights[2])
    True
    """
    codes = np.arange(n_rows) if groups is None else np.unique(groups, return_inverse=True)[1]
    n_drawn = n_rows if groups is None else int(codes.max(initial=-1)) + 1
    for _ in range(times):
        yield resample_weights(n_drawn, rng)[codes]


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
