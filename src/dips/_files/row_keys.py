"""Columns that name a row: as texts, and found again where another program has written them in its own way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dips._files.read import Table
from dips._files.values import is_bytes, texts

_STARTS_A_FORMULA = ("=", "+", "-", "@")
_NUMERAL, _DAY = re.compile(r"-?[0-9]+(\.[0-9]+)?"), re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WITH_ZEROS = re.compile(r"-?0[0-9]+(\.[0-9]+)?")
_FIRST_TOO_LARGE = 2.0**63  # for a whole number of 64 bits
_BOOLEANS = {"TRUE": "true", "True": "true", "FALSE": "false", "False": "false"}


class KeyedRows:
    """The rows of a table by their keys, for lines that name some of them.

    A spreadsheet leaves 7 of the key 007. So where one row has 007 and another 7, the 7 of a line may be either, unless
    other lines show that their zeros were kept.

    Parameters
    ----------
    keys : the key of every row
    wanted : the key on every line
    """

    def __init__(self, keys: Iterable[Sequence[str | None]], wanted: Sequence[Sequence[str | None]]) -> None:
        self.keys = list(keys)
        self._places: dict[tuple[str | None, ...], list[int]] = {loose: [] for key in wanted for loose in _meant(key)}
        for row, key in enumerate(self.keys):
            if (loose := _loosely(key)) in self._places:
                self._places[loose].append(row)
        self._keeps_zeros = any(_WITH_ZEROS.fullmatch(cell) for key in wanted for cell in key if cell is not None)

    def may_be(self, row: int, key: Sequence[str | None]) -> bool:
        """Whether the key of a line may be that of this row."""
        return 0 <= row < len(self.keys) and _loosely(self.keys[row]) in _meant(key)

    def find(self, key: Sequence[str | None]) -> list[int]:
        """Positions of the rows that the key of a line may name."""
        alike = sorted(row for loose in _meant(key) for row in self._places[loose])
        for form in _forms_of_key(key):
            exact = [row for row in alike if self.keys[row] == form]
            if exact:
                return exact if self._keeps_zeros else alike
        return alike


def key_columns(
    table: Table, names: Sequence[str] | None = None, keep: tuple[str, ...] = ()
) -> dict[str, list[str | None]]:
    """Columns as texts, a whole number without its decimals: files write the same key in several ways.

    Words for "missing" are missing, except those in `keep`. Lists, records and bytes are no keys.
    """
    columns = {}
    for name in table.names if names is None else names:
        column = table.columns[name]
        if not (pa.types.is_nested(column.type) or is_bytes(column.type)):
            columns[name] = texts(_written(column), keep).to_pylist()
    return columns


def _written(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers, dates and categories as CSV files have them."""
    kind = column.type
    if pa.types.is_floating(kind):
        column = column.cast(pa.float32()) if pa.types.is_float16(kind) else column
        column = pc.if_else(pc.is_nan(column), None, column)
        values = column.cast(pa.float64())
        are_whole = pc.and_(pc.equal(values, pc.round(values)), pc.less(pc.abs(values), _FIRST_TOO_LARGE))
        return column.cast(pa.int64()) if pc.all(are_whole, skip_nulls=True).as_py() else column
    if pa.types.is_decimal(kind):
        cells = column.cast(pa.string())
        are_whole = pc.match_substring_regex(cells, r"^-?\d+(\.0+)?$")
        all_whole = pc.all(are_whole, skip_nulls=True).as_py()
        return pc.replace_substring_regex(cells, r"\.0+$", "") if all_whole else cells
    if pa.types.is_temporal(kind):
        cells = pc.replace_substring_regex(column.cast(pa.string()), r"\.0+(Z|[+-]\d{4})?$", r"\1")
        if pa.types.is_duration(kind) or pc.any(pc.starts_with(cells, "<")).as_py():  # a time beyond the year 32767
            return pa.chunked_array([[None if pd.isna(v) else str(v) for v in column.to_pandas()]], pa.string())
        return cells
    return column.cast(pa.string()) if pa.types.is_dictionary(kind) else column


def written_forms(cell: str) -> list[str]:
    """How a text may be meant: as it is, without an apostrophe that keeps spreadsheets from running it, or whole.

    Spreadsheets write True as TRUE.
    """
    forms = [cell, cell.capitalize(), cell.lower()] if cell in ("TRUE", "FALSE") else [cell]
    if cell.startswith("'") and cell[1:].startswith(_STARTS_A_FORMULA):
        forms.append(cell[1:])
    if cell.endswith(".0"):
        forms.append(cell[:-2])
    return forms


def _forms_of_key(key: Sequence[str | None]) -> list[tuple[str | None, ...]]:
    bare = tuple(cell if cell is None else written_forms(cell)[-1] for cell in key)
    return [tuple(key), bare]


def _meant(key: Sequence[str | None]) -> set[tuple[str | None, ...]]:
    return {_loosely(form) for form in _forms_of_key(key)}


def _loosely(key: Sequence[str | None]) -> tuple[str | None, ...]:
    return tuple(cell if cell is None else _loose(cell) for cell in key)


def _loose(cell: str) -> str:
    """A cell without what files and spreadsheets write in several ways.

    Examples
    --------
    >>> [_loose(cell) for cell in ("007", "1.50", "2024-03-01T00:00", "2024-03-01 04:00:00+02:00", "TRUE", "p7")]
    ['7', '1.5', '2024-03-01', '2024-03-01 02:00:00+00:00', 'true', 'p7']
    """
    if not cell[-1:].isdecimal():
        return _BOOLEANS.get(cell, cell if cell[-1:] != "Z" else _moment(cell))
    if _NUMERAL.fullmatch(cell):
        sign, digits = ("-", cell[1:]) if cell[0] == "-" else ("", cell)
        whole, _, fraction = digits.partition(".")
        return f"{sign}{whole.lstrip('0') or '0'}.{fraction.rstrip('0')}".removesuffix(".")
    return _moment(cell)


def _moment(cell: str) -> str:
    """A day, or a day and a time, in one way; other texts stay as they are."""
    if not _DAY.match(cell):
        return cell.removesuffix(" 00:00:00")  # of a duration
    try:
        moment = datetime.fromisoformat(cell)
    except ValueError:
        return cell
    moment = moment if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.isoformat(" ").removesuffix(" 00:00:00")


def in_words(key: Sequence[str | None]) -> str:
    return ", ".join(map(str, key))
