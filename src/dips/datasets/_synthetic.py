"""Synthetic tables of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from dips._tools.arrays import Array


def make_quadrants(n_samples: int = 1000, *, random_state: Any = None) -> tuple[Array, Array]:
    """Two classes, each uniform in a quadrant of the plane (section 5.1): upper left is 0, lower right is 1.

    Parameters
    ----------
    n_samples : int, default=1000
    random_state : int, RandomState or None, default=None

    Examples
    --------
    >>> X, y = make_quadrants(4, random_state=0)
    >>> X.shape, y.tolist() == (X[:, 0] > 0).astype(int).tolist()
    ((4, 2), True)
    """
    rng = check_random_state(random_state)
    horizontal = rng.uniform(-1, 1, n_samples)
    vertical = np.where(horizontal < 0, rng.uniform(0, 1, n_samples), rng.uniform(-1, 0, n_samples))
    return np.column_stack([horizontal, vertical]), (horizontal > 0).astype(np.int64)


def make_moons(n_samples: int = 1000, *, noise: float = 0.4, random_state: Any = None) -> tuple[Array, Array]:
    """Two interleaving half circles, half of the rows each, blurred by Gaussian noise (appendix C.12).

    Parameters
    ----------
    n_samples : int, default=1000
    noise : float, default=0.4
        Standard deviation of the blur.
    random_state : int, RandomState or None, default=None

    Examples
    --------
    >>> X, y = make_moons(4, random_state=0)
    >>> X.shape, sorted(y.tolist())
    ((4, 2), [0, 0, 1, 1])
    """
    from sklearn.datasets import make_moons as moons

    X, y = moons(n_samples, noise=noise, random_state=random_state)
    return X, y.astype(np.int64)
