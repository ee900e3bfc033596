"""What a backbone's ``fit`` is given besides rows, labels and weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dips._data.containers import take
from dips._tools.arrays import Rows


@dataclass(frozen=True)
class FitParams:
    """More arguments of ``fit``.

    Attributes
    ----------
    by_row : those with one entry per row of the pool
    fixed : those that are the same for every training

    Examples
    --------
    >>> FitParams({"base_margin": [0.1, 0.2, 0.3]}, {"verbose": False}).at([0, 2])
    {'base_margin': [0.1, 0.3], 'verbose': False}
    """

    by_row: dict[str, Any] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)

    def at(self, rows: Rows) -> dict[str, Any]:
        """Return the arguments for a training on these rows."""
        return {name: take(values, rows) for name, values in self.by_row.items()} | self.fixed
