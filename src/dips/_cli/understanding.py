"""What was understood of a table, on the terminal: one line per column."""

from __future__ import annotations

from collections.abc import Sequence

from dips._cli.console import Terminal, make_table
from dips._files.columns import KINDS, Column
from dips._tools.wording import counted, cut

_LONGEST_NAME = 100  # letters; what is called so is hardly typed again
_MANY_COLUMNS = 25  # of more, only those that are not plainly used are worth a line


def print_columns(
    console: Terminal, columns: Sequence[Column], leaks: dict[str, float], n_rows: int, most: int = _MANY_COLUMNS
) -> None:
    """Print a table of at most `most` columns; if there are more, of those that are not plainly used."""
    shown = [c for c in columns if len(columns) <= most or not c.is_used or c.note or c.name in leaks]
    rows = [
        [
            cut(c.name, _LONGEST_NAME),
            KINDS[c.kind],
            f"{c.n_distinct:,}" if c.n_distinct else "",
            _missing(c.n_missing, n_rows),
            f"predicts the label almost on its own ({100 * leaks[c.name]:.0f} %)" if c.name in leaks else c.example,
        ]
        for c in shown[:most]
    ]
    aligned = {"column": "left", "holds": "left", "distinct": "right", "missing": "right", "example": "left"}
    if rows:
        console.print(make_table(aligned, rows))
    n_more = len(columns) - len(rows)
    if n_more:
        kinds = [f"{sum(c.kind == k for c in columns)} {KINDS[k]}" for k in KINDS if any(c.kind == k for c in columns)]
        many = f"and {counted(n_more, 'more column')}; in all" if rows else f"{counted(n_more, 'column')}:"
        console.say(f"{many} {', '.join(kinds)}.")


def _missing(n: int, n_rows: int) -> str:
    if not n:
        return ""
    return f"{100 * n / n_rows:.0f} %" if n >= 0.005 * n_rows else "under 1 %"
