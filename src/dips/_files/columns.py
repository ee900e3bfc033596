"""What a column holds: numbers, categories, dates, free text, or nothing that a model can use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dips._files.censored import about_limits
from dips._files.dates import ISO, dates
from dips._files.numbers import NumberStyle, find_number_style, numbers
from dips._files.pairs import SIDES, pairs
from dips._files.read import Table
from dips._files.values import MOSTLY, example, first_strange, is_number, is_text, is_time, texts, unread
from dips._tools.arrays import Array
from dips._tools.wording import counted, some_of
from dips.exceptions import DataError

KINDS = {
    "number": "numbers",
    "pair": "pairs of numbers",
    "category": "categories",
    "date": "dates",
    "text": "free text",
    "id": "identifies the row; left out",
    "group": "names the group; left out",
    "constant": "always the same; left out",
    "empty": "no values; left out",
    "unreadable": "lists, records or bytes; left out",
    "dropped": "left out, as requested",
}
DECLARED = "as declared"  # begins the note of such a column
USED = ("number", "pair", "category", "date", "text")


@dataclass
class Column:
    """One column of the input.

    Attributes
    ----------
    name : as in the table, made distinct
    kind : one of ``KINDS``
    decimal : the decimal mark of numbers written as text; a colon in times, which are read as hours
    grouped : whether thousands are set apart in numbers written as text
    unit : what stands behind numbers, or pairs of them, written as text, such as kg
    date_format : of dates written as text, several joined by a bar; None where the file stores them as dates
    n_distinct, n_missing : counts over the rows that were read
    example : a value
    note : a remark for the user, often empty
    """

    name: str
    kind: str
    decimal: str = "."
    grouped: bool = False
    unit: str = ""
    date_format: str | None = None
    n_distinct: int = 0
    n_missing: int = 0
    example: str = ""
    note: str = ""

    @property
    def is_used(self) -> bool:
        """Whether models use this column."""
        return self.kind in USED

    @property
    def is_declared(self) -> bool:
        """Whether the user said what it holds."""
        return self.note.startswith(DECLARED)

    @property
    def style(self) -> NumberStyle:
        """How numbers are written."""
        return NumberStyle(self.decimal, self.grouped, self.unit)

    def describe(self, known: pa.ChunkedArray) -> None:
        """Count the distinct values of the cells that are not missing, and keep one as an example."""
        self.n_distinct, self.example = pc.count_distinct(known).as_py(), example(known)

    def values(self, raw: pa.ChunkedArray) -> Any:
        """Return the cells as floats, pairs of floats, dates, or an arrow column of texts."""
        if self.kind == "number":
            return self._numbers(raw)[0]
        if self.kind == "pair":
            return pairs(raw, self.unit)
        if self.kind == "date":
            is_written = is_text(raw.type) or is_number(raw.type)
            return dates(raw, self.date_format or ISO if is_written else None)
        return texts(_whole(raw))

    def _numbers(self, raw: pa.ChunkedArray) -> tuple[Any, NumberStyle]:
        """Numbers, and how they are written; a new table may write them in another way than the training table."""
        usual = self.style
        values = numbers(raw, usual)
        if not is_text(raw.type):
            return values, usual
        cells = texts(raw)
        if np.isfinite(values).sum() >= MOSTLY * (len(cells) - cells.null_count):
            return values, usual
        style = find_number_style(cells) or usual
        return (values, usual) if style == usual or not style.may_be(usual) else (numbers(raw, style), style)

    def check(self, raw: pa.ChunkedArray) -> str:
        """Refuse cells of a new table that are not of this column's kind; return a note where a few are not."""
        if self.kind == "pair" and not is_text(raw.type) and raw.type != pa.null():
            raise DataError(
                f"Column {self.name!r} held pairs of numbers such as {self.example} in training, but {raw.type} values "
                "now; write them as in training."
            )
        if self.kind not in ("number", "pair", "date"):
            if not (is_text(raw.type) or is_number(raw.type) or pa.types.is_boolean(raw.type) or raw.type == pa.null()):
                raise DataError(f"Column {self.name!r} held {KINDS[self.kind]} in training, but {raw.type} values now.")
            return ""
        is_native = not is_text(raw.type)
        if self.kind == "date" and is_native and not pa.types.is_temporal(raw.type) and raw.type != pa.null():
            raise DataError(f"Column {self.name!r} held dates in training, but {raw.type} values now; write dates.")
        if self.kind == "number" and is_native and raw.type != pa.null():
            is_number_now = is_number(raw.type) or pa.types.is_boolean(raw.type)
            if not (is_time(raw.type) if self.decimal == ":" else is_number_now):
                held = "times" if self.decimal == ":" else "numbers"
                raise DataError(f"Column {self.name!r} held {held} in training, but {raw.type} values now.")
        return self._check_texts(raw) if is_text(raw.type) else ""

    def _check_texts(self, raw: pa.ChunkedArray) -> str:
        values = self.values(raw)
        is_read = values.notna().to_numpy() if self.kind == "date" else np.isfinite(values)
        is_read = is_read[:, 0] if self.kind == "pair" else is_read
        strange = first_strange(raw, is_read)
        limits = about_limits(raw, is_read, with_row=True) if self.kind == "number" else ""
        if strange is None:
            style = self._other_style(raw) if self.kind == "number" else ""
            return self._said(limits, style)
        (row, cell), n_there = strange, len(raw) - texts(raw).null_count
        if is_read.sum() < 0.5 * n_there:
            form = self.example if self.date_format in (None, ISO) else self.date_format
            raise DataError(
                f"Column {self.name!r} held {KINDS[self.kind]} in training, but most cells are not {KINDS[self.kind]}, "
                f"such as {cell[:40]!r} in row {row}; write them as in training" + (f" ({form})." if form else ".")
            )
        said = unread(n_there - int(is_read.sum()), self.kind, cell, f" in row {row}")
        return self._said(limits, said)

    def _said(self, *parts: str) -> str:
        said = "; ".join(filter(None, parts))
        return f"Column {self.name!r}: {said}." if said else ""

    def _other_style(self, raw: pa.ChunkedArray) -> str:
        style = self._numbers(raw)[1]
        if style.decimal == self.decimal:
            return ""
        here, there = ("points", "commas") if style.decimal == "." else ("commas", "points")
        return f"decimal {here} here, and decimal {there} in training; read as such"


def notes_on(columns: Iterable[Column]) -> list[str]:
    """Return the notes on columns as sentences; columns with the same note share one.

    Examples
    --------
    >>> said = {"note": "decimal commas"}
    >>> notes_on([Column("a", "number", **said), Column("b", "number"), Column("c", "number", **said)])
    ["Columns 'a', 'c': decimal commas."]
    """
    names: dict[str, list[str]] = {}
    for column in columns:
        names.setdefault(column.note, []).append(repr(column.name))
    return [
        f"{'Column' if len(of_note) == 1 else 'Columns'} {some_of(of_note)}: {note}."
        for note, of_note in names.items()
        if note
    ]


def named_sides(column: Column, values: Array) -> list[tuple[str, Array]]:
    """Return the numbers of a column with its name; of pairs, either number by itself.

    Examples
    --------
    >>> [(name, side.tolist()) for name, side in named_sides(Column("bp", "pair"), np.array([[123, 76], [110, 70]]))]
    [('bp (first)', [123, 110]), ('bp (second)', [76, 70])]
    """
    if column.kind != "pair":
        return [(column.name, values)]
    return [(f"{column.name} ({side})", each) for side, each in zip(SIDES, values.T, strict=True)]


def _is_empty(raw: pa.ChunkedArray) -> bool:
    return (texts(raw) if is_text(raw.type) else raw).null_count == len(raw)


def _whole(raw: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write codes that were stored with gaps, and so as 90210.0, as 90210."""
    if not pa.types.is_floating(raw.type):
        return raw
    known = raw.drop_null().to_numpy()
    return raw.cast(pa.int64(), safe=False) if np.isfinite(known).all() and (known == np.round(known)).all() else raw


@dataclass
class Schema:
    """The columns of a table, as they were understood when the model was trained."""

    columns: list[Column] = field(default_factory=list)

    @property
    def used(self) -> list[Column]:
        """Columns that models use."""
        return [c for c in self.columns if c.is_used]

    def to_json(self) -> list[dict[str, Any]]:
        """Plain data."""
        return [asdict(c) for c in self.columns]

    @classmethod
    def from_json(cls, records: list[dict[str, Any]]) -> Schema:
        """Return the schema that :meth:`to_json` wrote."""
        return cls([Column(**{"grouped": record.get("decimal") == ",", **record}) for record in records])

    def check(self, table: Table, target: str | None = None) -> list[str]:
        """Compare a new table with the training table before anything is predicted; return notes."""
        missing = [c.name for c in self.used if c.name not in table.names]
        if missing:
            alike = {name.lower(): name for name in table.names}
            others = [(name, alike[name.lower()]) for name in missing if name.lower() in alike]
            renamed = f", and write {others[0][0]!r}, not {others[0][1]!r}" if others else ""
            them = "it" if len(missing) == 1 else "them"
            raise DataError(
                f"{table.subject} lacks {len(missing)} of the {counted(len(self.used), 'column')} that the model was "
                f"trained on ({', '.join(missing[:5])}{', …' if len(missing) > 5 else ''}); add {them}, with empty "
                f"cells where a value is unknown{renamed}."
            )
        notes = [note for c in self.used if (note := c.check(table.columns[c.name]))]
        empty = [c.name for c in self.used if c.n_missing == 0 and _is_empty(table.columns[c.name])]
        if empty:
            notes.append(f"In training every row had a value in these columns, and here none has: {some_of(empty)}.")
        known = {*(c.name for c in self.columns), target}
        extra = [name for name in table.names if name not in known]
        return notes + ([f"Columns not known from training are ignored: {', '.join(extra[:8])}."] if extra else [])
