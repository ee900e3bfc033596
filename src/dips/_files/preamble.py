"""Lines above the header: a title, a date of export, a blank line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise
from math import isclose, isfinite

from dips._tools.wording import cut

_MOST = 50  # lines that may stand above a header


def find_header(rows: Sequence[Sequence[str]], wanted: Collection[str] = ()) -> int:
    """Return which row names the columns: the one that holds the wanted names, else the first that can.

    A title has one cell where the rows of the table have many, or half as many at most. Names are texts, none is empty
    and no two are the same.

    Examples
    --------
    >>> find_header([["Report of ward 7"], ["exported", "2024"], [], ["age", "ward", "outcome"], ["50", "a", "ill"]])
    3
    >>> find_header([["age", "ward"], ["50", "a"]])
    0
    """
    rows = [[cell.strip() for cell in row] for row in rows]
    hits = [len(set(row) & set(wanted)) for row in rows[:_MOST]]
    if any(hits):
        return hits.index(max(hits))
    widths = Counter(len(row) for row in rows if len(row) > 1)
    if not widths:
        return 0
    width = widths.most_common(1)[0][0]
    for position, row in enumerate(rows[:_MOST]):
        n_filled = sum(map(bool, row))
        if len(row) == width and n_filled > max(1, width / 2):
            return position if position == 0 or _are_names(row) else 0
        if position == 0 and n_filled > max(1, width / 2):
            return 0  # a header that does not fit the rows
    return 0


def _are_names(row: Sequence[str]) -> bool:
    return all(row) and len(set(row)) == len(row) and not any(is_number(cell) for cell in row)


def unnamed_note(source: str, header: Sequence[str]) -> str:
    """Say that the names of the columns look like a row; empty where they do not.

    Whole numbers that rise or fall from column to column are names, such as years and the numbers of pixels, and so are
    numbers in equal steps, such as wavelengths.

    Examples
    --------
    >>> unnamed_note("iris.csv", ["5.1", "3.5", "setosa"])
    "The first line of iris.csv is taken for column names, but '5.1', '3.5' look like data; if so, add a line of names."
    >>> unnamed_note("sales.csv", ["shop", "2023", "2024"])
    ''
    """
    numbers = [(name.strip(), v) for name in header if (v := _number_in(name)) is not None and isfinite(v)]
    if len(numbers) < 2 or _are_a_scale([value for _, value in numbers]):
        return ""
    shown = ", ".join(repr(name) for name, _ in numbers[:2])
    return (
        f"The first line of {source} is taken for column names, but {shown} look like data; if so, add a line of names."
    )


def _are_a_scale(values: Sequence[float]) -> bool:
    """Whether numbers rise or fall all the way: whole ones at any pace, others in equal steps."""
    steps = [b - a for a, b in pairwise(values)]
    if not (all(step > 0 for step in steps) or all(step < 0 for step in steps)):
        return False
    are_equal = len(steps) > 1 and all(isclose(step, steps[0], rel_tol=1e-3) for step in steps)
    return are_equal or all(value.is_integer() for value in values)


def is_number(text: str) -> bool:
    """Whether a cell holds a number, with a point or a comma."""
    return _number_in(text) is not None


def _number_in(text: str) -> float | None:
    if "_" in text:  # Python would read 1_000
        return None
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def preamble_note(source: str, n_lines: int, first: str, option: str) -> str:
    """Say what was left out above the header."""
    above = "The first line" if n_lines == 1 else f"The first {n_lines} lines"
    verb, them = ("is", "it") if n_lines == 1 else ("are", "them")
    return f"{above} of {source} ({cut(first, 40)!r}) {verb} not part of the table; {option} 0 includes {them}."
