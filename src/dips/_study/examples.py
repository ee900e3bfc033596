"""What models of a study learn from: all rows of its table, with what is known of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dips._data.known import Known
from dips._data.labels import UNLABELED
from dips._data.spans import Spans
from dips._data.verified import Verified
from dips._tools.arrays import Array, Rows


@dataclass(frozen=True)
class Examples:
    """All rows of a table.

    Attributes
    ----------
    X : (n, p) the prepared table
    codes : (n,) label of each row, -1 for none
    verified : labels that somebody has checked, if there are any
    groups : (n,) rows that belong together, which no fold divides; None where every row stands alone
    spans : which columns of X belong together, as the levels of one category do; None where each stands alone
    known : what is known of the errors
    """

    X: Array
    codes: Array
    verified: Verified | None = None
    groups: Array | None = None
    spans: Spans | None = None
    known: Known | None = None

    @property
    def n_labels(self) -> int:
        """How many rows have a label: what models are made for, also those that learn from a part of them."""
        return int((self.codes != UNLABELED).sum())

    def for_fit(self, labeled: Rows, beside: Rows) -> dict[str, Array]:
        """Return what the ``fit`` of a model takes, of rows with their labels and of rows beside them without.

        A row may have a label all the same: one that is held out must not be seen.
        """
        rows = np.concatenate([labeled, beside])
        is_told, checked = np.arange(rows.size) < labeled.size, self.verified_at(rows)
        return {
            "X": self.X[rows],
            "y": np.where(is_told, self.codes[rows], UNLABELED),
            "verified": is_told & checked.mask,
            "y_given": np.where(is_told, checked.before, UNLABELED),
        }

    def verified_at(self, rows: Rows) -> Verified:
        """Return which of the rows have a verified label."""
        return Verified.nothing(rows.size) if self.verified is None else self.verified.at(rows)

    def groups_at(self, rows: Rows) -> Array | None:
        """Return the groups of the rows, if there are any."""
        return None if self.groups is None else self.groups[rows]
