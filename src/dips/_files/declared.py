"""A column as the user says it is: ``zip=category``, ``seen=date:month-first``, ``price=number:comma``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from dips._files.censored import about_limits
from dips._files.columns import DECLARED, Column
from dips._files.dates import dates, find_date_format, is_date_format, swapped
from dips._files.decimals import about_doubt
from dips._files.numbers import (
    NumberStyle,
    about_unit,
    find_number_style,
    find_unit,
    is_ambiguous,
    likeliest_style,
    numbers,
)
from dips._files.pairs import pair_unit, pairs
from dips._files.values import first_strange, is_number, is_text, is_time, texts, unread
from dips._tools.wording import option
from dips.exceptions import DataError, SettingsError

KINDS_TO_DECLARE = ("category", "number", "pair", "date", "text", "id", "ignore")
_HOW = {"number": ("comma", "point"), "date": ("day-first", "month-first")}


def read_types(types: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    """Return kinds by column, from a mapping or from texts such as ``zip=category``.

    Examples
    --------
    >>> read_types(["zip=category", "seen=date:month-first"])
    {'zip': 'category', 'seen': 'date:month-first'}
    """
    as_given: dict[str, str] = {}
    if isinstance(types, Mapping):
        by_column = dict(types)
    else:
        as_given = {pair.rpartition("=")[0]: pair for pair in ([types] if isinstance(types, str) else types)}
        by_column = {column: pair.rpartition("=")[2] for column, pair in as_given.items()}
    for column, declared in by_column.items():
        kind, _, how = str(declared).partition(":")
        is_form = kind == "date" and "%" in how and is_date_format(how)
        if not column or kind not in KINDS_TO_DECLARE or not (not how or how in _HOW.get(kind, ()) or is_form):
            given = option("type", as_given.get(column, (column, declared)))
            raise SettingsError(
                f"{given} is not understood; write COLUMN={'|'.join(KINDS_TO_DECLARE)}. "
                "A number may be number:comma or number:point; a date may be date:day-first, date:month-first or "
                "date:%d.%m.%Y."
            )
    return by_column


def declared_column(name: str, raw: pa.ChunkedArray, declared: str) -> Column:
    """Read a column as it was declared; refuse a kind that no cell can be read as."""
    kind, _, how = declared.partition(":")
    column = Column(name, "dropped" if kind == "ignore" else kind, n_missing=int(raw.null_count), note=DECLARED)
    known = raw.drop_null()
    if kind in ("ignore", "id"):
        return column
    if len(known) == 0:
        column.kind = "empty"
        return column
    column.describe(known)
    if kind == "number" and is_time(raw.type):
        column.decimal = ":"
    elif kind == "number" and is_text(raw.type):
        _read_as_numbers(column, texts(raw), how)
    elif kind == "pair":
        _read_as_pairs(column, texts(raw))
    elif kind == "date" and (is_text(raw.type) or is_number(raw.type)):
        _read_as_dates(column, texts(raw), how)
    elif kind == "date" and not pa.types.is_temporal(raw.type):
        raise DataError(f"Column {name!r} is declared as dates, but its values are {raw.type}.")
    return column


def _read_as_numbers(column: Column, cells: pa.ChunkedArray, how: str) -> None:
    if how:
        style = NumberStyle("," if how == "comma" else ".", grouped=True, unit=find_unit(cells))
    else:
        style = find_number_style(cells) or likeliest_style(cells)
    column.decimal, column.grouped, column.unit = style.decimal, style.grouped, style.unit
    is_read = np.isfinite(numbers(cells, style))
    read = cells.filter(pa.array(is_read))
    doubt = about_doubt(column, read, style) if not how and is_ambiguous(read, style) else ""
    in_unit = about_unit(read, style.unit) if style.unit else ""
    _say_unread(column, cells, is_read, "numbers", "; ".join(filter(None, [in_unit, doubt])))


def _read_as_pairs(column: Column, cells: pa.ChunkedArray) -> None:
    column.unit = pair_unit(cells.drop_null())
    is_read = np.isfinite(pairs(cells, column.unit)[:, 0])
    _say_unread(column, cells, is_read, "pairs of numbers, such as 123/76")


def _read_as_dates(column: Column, cells: pa.ChunkedArray, how: str) -> None:
    date_format = how if "%" in how else find_date_format(cells)
    if date_format is None:
        raise DataError(
            f"Column {column.name!r} is declared as dates, but the format of cells such as {column.example!r} is not "
            f"known; name it, as in {column.name}=date:%d.%m.%Y."
        )
    if how.endswith("-first") and not date_format.startswith(f"%{how[0]}"):
        date_format = swapped(date_format) or date_format
    column.date_format = date_format
    _say_unread(column, cells, dates(cells, date_format).notna().to_numpy(), "dates")


def _say_unread(column: Column, cells: pa.ChunkedArray, is_read: np.ndarray, what: str, doubt: str = "") -> None:
    strange = first_strange(cells, is_read)
    if not is_read.any():
        such = "" if strange is None else f" (row {strange[0]} has {strange[1][:40]!r})"
        raise DataError(f"Column {column.name!r} is declared as {what}, but holds none{such}; declare another type.")
    said = [about_limits(cells, is_read), doubt] if column.kind == "number" else []
    if strange is not None:
        said.append(unread(len(cells) - cells.null_count - int(is_read.sum()), column.kind, strange[1]))
    column.note = "; ".join(filter(None, [DECLARED, *said]))
