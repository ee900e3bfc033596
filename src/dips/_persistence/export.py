"""Results as files: CSV that a spreadsheet shows and never runs, and Parquet."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pandas as pd

from dips._tools.files import write_whole
from dips.exceptions import OutputError

_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\n")


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a data frame as CSV or Parquet, by the ending of the name, whole or not at all."""
    kind = path.suffix.lower()
    if kind == ".csv":
        content = to_csv(frame).encode("utf-8")
    elif kind in (".parquet", ".pq"):
        buffer = io.BytesIO()
        _uniform(frame).to_parquet(buffer, index=False)
        content = buffer.getvalue()
    else:
        raise OutputError(f"{path} ends in {kind or 'nothing'!r}; results are written as .csv or .parquet.")
    write_whole(path, content)


def to_csv(frame: pd.DataFrame) -> str:
    """Comma-separated text; cells that a spreadsheet would run as a formula get an apostrophe in front.

    Examples
    --------
    >>> print(to_csv(pd.DataFrame({"name": ["=1+1", "-5"], "n": [-5, 2]})), end="")
    name,n
    '=1+1,-5
    -5,2
    """
    defused = frame.rename(columns=defused_cell)
    for name, column in defused.items():
        if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
            defused[name] = column.astype(object).map(defused_cell)
    return defused.to_csv(index=False, lineterminator="\n")


def defused_cell(value: Any) -> Any:
    """Put an apostrophe before a text that begins as a formula does; numbers stay.

    A lone carriage return, which is not quoted and yet begins a line for many readers, becomes a line feed, which is.
    """
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    if not text.startswith(_STARTS_A_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def _uniform(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns of objects, which Parquet takes only of one type, as numbers where all are and else as text."""
    columns = {}
    for name, column in frame.items():
        if column.dtype == object:
            inferred = column.infer_objects().convert_dtypes()
            column = inferred if inferred.dtype != object else column.map(lambda v: v if pd.isna(v) else str(v))
        columns[name] = column
    return pd.DataFrame(columns)
