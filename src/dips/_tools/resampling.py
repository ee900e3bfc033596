"""The bootstrap, here and nowhere else."""

from __future__ import annotations

import numpy as np

from dips._tools.arrays import Array


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
