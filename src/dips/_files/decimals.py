"""Numbers whose every mark stands before three digits: whether 4.129 is four thousand, the rest of the file tells."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dips._files.censored import without_limits
from dips._files.columns import Column
from dips._files.numbers import TIMES, NumberStyle, is_ambiguous, numbers
from dips._files.read import Table
from dips._files.values import SOME, is_text, texts
from dips._tools.wording import option

_MANY = 20  # cells; in fewer, three decimals everywhere are no wonder


def about_doubt(column: Column, cells: pa.ChunkedArray, style: NumberStyle) -> str:
    """Say that these numbers may be meant otherwise, with the option that reads them so."""
    cell, to_comma = _marked(cells, style), option("type", (column.name, "number:comma"))
    if style.grouped:
        return f"{cell} is read as thousands: a guess; {to_comma} if it is a decimal comma"
    return f"{cell} is read with a decimal point; {to_comma} if thousands are meant" if len(cells) >= _MANY else ""


def is_doubtful(column: Column, raw: pa.ChunkedArray) -> bool:
    """Whether numbers of a column may be meant otherwise: 4.129 or 1,526, and no other decimals."""
    return _is_written(column, raw) and are_doubtful(texts(raw), column.style)


def are_doubtful(cells: pa.ChunkedArray, style: NumberStyle) -> bool:
    """Whether texts written in a style may be meant otherwise."""
    return style.decimal != "," and is_ambiguous(_read(cells.drop_null(), style), style)


def witness_of_commas(columns: list[Column], table: Table) -> str | None:
    """Return a column that has decimal commas for sure; None where there is none, or another has points for sure."""
    by_mark: dict[str, str] = {}
    for column in columns:
        if mark := _certain_mark(column, table.columns[column.name]):
            by_mark.setdefault(mark, column.name)
    return by_mark.get(",") if "." not in by_mark else None


def read_with_commas(column: Column, known: pa.ChunkedArray, witness: str) -> str:
    """Read a doubtful column as the witness is written, and say so."""
    cell = _marked(_read(known, column.style), column.style)
    column.decimal, column.grouped = ",", True
    value = float(numbers(pa.chunked_array([[cell]]), column.style)[0])
    otherwise = option("type", (column.name, "number:point"))
    return f"{cell} is read as {value:.10g}, since {witness!r} has decimal commas; {otherwise} if that is wrong"


def _is_written(column: Column, raw: pa.ChunkedArray) -> bool:
    return column.kind == "number" and is_text(raw.type) and column.decimal != TIMES.decimal


def _certain_mark(column: Column, raw: pa.ChunkedArray) -> str:
    return certain_mark(texts(raw), column.style) if _is_written(column, raw) else ""


def certain_mark(cells: pa.ChunkedArray, style: NumberStyle) -> str:
    """Return the decimal mark that texts written in a style show for sure; empty where they show none."""
    if style.decimal == ",":
        return ","
    read = _read(cells.drop_null().slice(0, SOME), style)
    has_point = pc.any(pc.match_substring_regex(read, r"\.\d")).as_py()
    return "." if has_point and not is_ambiguous(read, style) else ""


def _read(cells: pa.ChunkedArray, style: NumberStyle) -> pa.ChunkedArray:
    """Those of the cells that are numbers, without the signs of limits."""
    return without_limits(cells.filter(pa.array(np.isfinite(numbers(cells, style)))))


def _marked(cells: pa.ChunkedArray, style: NumberStyle) -> str:
    """A cell with the doubtful mark."""
    return str(cells.filter(pc.match_substring(cells, "," if style.grouped else "."))[0].as_py())
