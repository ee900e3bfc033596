"""What people leave under a table: a line about its source, a row that sums up the others, empty rows."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dips._files.numbers import find_number_style, numbers
from dips._files.spelling import plain
from dips._files.values import is_number, is_text, texts
from dips._tools.wording import counted, some_of

_WORDS = {
    "total", "totals", "grand total", "total result", "sum", "sums", "average", "mean",
    "gesamt", "summe", "gesamtsumme", "gesamtergebnis", "insgesamt", "mittelwert", "durchschnitt",
    "total general", "somme", "moyenne", "suma", "totale", "totaal",
}  # fmt: skip
_MOST_LINES = 5  # of text under a table; where there are more, they are rows of which nothing else is known
_FEW_ROWS = 5  # in which numbers may add up by chance
_OF_WHAT = re.compile(r"(\s*[(\[][^)\]]*[)\]])?[\s:]*$")  # Total (25 patients):
_WITH_A_BLANK = r"\S\s.*[^\d\s.,:/+-]|[^\d\s.,:/+-].*\s\S"  # and a letter before or behind it
_USUAL = 0.1  # if more of the first cells above hold a blank, a last one that does is like them


def without_footer(columns: pa.Table, source: str) -> tuple[pa.Table, list[str]]:
    """Leave out what stands under a table; return notes, also on rows within it that are empty."""
    columns, notes = _without_last_lines(columns, source)
    columns, of_total = _without_totals(columns, source)
    if of_total:
        columns, more = _without_last_lines(columns, source)
        notes += more
    return columns, [*notes, *of_total, *_about_empty_rows(columns, source)]


def _without_last_lines(columns: pa.Table, source: str) -> tuple[pa.Table, list[str]]:
    """Leave out last rows that are empty, or a sentence in the first of several columns."""
    n = n_without_empty = columns.num_rows
    lines: list[str] = []
    while n > 1:
        cells = [cell for column in columns.columns if (cell := column[n - 1].as_py()) is not None]
        line = _sentence(cells, columns, n - 1)
        if cells and not line:
            break
        lines += [line] if line else []
        n -= 1
        n_without_empty -= not lines
    if lines and (len(lines) > _MOST_LINES or _has_sentences(columns.column(0).slice(0, n))):
        n, lines = n_without_empty, []
    left_out = columns.num_rows - n
    if not left_out or n == 1:
        return columns, []
    such = f" ({lines[-1][:40]!r})" if lines else ""
    where = "The last row" if left_out == 1 else f"The last {left_out} rows"
    why = "is no row of the table and is" if left_out == 1 else "are no rows of the table and are"
    return columns.slice(0, n), [f"{where} of {source}{such} {why} left out."]


def _sentence(cells: list[Any], columns: pa.Table, row: int) -> str:
    """Return the words that are alone in their row, in the first of several columns; else an empty text."""
    first = columns.column(0)[row].as_py()
    is_alone = len(cells) == 1 and columns.num_columns > 2
    return first.strip() if is_alone and isinstance(first, str) and re.search(_WITH_A_BLANK, first) else ""


def _has_sentences(cells: pa.ChunkedArray) -> bool:
    """Whether texts with a blank are usual here, such as names or remarks; times are no words."""
    found = pc.sum(pc.match_substring_regex(texts(cells), _WITH_A_BLANK)).as_py()
    return found is not None and found > _USUAL * len(cells)


def _about_empty_rows(columns: pa.Table, source: str) -> list[str]:
    rows = np.arange(columns.num_rows)
    for cells in columns.columns:
        if not cells.null_count:
            return []
        rows = rows[pc.is_null(cells.take(pa.array(rows))).to_numpy()]
    if not rows.size:
        return []
    have = counted(rows.size, "row has", "rows have")
    listed = some_of((rows + 1).tolist(), 10)
    return [f"{have} no value in any column of {source} (row {listed}); remove what is no row."]


def _without_totals(columns: pa.Table, source: str) -> tuple[pa.Table, list[str]]:
    """Leave out last rows that sum up the others; return a note, also where the last one is only called a total.

    Examples
    --------
    >>> table = pa.table({"ward": ["a", "b", "Total"], "beds": ["10", "20", "30"]})
    >>> _without_totals(table, "beds.csv")[0].num_rows
    2
    """
    n, called = columns.num_rows, _names_of_last_rows(columns)
    for k in range(len(called), 0, -1):
        above, last = columns.slice(0, n - k), [columns.slice(row, 1) for row in range(n - k, n)]
        if all(_is_total(pa.concat_tables([above, row]), source) for row in last):
            return above, [_about_totals(called[-k:], source)]
    if called:
        kept = f"is called {called[-1]!r} and is read as data; remove it if it is a total."
        return columns, [f"The last row of {source} {kept}"]
    if n > _FEW_ROWS and _is_nothing_but_sums(columns, source):
        how = "holds nothing but sums of the others and is left out; give it a name to keep it."
        return columns.slice(0, n - 1), [f"The last row of {source} {how}"]
    return columns, []


def _about_totals(called: list[str], source: str) -> str:
    if len(called) == 1:
        how = "sums up the others and is left out; call it otherwise to keep it"
        return f"The last row of {source} ({called[0]!r}) {how}."
    how = "sum up the others and are left out; call them otherwise to keep them"
    return f"The last {len(called)} rows of {source} ({', '.join(map(repr, called))}) {how}."


def _names_of_last_rows(columns: pa.Table) -> list[str]:
    """What the last rows are called, as far as these are words for totals; the last comes last."""
    names: list[str] = []
    while len(names) < min(_MOST_LINES, columns.num_rows - 2):
        name = _name_of_last_row(columns.slice(0, columns.num_rows - len(names)))
        if name is None:
            break
        names.insert(0, name)
    return names


def _name_of_last_row(columns: pa.Table) -> str | None:
    """Its first text, where that is a word for a total that no other row has there."""
    for cells in columns.columns:
        if is_text(cells.type):
            word = texts(cells.slice(len(cells) - 1))[0].as_py()
            if word is not None:
                is_total = plain(_OF_WHAT.sub("", word)) in _WORDS
                return word if is_total and pc.sum(pc.equal(texts(cells), word)).as_py() == 1 else None
    return None


def _is_total(columns: pa.Table, source: str) -> bool:
    """Whether a last row that is called a total looks like one.

    It does if it holds a sum or a mean, or has nothing else, or is empty in two columns where every other row has
    something: in one, it may be a row without a label.
    """
    return _n_gaps(columns, source) > 1 or len(_in_last_row(columns)) == 1 or any(map(_is_sum, columns.columns))


def _is_nothing_but_sums(columns: pa.Table, source: str) -> bool:
    there = _in_last_row(columns)
    return bool(there) and _n_gaps(columns, source) > 1 and all(map(_is_sum, there))


def _in_last_row(columns: pa.Table) -> list[pa.ChunkedArray]:
    """The columns in which the last row has a value."""
    return [cells for cells in columns.columns if cells[len(cells) - 1].is_valid]


def _n_gaps(columns: pa.Table, source: str) -> int:
    """In how many columns the last row alone has no value."""
    above = _without_last_lines(columns.slice(0, columns.num_rows - 1), source)[0]
    return sum(_is_gap(cells, above.num_rows) for cells in columns.columns)


def _is_gap(cells: pa.ChunkedArray, n_above: int) -> bool:
    above, last = cells.slice(0, n_above), cells.slice(len(cells) - 1)
    if not is_text(cells.type):
        return bool(last.null_count) and not above.null_count
    return bool(texts(last).null_count) and not above.null_count and not texts(above).null_count


def _is_sum(cells: pa.ChunkedArray) -> bool:
    """Whether the last number is the sum or the mean of the others, and none of them.

    Of a column in which all numbers are the same, any of them is the mean.
    """
    if is_text(cells.type):
        style = find_number_style(texts(cells))
        if style is None:
            return False
        values = numbers(cells, style)
    elif is_number(cells.type):
        values = numbers(cells)
    else:
        return False
    above, last = values[:-1][np.isfinite(values[:-1])], values[-1]
    if not above.any() or not np.isfinite(last) or np.isclose(last, above, rtol=1e-4).any():
        return False
    return bool(np.isclose(last, [above.sum(), above.mean()], rtol=1e-4).any())
