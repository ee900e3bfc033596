"""Excel: which sheet, and which of its rows names the columns."""

from __future__ import annotations

import zipfile
from collections.abc import Collection
from typing import Any

import numpy as np

from dips._files.preamble import find_header, preamble_note
from dips._tools.wording import option
from dips.exceptions import DataError

_ROWS_LOOKED_AT = 60


def read_sheet(
    path: Any, source: Any, sheet: str | int | None, skip_rows: int | None, wanted: Collection[str]
) -> tuple[list[str], Any, list[str]]:
    """Return the header, a pandas frame of the rows below it, and notes."""
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
            frames = {}
            for name in [_named(sheet, names, path)] if sheet is not None else names:
                frames[name] = pd.read_excel(book, sheet_name=name, header=None, dtype=object)
                if sheet is None and _holds(frames[name], wanted) and not frames[name].empty:
                    break  # later sheets need not be read
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} cannot be read as an Excel file: {str(error).rstrip('.')}.") from error
    name = _chosen(frames, wanted)
    frame, notes = frames[name], []
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
    return header, frame.iloc[n_above + 1 :].reset_index(drop=True), notes


def _named(sheet: str | int, names: list[str], path: Any) -> str:
    if str(sheet) in names:
        return str(sheet)
    if str(sheet).isdigit() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise DataError(f"{path} has no sheet {str(sheet)!r}; there are {', '.join(map(repr, names))}.")


def _chosen(frames: dict[str, Any], wanted: Collection[str]) -> str:
    """Return the sheet that holds the wanted names, else the first that holds a table."""
    for name, frame in frames.items():
        if wanted and _holds(frame, wanted):
            return name
    return next((name for name, frame in frames.items() if len(frame) > 1), next(iter(frames)))


def _holds(frame: Any, wanted: Collection[str]) -> bool:
    return any(set(wanted) & {cell.strip() for cell in row} for row in _texts(frame)) if wanted else len(frame) > 1


def _texts(frame: Any) -> list[list[str]]:
    return [[_text(cell) for cell in row] for row in np.asarray(frame.head(_ROWS_LOOKED_AT), dtype=object)]


def _text(cell: Any) -> str:
    return "" if cell is None or cell != cell else str(cell)
