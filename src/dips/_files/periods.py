"""Periods, as pandas has them: a month, a quarter. They are read as the time when each begins."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa

from dips.exceptions import DataError

_NAME = "pandas.period"
_MISSING = np.iinfo(np.int64).min  # pandas' NaT


def length_of_periods(field: pa.Field) -> str | None:
    """Return how long the periods of a column are, as pandas writes it; None where it holds no periods."""
    if isinstance(field.type, pa.BaseExtensionType):
        return str(field.type.freq) if field.type.extension_name == _NAME else None
    described = field.metadata or {}  # of a file, in a process that has not had to do with periods
    if described.get(b"ARROW:extension:name") != _NAME.encode() or not pa.types.is_int64(field.type):
        return None
    try:
        return str(json.loads(described[b"ARROW:extension:metadata"])["freq"])
    except (LookupError, TypeError, ValueError):
        return "?"


def beginnings(column: pa.ChunkedArray, name: str, length: str) -> pa.ChunkedArray:
    """Return when the periods of a column begin."""
    chunks = [chunk.storage if isinstance(chunk, pa.ExtensionArray) else chunk for chunk in column.chunks]
    ordinals = pa.chunked_array(chunks, pa.int64()).fill_null(_MISSING).to_numpy()
    try:
        periods = pd.PeriodIndex(pd.arrays.PeriodArray(ordinals, dtype=pd.PeriodDtype(length)))
    except (TypeError, ValueError):
        raise DataError(
            f"Column {name!r} holds periods of {length!r}, which pandas does not know; write dates."
        ) from None
    begin = periods.asfreq("us", how="S").asi8  # as dates, those after 2262 would be refused
    return pa.chunked_array([pa.array(begin, mask=begin == _MISSING).cast(pa.timestamp("us"))])
