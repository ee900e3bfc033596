"""Results as files: Parquet, and CSV and Excel whose cells a spreadsheet cannot run as formulas."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pandas as pd

from dips._tools.files import write_whole
from dips.exceptions import OutputError

_EXCEL_ROWS = 1_048_575  # and a header
_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\n")


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a data frame as CSV, Parquet or Excel, according to the suffix; a failure leaves no partial file."""
    kind = path.suffix.lower()
    if kind == ".csv":
        content = to_csv(frame).encode("utf-8")
    elif kind in (".parquet", ".pq"):
        buffer = io.BytesIO()
        _uniform(frame).to_parquet(buffer, index=False)
        content = buffer.getvalue()
    elif kind == ".xlsx":
        content = _to_excel(frame, path)
    else:
        raise OutputError(f"{path} ends in {kind or 'nothing'!r}; results are written as .csv, .parquet or .xlsx.")
    write_whole(path, content)


def _to_excel(frame: pd.DataFrame, path: Path) -> bytes:
    if len(frame) > _EXCEL_ROWS:
        raise OutputError(f"{path} cannot hold {len(frame):,} rows, because Excel ends at {_EXCEL_ROWS:,}; write .csv.")
    plain = _defused(frame)
    for name, column in plain.items():
        if isinstance(column.dtype, pd.DatetimeTZDtype):
            plain[name] = column.dt.tz_localize(None)  # Excel knows no time zones
    buffer = io.BytesIO()
    try:
        plain.to_excel(buffer, index=False, engine="openpyxl")
    except ModuleNotFoundError as error:
        raise OutputError(f'{path} needs openpyxl: pip install "dips-ssl[excel]", or write .csv.') from error
    return buffer.getvalue()


def to_csv(frame: pd.DataFrame) -> str:
    """Comma-separated text; cells that a spreadsheet would run as a formula get an apostrophe in front.

    Examples
    --------
    >>> print(to_csv(pd.DataFrame({"name": ["=1+1", "-5"], "n": [-5, 2]})), end="")
    name,n
    '=1+1,-5
    -5,2
    """
    return _defused(frame).to_csv(index=False, lineterminator="\n")


def _defused(frame: pd.DataFrame) -> pd.DataFrame:
    defused = frame.rename(columns=defused_cell)
    for name, column in defused.items():
        if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
            defused[name] = column.astype(object).map(defused_cell)
    return defused


def defused_cell(value: Any) -> Any:
    """Put an apostrophe before a text that begins like a formula; numbers stay as they are.

    A lone carriage return becomes a line feed: many readers start a new line there, and only line feeds are quoted.
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
    """Make each column of objects one type, as Parquet demands: numbers if all are, otherwise text."""
    columns = {}
    for name, column in frame.items():
        if column.dtype == object:
            inferred = column.infer_objects().convert_dtypes()
            column = inferred if inferred.dtype != object else column.map(lambda v: v if pd.isna(v) else str(v))
        columns[name] = column
    return pd.DataFrame(columns)
