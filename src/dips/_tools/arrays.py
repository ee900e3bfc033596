"""Names for the types that run through the package, and what NumPy does slowly."""

from __future__ import annotations

from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Rows: TypeAlias = NDArray[np.intp]

_FEW = 16


def row_max(p: Array) -> Array:
    """Return the greatest of each row of a matrix (n, C).

    NumPy is forty times as quick along a few long columns as along many short rows.

    Examples
    --------
    >>> row_max(np.array([[0.2, 0.8], [0.6, 0.4]]))
    array([0.8, 0.6])
    """
    return reduce(np.maximum, p.T) if 0 < p.shape[1] <= _FEW else p.max(axis=1)
