"""Reading tables: CSV and its relatives, Parquet, Feather, Excel, JSON lines, compressed or not, and SQLite.

Delimited text is read as text, whatever it looks like: what a column holds is decided in one place
(:mod:`dips._files.columns`), for all formats alike.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from dips._data.containers import is_frame
from dips._files.delimited import read_delimited
from dips._files.excel import read_sheet
from dips._files.footer import without_footer
from dips._files.json_lines import read_json_lines
from dips._files.limits import bounded, check_metadata, check_workbook
from dips._files.plain_types import with_plain_types
from dips._files.sqlite import SUFFIXES as _SQLITE
from dips._files.sqlite import address_of, is_address, read_sqlite
from dips._tools.files import expanded
from dips._tools.wording import reason_of, shortened, some_of
from dips.exceptions import DataError, InputTypeError

TABS = {".tsv", ".tab"}
TEXT = TABS | {".csv", ".txt", ".dat", ".data"}
EXCEL = {".xlsx", ".xlsm"}
PARQUET = {".parquet", ".pq"}
FEATHER = {".feather", ".arrow", ".ipc"}
JSON = {".jsonl", ".ndjson", ".json"}
_FRAME, _TABLE, SEVERAL_TABLES = "a data frame", "a table", "the tables"  # what has no path
_KNOWN = TEXT | EXCEL | PARQUET | FEATHER | JSON | {*_SQLITE}
_OPENERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": lambda path: pa.CompressedInputStream(pa.OSFile(str(path)), "zstd"),
    ".zip": lambda path: _only_member(path),
}


_DAMAGE = (
    pa.ArrowException,
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    OverflowError,
    NotImplementedError,  # a zip file compressed in a way of its own
    RuntimeError,  # one with a password
    RecursionError,
    SyntaxError,  # of XML
    csv.Error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass
class Table:
    """A table as it was read, with notes for the user."""

    columns: pa.Table
    source: str
    notes: list[str] = field(default_factory=list)

    @property
    def subject(self) -> str:
        """The source as a sentence begins with it; a path stays as it is.

        Examples
        --------
        >>> [read_table(pa.table({"age": [50]})).subject, Table(pa.table({"age": [50]}), "a.csv").subject]
        ['A table', 'a.csv']
        """
        return self.source.capitalize() if self.source in (_FRAME, _TABLE, SEVERAL_TABLES) else self.source

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.columns.num_rows

    @property
    def names(self) -> list[str]:
        """Columns, in order; no two are the same and none is empty."""
        return self.columns.column_names

    @contextmanager
    def notes_with_refusal(self) -> Iterator[None]:
        """Let an error that refuses the table carry its notes: a wrong guess may be the reason."""
        try:
            yield
        except DataError as error:
            for note in self.notes:
                error.add_note(note)
            raise


@dataclass(frozen=True)
class _How:
    """What is known about a file before it is read; see :func:`read_table`."""

    sheet: str | int | None
    skip_rows: int | None
    wanted: Collection[str]
    skip_below: int


def read_table(
    data: Any,
    sheet: str | int | None = None,
    skip_rows: int | None = None,
    wanted: Collection[str] = (),
    skip_below: int = 0,
    to_the_end: bool = False,
) -> Table:
    """Read a file by its path, or take a pandas, polars or pyarrow table.

    Parameters
    ----------
    data : path, address of a database's table, or a table
    sheet : of an Excel file, by name or by number from 1; None for the first that fits
    skip_rows : lines above the header; None finds out
    wanted : names of columns that must be there; they tell which sheet is meant, and which line is the header
    skip_below : rows right below the header of a text or Excel file that are no rows of the table, such as units
    to_the_end : every line is a row, also one that looks like a total

    Examples
    --------
    >>> import pandas as pd
    >>> read_table(pd.DataFrame({"age": [50, 61], "ward": ["a", None]})).names
    ['age', 'ward']
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, str | Path) and is_address(data):
        columns, notes = read_sqlite(str(data))
        table = Table(columns, str(data), notes)
    elif isinstance(data, str | Path):
        table = _read_file(expanded(data), _How(sheet, skip_rows, wanted, skip_below))
    elif isinstance(data, pa.Table):
        table = Table(data, _TABLE)
    elif is_frame(data):
        table = Table(_from_frame(data), _FRAME)
    else:
        raise InputTypeError(f"data must be a path, or a pandas, polars or pyarrow table; got a {type(data).__name__}.")
    table.columns, notes = with_distinct_names(with_plain_types(table.columns))
    table.notes += notes
    if isinstance(data, str | Path) and is_made_by_hand(Path(data)) and not to_the_end:
        table.columns, notes = without_footer(table.columns, table.source)
        table.notes += notes
    if table.n_rows == 0:
        remedy = f"leave out fewer below it than {skip_below:,}" if skip_below else "add some"
        raise DataError(f"{table.subject} has a header ({', '.join(table.names[:5])}) but no rows; {remedy}.")
    return table


def kind_of(path: Path) -> tuple[str, str]:
    """Return what a file's name says it is, such as ".csv", and how it is compressed, such as ".gz"."""
    compression = path.suffix.lower() if path.suffix.lower() in _OPENERS else ""
    return (Path(path.stem).suffix.lower() if compression else path.suffix.lower()), compression


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Say in one sentence what a library found wrong with a file."""
    try:
        yield
    except DataError:
        raise
    except _DAMAGE as error:
        kind = kind_of(path)[0].lstrip(".") or "text"
        raise DataError(f"{path} cannot be read as a {kind} file: {reason_of(error)}.") from error


def is_delimited(path: Path) -> bool:
    """Whether a file's name says that it holds delimited text; a compressed file without another ending does."""
    kind, compression = kind_of(path)
    return kind in TEXT or bool(compression and not kind)


def is_made_by_hand(path: Path) -> bool:
    """Whether a file's name says that it has a header, which people may write above and below of."""
    return is_delimited(path) or kind_of(path)[0] in EXCEL


def is_table(path: Path) -> bool:
    """Whether a file's name says that it holds a table."""
    return kind_of(path)[0] in _KNOWN or is_delimited(path)


def _pattern_in(folder: Path) -> Path:
    """A pattern that matches the tables in a folder, or in its subfolders."""
    tables = (path for path in folder.rglob("*") if is_table(path) and not path.name.startswith("."))
    first = next(tables, folder / "table.csv")
    return folder / ("" if first.parent == folder else "**") / f"*{''.join(kind_of(first))}"


def _read_file(path: Path, how: _How) -> Table:
    _refuse_impossible(path)
    if path.is_dir():
        raise DataError(
            f"{path} is a folder; name files in it, for example '{_pattern_in(path)}', or learn from images in it with "
            "dips.fit_images."
        )
    if not path.exists():
        near = sorted(p.name for p in path.parent.glob(f"{path.stem[:3]}*")) if path.parent.is_dir() else []
        raise DataError(f"There is no file {path}{'; did you mean ' + near[0] + '?' if near else '.'}")
    if not path.is_file():
        raise DataError(
            f"{path} is not a plain file, perhaps a pipe; a table is read more than once, so save it first."
        )
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty; a table with a header line is needed.")
    kind, compression = kind_of(path)
    with damage_named(path):
        if kind in PARQUET:
            described = pa.parquet.read_metadata(_source(path, compression))
            check_metadata(path, described.num_rows, described.num_columns)
            return Table(_sound(pa.parquet.read_table(_source(path, compression))), str(path))
        if kind in FEATHER:
            return Table(_sound(pa.feather.read_table(_source(path, compression))), str(path))
        if kind in EXCEL:
            check_workbook(path, _source(path, compression))
            return _read_excel(path, _source(path, compression), how)
        if kind in JSON:
            return Table(read_json_lines(partial(open_bytes, path, compression), path), str(path))
        if kind in _SQLITE and not compression:
            columns, notes = read_sqlite(address_of(path))
            return Table(columns, str(path), notes)
        if is_delimited(path):
            opened = partial(open_bytes, path, compression)
            return Table(*read_delimited(opened, str(path), kind in TABS, how.skip_rows, how.wanted, how.skip_below))
    known = ", ".join(sorted(s.lstrip(".") for s in _KNOWN))
    ending = f"ends in {path.suffix!r}, which does not name" if path.suffix else "has no ending that names"
    raise DataError(
        f"{path} {ending} a known format; save the table as CSV or Parquet. If it is of a known format, rename it to "
        f"end in one of {known} (.gz, .bz2, .xz, .zst and .zip may follow)."
    )


def open_bytes(path: Path, compression: str) -> BinaryIO:
    """Open a file to read what it holds, unpacked."""
    if not compression:
        return path.open("rb")
    return bounded(cast(BinaryIO, _OPENERS[compression](path)), path)


def _sound(columns: pa.Table) -> pa.Table:
    """Refuse columns whose offsets lead outside of them: arrow takes a file's word for it, and follows them blindly."""
    columns.validate(full=True)
    return columns


def _refuse_impossible(path: Path) -> None:
    """Refuse a name that the system cannot look for, or that no record can hold."""
    try:
        path.exists()
        str(path).encode()
    except UnicodeEncodeError:
        raise DataError(f"The name {str(path)!r} is not valid UTF-8; rename the file.") from None
    except OSError as error:
        raise DataError(f"{shortened(path)} cannot be read: {error.strerror}.") from error


def _source(path: Path, compression: str) -> Any:
    """Formats that are read from their end need a plain file."""
    return pa.BufferReader(open_bytes(path, compression).read()) if compression else str(path)


def _only_member(path: Path) -> Any:
    archive = zipfile.ZipFile(path)
    members = [m for m in archive.namelist() if not m.endswith("/") and not m.startswith("__MACOSX")]
    if len(members) != 1:
        raise DataError(f"{path} holds {len(members)} files, not one; unpack it and name them.")
    return archive.open(members[0])


def _read_excel(path: Path, source: Any, how: _How) -> Table:
    sheet = read_sheet(path, source, how.sheet, how.skip_rows, how.wanted, how.skip_below)
    columns = [_from_series(values) for values in sheet.columns]
    return Table(pa.table(columns, names=sheet.header), str(path), sheet.notes)


def _from_frame(frame: Any) -> pa.Table:
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    columns = [_from_series(frame.iloc[:, j]) for j in range(frame.shape[1])]
    return pa.table(columns, names=[str(name) for name in frame.columns])


def _from_series(series: Any) -> pa.Array:
    """A column of mixed types becomes text."""
    try:
        array = pa.Array.from_pandas(series)
    except pa.ArrowNotImplementedError:
        raise DataError(
            f"Column {str(series.name)!r} holds {series.dtype} values; write them as numbers, texts or dates, or leave "
            "the column out of the table."
        ) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        array = pa.array([None if _is_missing(v) else str(v) for v in series], pa.string())
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array


def _is_missing(value: Any) -> bool:
    return value is None or value != value  # NaN and NaT differ from themselves


def with_distinct_names(columns: pa.Table) -> tuple[pa.Table, list[str]]:
    """Name what has no name, and tell apart what has the same; of two, one without blanks around it keeps its name."""
    written = [str(name) for name in columns.column_names]
    names, notes = [name.strip() for name in written], []
    distinct: dict[int, str] = {}
    taken: set[str] = set()
    for at in sorted(range(len(names)), key=lambda j: names[j] != written[j]):
        name = called = names[at] or f"column_{at + 1}"
        for n in count(2):
            if called not in taken:
                break
            called = f"{name}.{n}"
        distinct[at] = called
        taken.add(called)
    empty = [called for at, called in sorted(distinct.items()) if not names[at]]
    repeated = [called for at, called in sorted(distinct.items()) if names[at] not in ("", called)]
    if empty:
        notes.append(f"{_columns_have(empty)} no name in the header; called {some_of(empty, 5)}.")
    if repeated:
        notes.append(f"{_columns_have(repeated)} the name of another; called {some_of(repeated, 5)}.")
    return columns.rename_columns([distinct[at] for at in range(len(names))]), notes


def _columns_have(names: list[str]) -> str:
    return "One column has" if len(names) == 1 else f"{len(names)} columns have"
