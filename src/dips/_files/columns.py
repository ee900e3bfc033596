"""What a column holds: numbers, categories, dates, free text, or nothing that a model can use."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dips._files.read import Table
from dips._files.values import dates, find_date_format, find_decimal, first_strange, is_number, is_text, numbers, texts
from dips.exceptions import DataError

KINDS = {
    "number": "numbers",
    "category": "categories",
    "date": "dates",
    "text": "free text",
    "id": "identifies the row; left out",
    "constant": "always the same; left out",
    "empty": "no values; left out",
    "unreadable": "lists or bytes; left out",
    "dropped": "left out, as asked",
}
USED = ("number", "category", "date", "text")
_MANY = 30  # distinct texts; fewer are categories, whatever they look like
_SHARE_DISTINCT_OF_IDS = 0.98
_WORDS_OF_TEXT = 3.5  # words in a cell on average
_NAMED_LIKE_AN_ID = re.compile(
    r"(^|[_\s.-])(id|uuid|guid|key|mrn|no|nr|number|index)$|^(id|uuid)[_\s.-]|[a-z]I[dD]$", re.I
)


@dataclass
class Column:
    """One column of the input.

    Attributes
    ----------
    name : as in the table, made distinct
    kind : one of ``KINDS``
    decimal : the decimal mark of numbers written as text
    date_format : of dates written as text; None where the file stores them as dates
    n_distinct, n_missing : counts over the rows that were read
    example : a value
    note : a remark for the user, often empty
    """

    name: str
    kind: str
    decimal: str = "."
    date_format: str | None = None
    n_distinct: int = 0
    n_missing: int = 0
    example: str = ""
    note: str = ""

    @property
    def is_used(self) -> bool:
        """Whether models use this column."""
        return self.kind in USED

    def values(self, raw: pa.ChunkedArray) -> Any:
        """Return the cells as floats, dates, or an arrow column of texts."""
        if self.kind == "number":
            return numbers(raw, self.decimal)
        if self.kind == "date":
            return dates(raw, self.date_format)
        return texts(raw)

    def check(self, raw: pa.ChunkedArray) -> str:
        """Refuse cells of a new table that are not of this column's kind; return a note where a few are not."""
        if self.kind not in ("number", "date"):
            if not (is_text(raw.type) or is_number(raw.type) or pa.types.is_boolean(raw.type) or raw.type == pa.null()):
                raise DataError(f"Column {self.name!r} held {KINDS[self.kind]} in training, but {raw.type} values now.")
            return ""
        is_native = not is_text(raw.type)
        if self.kind == "date" and is_native and not pa.types.is_temporal(raw.type) and raw.type != pa.null():
            raise DataError(f"Column {self.name!r} held dates in training, but {raw.type} values now; write dates.")
        if self.kind == "number" and is_native and not (is_number(raw.type) or pa.types.is_boolean(raw.type)):
            if raw.type != pa.null():
                raise DataError(f"Column {self.name!r} held numbers in training, but {raw.type} values now.")
            return ""
        return self._check_texts(raw) if is_text(raw.type) else ""

    def _check_texts(self, raw: pa.ChunkedArray) -> str:
        values = self.values(raw)
        is_read = np.isfinite(values) if self.kind == "number" else values.notna().to_numpy()
        strange = first_strange(raw, is_read)
        if strange is None:
            return ""
        (row, cell), n_there = strange, len(raw) - texts(raw).null_count
        if is_read.sum() < 0.5 * n_there:
            raise DataError(
                f"Column {self.name!r} held {KINDS[self.kind]} in training, but most cells are not {KINDS[self.kind]}, "
                f"such as {cell[:40]!r} in row {row}; write them as in training"
                + (f" ({self.date_format})." if self.date_format else ".")
            )
        unread = f"{n_there - is_read.sum():,} cells are not {KINDS[self.kind]}, such as {cell[:40]!r} in row {row}"
        return f"Column {self.name!r}: {unread}; read as missing."


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
        return cls([Column(**record) for record in records])

    def check(self, table: Table, target: str | None = None) -> list[str]:
        """Compare a new table with the training table before anything is predicted; return notes."""
        missing = [c.name for c in self.used if c.name not in table.names]
        if missing:
            raise DataError(
                f"{table.source} lacks {len(missing)} of the {len(self.used)} columns that the model was trained on "
                f"({', '.join(missing[:5])}{', …' if len(missing) > 5 else ''}); add them, with empty cells where "
                "a value is unknown."
            )
        notes = [note for c in self.used if (note := c.check(table.columns[c.name]))]
        known = {*(c.name for c in self.columns), target}
        extra = [name for name in table.names if name not in known]
        return notes + ([f"Columns not known from training are ignored: {', '.join(extra[:8])}."] if extra else [])


def understand(table: Table, drop: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> Schema:
    """Find out what every column holds; the user names `drop` and `ids`.

    Examples
    --------
    >>> import pandas as pd
    >>> from dips._files.read import read_table
    >>> table = read_table(pd.DataFrame({"age": ["50", "61"], "seen": ["2024-03-01", "2024-04-02"], "one": [1, 1]}))
    >>> [c.kind for c in understand(table).columns]
    ['number', 'date', 'constant']
    """
    columns = []
    for name in table.names:
        if name in drop:
            columns.append(Column(name, "dropped"))
        elif name in ids:
            columns.append(Column(name, "id"))
        else:
            columns.append(_understand(name, table.columns[name]))
    return Schema(columns)


def _understand(name: str, raw: pa.ChunkedArray) -> Column:
    n_missing = int(raw.null_count)
    if n_missing == len(raw):
        return Column(name, "empty", n_missing=n_missing)
    if is_text(raw.type) or pa.types.is_boolean(raw.type):
        return _understand_texts(name, texts(raw))
    column = Column(name, "unreadable", n_missing=n_missing)
    if is_number(raw.type):
        column.kind = "number"
    elif pa.types.is_timestamp(raw.type) or pa.types.is_date(raw.type):
        column.kind = "date"
    else:
        return column
    known = raw.drop_null()
    column.n_distinct, column.example = pc.count_distinct(known).as_py(), _shown(_example(known))
    if column.n_distinct == 1 and n_missing == 0:
        column.kind = "constant"
    elif pa.types.is_integer(raw.type) and _identifies(name, known, column.n_distinct):
        column.kind = "id"
    return column


def _understand_texts(name: str, cells: pa.ChunkedArray) -> Column:
    known = cells.drop_null()
    column = Column(name, "category", n_missing=int(cells.null_count))
    if len(known) == 0:
        column.kind = "empty"
        return column
    column.n_distinct, column.example = pc.count_distinct(known).as_py(), _shown(known[0].as_py())
    if column.n_distinct == 1 and column.n_missing == 0:
        column.kind = "constant"
    elif decimal := find_decimal(cells):
        column.kind, column.decimal = "number", decimal
        values = numbers(known, decimal)
        if strange := first_strange(known, np.isfinite(values)):
            n_strange = int((~np.isfinite(values)).sum())
            column.note = f"{n_strange} cells are not numbers, such as {strange[1][:30]!r}; read as missing"
        elif (values == np.round(values)).all() and _identifies(name, pa.array(values), column.n_distinct):
            column.kind = "id"
    elif date_format := find_date_format(cells):
        column.kind, column.date_format = "date", date_format
        column.note = f"read as {date_format}" if date_format != "ISO8601" else ""
    elif column.n_distinct > _MANY:
        n_words = pc.mean(pc.add(pc.count_substring(known, " "), 1)).as_py()
        if n_words >= _WORDS_OF_TEXT:
            column.kind = "text"
        elif column.n_distinct >= _SHARE_DISTINCT_OF_IDS * len(known) and n_words < 1.5:
            column.kind = "id"
    return column


def _identifies(name: str, known: Any, n_distinct: int) -> bool:
    """Whether whole numbers name their row: all distinct, and either named like an id or simply counting up."""
    if n_distinct < len(known) or n_distinct <= _MANY:
        return False
    steps = np.diff(np.asarray(known.to_numpy(), dtype=float))
    return bool(_NAMED_LIKE_AN_ID.search(name)) or bool((steps == 1).all())


def _example(known: pa.ChunkedArray) -> Any:
    try:
        return known[0].as_py()
    except (ValueError, OverflowError):  # a date beyond the year 9999, which Python has no value for
        return known.slice(0, 1).cast(pa.string())[0].as_py()


def _shown(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 40 else text[:39] + "…"
