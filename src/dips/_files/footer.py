"""What people leave under a table: a line about its source, a row that sums up the others, empty rows."""

from __future__ import annotations

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
_USUAL = 0.1  # if more of the first cells above hold a blank, a last one that does is like them


def without_footer(columns: pa.Table, source: str) -> tuple[pa.Table, list[str]]:
    """Leave out what stands under a table; return notes, also on rows within it that are empty."""
    columns, notes = _without_last_lines(columns, source)
    columns, of_total = _without_total(columns, source)
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
    """Return the text with a blank that is alone in its row, in the first of several columns; else an empty one."""
    first = columns.column(0)[row].as_py()
    is_alone = len(cells) == 1 and columns.num_columns > 2
    return first.strip() if is_alone and isinstance(first, str) and " " in first.strip() else ""


def _has_sentences(cells: pa.ChunkedArray) -> bool:
    """Whether texts with a blank are usual here, such as names, remarks or times."""
    found = pc.sum(pc.match_substring_regex(texts(cells), r"\S\s+\S")).as_py()
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


def _without_total(columns: pa.Table, source: str) -> tuple[pa.Table, list[str]]:
    """Leave out a last row that is called a total and looks like one; return a note, also where it is only called so.

    It looks like one if it holds a sum or a mean, or has nothing else, or is empty in two columns where every other row
    has something: in one, it may be a row without a label.

    Examples
    --------
    >>> table = pa.table({"ward": ["a", "b", "Total"], "beds": ["10", "20", "30"]})
    >>> _without_total(table, "beds.csv")[0].num_rows
    2
    """
    n = columns.num_rows - 1
    called = _name_of_last_row(columns) if n > 1 else None
    if called is None:
        return columns, []
    n_above = _without_last_lines(columns.slice(0, n), source)[0].num_rows
    n_gaps = sum(_is_gap(cells, n_above) for cells in columns.columns)
    if n_gaps > 1 or _is_alone(columns) or any(map(_is_sum, columns.columns)):
        how = "sums up the others and is left out; call it otherwise to keep it"
        return columns.slice(0, n), [f"The last row of {source} ({called!r}) {how}."]
    return columns, [f"The last row of {source} is called {called!r} and is read as data; remove it if it is a total."]


def _name_of_last_row(columns: pa.Table) -> str | None:
    """Its first text, where that is a word for a total that no other row has there."""
    for cells in columns.columns:
        if is_text(cells.type):
            word = texts(cells.slice(len(cells) - 1))[0].as_py()
            if word is not None:
                is_total = plain(word.rstrip(" :")) in _WORDS
                return word if is_total and pc.sum(pc.equal(texts(cells), word)).as_py() == 1 else None
    return None


def _is_alone(columns: pa.Table) -> bool:
    return sum(cells[len(cells) - 1].is_valid for cells in columns.columns) == 1


def _is_gap(cells: pa.ChunkedArray, n_above: int) -> bool:
    cells = texts(cells) if is_text(cells.type) else cells
    return not cells[len(cells) - 1].is_valid and cells.slice(0, n_above).null_count == 0


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
