"""Excel: which sheet, and which of its rows names the columns."""

from __future__ import annotations

import zipfile
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from dips._files.preamble import find_header, preamble_note
from dips._tools.wording import option
from dips.exceptions import DataError

_ROWS_LOOKED_AT = 60


@dataclass(frozen=True)
class Sheet:
    """One sheet of a file.

    Attributes
    ----------
    name : of the sheet
    header : names of the columns
    rows : a pandas frame of what is below them
    n_above : rows above them
    notes : what was guessed
    """

    name: str
    header: list[str]
    rows: Any
    n_above: int
    notes: list[str]


def read_sheet(
    path: Any, source: Any, sheet: str | int | None, skip_rows: int | None, wanted: Collection[str]
) -> Sheet:
    """Read the sheet that is named, or the first that fits; see :func:`~dips._files.read.read_table`."""
    try:
        import openpyxl  # noqa: F401  (pandas reads with it)
    except ModuleNotFoundError:
        raise DataError(
            f'{path} is an Excel file, which needs openpyxl: pip install "dips-ssl[excel]", or save it as CSV.'
        ) from None
    import pandas as pd

    try:
        with pd.ExcelFile(source, engine="openpyxl") as book:
            names = [str(name) for name in book.sheet_names]
            asked = names if sheet is None else [_named(sheet, names, path)]
            name, frame = _first_that_fits(book, asked, wanted)
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} cannot be read as an Excel file: {str(error).rstrip('.')}.") from error
    notes = []
    if frame.empty:
        raise DataError(f"The sheet {name!r} of {path} is empty; there are {', '.join(map(repr, names))}.")
    if len(names) > 1 and sheet is None:
        why = "the first" if name == names[0] else "the first that fits"
        others = option("sheet", next(n for n in names if n != name))
        notes.append(f"{path} has {len(names)} sheets; {why}, {name!r}, is read. {others} reads another.")
    n_above = find_header(_texts(frame), wanted) if skip_rows is None else min(skip_rows, len(frame) - 1)
    if n_above and skip_rows is None:
        title = next((cell for row in _texts(frame) for cell in row if cell), "")
        notes.append(preamble_note(f"{path}", n_above, title, option("skip_rows")))
    header = [_text(cell) for cell in frame.iloc[n_above]]
    return Sheet(name, header, frame.iloc[n_above + 1 :].reset_index(drop=True), n_above, notes)


def _named(sheet: str | int, names: list[str], path: Any) -> str:
    if str(sheet) in names:
        return str(sheet)
    if str(sheet).isdigit() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise DataError(f"{path} has no sheet {str(sheet)!r}; there are {', '.join(map(repr, names))}.")


def _first_that_fits(book: Any, names: list[str], wanted: Collection[str]) -> tuple[str, Any]:
    """Return the sheet that holds the wanted names, else the first that holds a table; at most two are in memory."""
    import pandas as pd

    first: tuple[str, Any] | None = None
    for name in names:
        frame = pd.read_excel(book, sheet_name=name, header=None, dtype=object)
        if _holds(frame, wanted):
            return name, frame  # later sheets need not be read
        if first is None or len(first[1]) <= 1 < len(frame):
            first = name, frame
    assert first is not None  # a workbook has a sheet
    return first


def _holds(frame: Any, wanted: Collection[str]) -> bool:
    return any(set(wanted) & {cell.strip() for cell in row} for row in _texts(frame)) if wanted else len(frame) > 1


def _texts(frame: Any) -> list[list[str]]:
    return [[_text(cell) for cell in row] for row in np.asarray(frame.head(_ROWS_LOOKED_AT), dtype=object)]


def _text(cell: Any) -> str:
    return "" if cell is None or cell != cell else str(cell)
