"""What models of a study learn from: all rows of its table, with what is known of them."""

from __future__ import annotations

from dataclasses import dataclass

from dips._data.known import Known
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

    def verified_at(self, rows: Rows) -> Verified:
        """Return which of the rows have a verified label."""
        return Verified.nothing(rows.size) if self.verified is None else self.verified.at(rows)

    def groups_at(self, rows: Rows) -> Array | None:
        """Return the groups of the rows, if there are any."""
        return None if self.groups is None else self.groups[rows]
