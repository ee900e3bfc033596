"""Excel: which sheet, and which of its rows names the columns.

Read row by row: what a sheet says of its own size is not believed, and whoever reads stops where a limit is reached.
"""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from dips._files.limits import CellCount
from dips._files.merged import fill, merged_cells
from dips._files.preamble import find_header, preamble_note, unnamed_note
from dips._tools.wording import option, some_of
from dips.exceptions import DataError

_ROWS_LOOKED_AT = 60


@dataclass(frozen=True)
class Sheet:
    """One sheet of a file.

    Attributes
    ----------
    name : of the sheet
    header : names of the columns
    columns : values below them
    n_above : rows above them
    notes : what was guessed
    """

    name: str
    header: list[str]
    columns: list[list[Any]]
    n_above: int
    notes: list[str]


def read_sheet(
    path: Path,
    source: Any,
    sheet: str | int | None,
    skip_rows: int | None,
    wanted: Collection[str],
    skip_below: int = 0,
) -> Sheet:
    """Read the sheet that is named, or the first that fits; see :func:`~dips._files.read.read_table`."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise DataError(
            f'{path} is an Excel file, which needs openpyxl: pip install "dips-ssl[excel]", or save it as CSV.'
        ) from None
    book = None
    try:
        book = openpyxl.load_workbook(source, read_only=True, data_only=True, keep_links=False)
        sheets = {str(worksheet.title): worksheet for worksheet in book.worksheets}
        names = list(sheets)
        name = _first_that_fits(path, sheets, wanted) if sheet is None else _named(sheet, names, path)
        rows = list(_rows(sheets[name], CellCount(path)))
        with sheets[name]._get_source() as xml:  # what openpyxl reads row by row, it does not search for merged cells
            merged = merged_cells(xml)
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} cannot be read as an Excel file: {str(error).rstrip('.')}.") from error
    finally:
        if book is not None:
            book.close()
    notes = []
    if not any(rows):
        raise DataError(f"The sheet {name!r} of {path} is empty; choose one of {', '.join(map(repr, names))}.")
    if len(names) > 1 and sheet is None:
        why = "the first" if name == names[0] else "the first that fits"
        others = option("sheet", next(n for n in names if n != name))
        notes.append(f"{path} has {len(names)} sheets; {why}, {name!r}, is read. {others} reads another.")
    n_columns = max(map(len, rows))
    top = _texts(rows[:_ROWS_LOOKED_AT], n_columns)
    n_above = find_header(top, wanted) if skip_rows is None else min(skip_rows, len(rows) - 1)
    if n_above and skip_rows is None:
        title = next((cell for row in top for cell in row if cell), "")
        notes.append(preamble_note(f"{path}", n_above, title, option("skip_rows")))
    header = _texts(rows[n_above : n_above + 1], n_columns)[0]
    notes += filter(None, [unnamed_note(f"{path}", header)])
    n_top = n_above + 1 + skip_below
    below = rows[n_top:]
    filled = fill(below, [replace(m, first=m.first - n_top, last=m.last - n_top) for m in merged], path)
    notes += [_about_merged([header[j] for j in sorted(filled)])] if filled else []
    columns = [[row[j] if j < len(row) else None for row in below] for j in range(n_columns)]
    return Sheet(name, header, columns, n_above, notes)


def _about_merged(names: list[str]) -> str:
    return f"Cells that are merged over several rows count for each of these rows: {some_of(map(repr, names))}."


def _named(sheet: str | int, names: list[str], path: Any) -> str:
    if str(sheet) in names:
        return str(sheet)
    if str(sheet).isdigit() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise DataError(f"{path} has no sheet {str(sheet)!r}; choose one of {', '.join(map(repr, names))}.")


def _first_that_fits(path: Path, sheets: dict[str, Any], wanted: Collection[str]) -> str:
    """Return the sheet whose first rows hold the wanted names, else the first that holds a table."""
    if not sheets:
        raise DataError(f"{path} has no sheet of cells; save the table as one.")
    cells, first, is_table = CellCount(path), next(iter(sheets)), False
    for name, sheet in sheets.items():
        rows = list(islice(_rows(sheet, cells), _ROWS_LOOKED_AT))
        if _holds(rows, wanted):
            return name
        if not is_table and len(rows) > 1:
            first, is_table = name, True
    return first


def _rows(sheet: Any, cells: CellCount) -> Iterator[list[Any]]:
    """Return the values of the rows up to the last that holds any, each up to its last value."""
    sheet.reset_dimensions()
    n_empty = 0
    for row in sheet.rows:
        values = [_value(cell) for cell in row]
        while values and values[-1] is None:
            values.pop()
        cells.add(values)
        if not values:
            n_empty += 1
            continue
        yield from ([] for _ in range(n_empty))
        n_empty = 0
        yield values


def _value(cell: Any) -> Any:
    """Return what a cell holds: nothing if it is an error, and a whole number where Excel has no more than a float."""
    value = None if cell.data_type == "e" else cell.value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _holds(rows: list[list[Any]], wanted: Collection[str]) -> bool:
    if not wanted:
        return len(rows) > 1
    return any(set(wanted) & {_text(cell).strip() for cell in row} for row in rows)


def _texts(rows: list[list[Any]], n_columns: int) -> list[list[str]]:
    return [[_text(cell) for cell in row] + [""] * (n_columns - len(row)) for row in rows]


def _text(cell: Any) -> str:
    return "" if cell is None or cell != cell else str(cell)
