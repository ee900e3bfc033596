"""Verified labels: those that somebody has checked, and what they were before."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dips._data.labels import UNLABELED
from dips._tools.arrays import Array, Rows


@dataclass(frozen=True)
class Verified:
    """Which labels of a column are verified.

    Attributes
    ----------
    mask : (n,) of the rows whose label somebody has checked
    before : (n,) codes of the labels before they were checked, -1 where that is not known
    error : how often whoever checked a label was wrong about it
    """

    mask: Array
    before: Array
    error: float = 0.0

    @classmethod
    def nothing(cls, n_rows: int) -> Verified:
        """No label is verified."""
        return cls(np.zeros(n_rows, dtype=bool), np.full(n_rows, UNLABELED))

    def at(self, rows: Rows | Array) -> Verified:
        """Return the same for some of the rows."""
        return replace(self, mask=self.mask[rows], before=self.before[rows])

    def followed_by(self, n_rows: int) -> Verified:
        """Return the same with so many rows after them of which none is verified."""
        more = Verified.nothing(n_rows)
        return replace(self, mask=np.append(self.mask, more.mask), before=np.append(self.before, more.before))
