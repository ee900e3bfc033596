"""Columns of a matrix that tell one thing together: of a category, each level may have a column of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dips._tools.arrays import Array


@dataclass(frozen=True)
class Spans:
    """How the columns of a matrix belong together.

    Attributes
    ----------
    starts : (p,) where each span begins; it ends where the next one does
    is_category : (p,) which spans hold levels
    """

    starts: Array
    is_category: Array

    @classmethod
    def of_numbers(cls, n_columns: int) -> Spans:
        """Every column by itself."""
        return cls(np.arange(n_columns), np.zeros(n_columns, dtype=bool))


def merged(X: Array, starts: Array) -> Array:
    """Return one column for each span, (n, p): of several columns the place of the 1, NaN where there is none.

    Examples
    --------
    >>> merged(np.array([[50.0, 1.0, 0.0], [61.0, 0.0, 1.0], [70.0, 0.0, 0.0]]), np.array([0, 1]))
    array([[50.,  0.],
           [61.,  1.],
           [70., nan]])
    """
    table = X[:, starts].astype(np.float64)
    ends = np.append(starts[1:], X.shape[1])
    for j in np.flatnonzero(ends - starts > 1):
        levels = X[:, starts[j] : ends[j]]
        table[:, j] = np.where(levels.any(axis=1), levels.argmax(axis=1), np.nan)
    return table
