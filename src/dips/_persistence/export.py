"""Results as files: Parquet, and CSV and Excel whose cells a spreadsheet cannot run as formulas."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pandas as pd

from dips._tools.files import write_whole
from dips.exceptions import OutputError

_NOT_IN_EXCEL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # control characters, which no cell can hold
_KINDS = (".csv", ".parquet", ".pq", ".xlsx")
_EXCEL_ROWS = 1_048_575  # and a header
_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\n")


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a data frame as CSV, Parquet or Excel, according to the suffix; a failure leaves no partial file."""
    check_kind(path)
    kind = path.suffix.lower()
    if kind == ".csv":
        content = to_csv(frame).encode("utf-8")
    elif kind in (".parquet", ".pq"):
        buffer = io.BytesIO()
        _uniform(frame).to_parquet(buffer, index=False)
        content = buffer.getvalue()
    else:
        content = _to_excel(frame, path)
    write_whole(path, content)


def check_kind(path: Path) -> None:
    """Refuse a name whose ending says nothing; best before the work."""
    if path.suffix.lower() not in _KINDS:
        ending = f"ends in {path.suffix!r}" if path.suffix else "has no ending"
        raise OutputError(f"{path} {ending}; results are written as .csv, .parquet or .xlsx.")


def _to_excel(frame: pd.DataFrame, path: Path) -> bytes:
    if len(frame) > _EXCEL_ROWS:
        raise OutputError(f"{path} cannot hold {len(frame):,} rows, because Excel ends at {_EXCEL_ROWS:,}; write .csv.")
    plain = _defused_frame(frame)
    for name, column in plain.items():
        if isinstance(column.dtype, pd.DatetimeTZDtype):
            plain[name] = column.dt.tz_localize(None)  # Excel knows no time zones
        elif column.dtype == object:
            plain[name] = column.map(lambda v: _NOT_IN_EXCEL.sub("", v) if isinstance(v, str) else v)
    plain.columns = pd.Index([_NOT_IN_EXCEL.sub("", str(name)) for name in plain.columns])
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
    return _defused_frame(frame).to_csv(index=False, lineterminator="\n")


def _defused_frame(frame: pd.DataFrame) -> pd.DataFrame:
    headers = [defused_cell(name) for name in frame.columns]
    if len(set(headers)) < len(headers):
        raise OutputError(f"Two columns would both be called {_twice(headers)!r}; give them other names.")
    columns = [frame.iloc[:, j] for j in range(frame.shape[1])]
    defused = {name: _defused(column) for name, column in zip(headers, columns, strict=True)}
    return pd.DataFrame(defused, columns=headers, index=frame.index)


def _defused(column: pd.Series) -> pd.Series:
    """Whatever the type of the column: a text may be a category, or lie among numbers."""
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column
    return pd.Series([defused_cell(value) for value in column.astype(object)], index=column.index, dtype=object)


def _twice(names: list[Any]) -> Any:
    return next(name for name in names if names.count(name) > 1)


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
        if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) == "integer":
            column = pd.Series(_whole_numbers(column), index=column.index)
        elif column.dtype == object:
            inferred = column.infer_objects().convert_dtypes()
            column = inferred if inferred.dtype != object else column.map(lambda v: v if pd.isna(v) else str(v))
        columns[name] = column
    return pd.DataFrame(columns)


def _whole_numbers(column: pd.Series) -> Any:
    """Keep every digit: pandas itself would go through floats where there are gaps."""
    values = [None if pd.isna(v) else int(v) for v in column]
    known = [v for v in values if v is not None]
    if min(known) < -(2**63) or max(known) >= 2**64 or (min(known) < 0 and max(known) >= 2**63):
        return [None if v is None else str(v) for v in values]
    return pd.array(values, dtype="UInt64" if max(known) >= 2**63 else "Int64")
