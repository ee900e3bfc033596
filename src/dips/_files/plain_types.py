"""Columns of types that most functions of Arrow do not take, as columns of plain types with the same values."""

from __future__ import annotations

import uuid

import pyarrow as pa
import pyarrow.compute as pc

from dips._files.periods import beginnings, length_of_periods
from dips._files.values import is_text

_DAYS_OF_PYTHON = (-719_162, 2_932_896)  # from 1970, to the first of the year 1 and the last of 9999


def with_plain_types(columns: pa.Table) -> pa.Table:
    """Return the table with texts, numbers, dates and bytes as such; categories that are texts stay categories.

    Dates that Python has no value for become times, which pandas has; periods become the times when they begin.

    Examples
    --------
    >>> with_plain_types(pa.table({"n": pa.array([3, 1, 3]).dictionary_encode(), "m": pa.array([0, 1, 2])})).schema
    n: int64
    m: int64
    """
    for at, field in enumerate(columns.schema):
        plain = _plain_column(columns.column(at), field)
        if plain.type != field.type:
            columns = columns.set_column(at, field.name, plain)
    return columns


def _plain_column(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    if length := length_of_periods(field):
        return beginnings(column, field.name, length)
    chunks = [_plain(chunk) for chunk in column.chunks]
    if chunks and chunks[0].type != field.type:
        column = pa.chunked_array(chunks, chunks[0].type)
    return column.cast(pa.timestamp("s")) if _has_far_dates(column) else column


def _has_far_dates(column: pa.ChunkedArray) -> bool:
    if not pa.types.is_date(column.type):
        return False
    days = pc.min_max(column.cast(pa.date32()).cast(pa.int32()))
    first, last = days["min"].as_py(), days["max"].as_py()
    return first is not None and (first < _DAYS_OF_PYTHON[0] or last > _DAYS_OF_PYTHON[1])


def _plain(array: pa.Array) -> pa.Array:
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _of_extension(array, kind.extension_name)
    if pa.types.is_run_end_encoded(kind):
        return _plain(pc.run_end_decode(array))
    if pa.types.is_dictionary(kind):
        values = _plain(array.dictionary)
        if is_text(values.type):
            changed = values.type != array.dictionary.type
            return pa.DictionaryArray.from_arrays(array.indices, values) if changed else array
        return values.take(array.indices)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return _cast(array, pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary())
    return array


def _of_extension(array: pa.Array, name: str) -> pa.Array:
    """What is stored; UUIDs become texts, and booleans of a byte each booleans."""
    if name == "arrow.uuid":
        texts = [None if value is None else str(uuid.UUID(bytes=value)) for value in array.storage.to_pylist()]
        return pa.array(texts, pa.string())
    return array.storage.cast(pa.bool_()) if name == "arrow.bool8" else _plain(array.storage)


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    try:
        return array.cast(kind)
    except pa.ArrowNotImplementedError:  # by older versions
        return pa.array(array.to_pylist(), kind)
