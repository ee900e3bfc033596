"""Tables of SQLite databases, by address: ``sqlite:///visits.db?table=patients``. The file is opened read-only."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pyarrow as pa

from dips._files.limits import check_metadata, most_times
from dips._tools.files import expanded
from dips._tools.wording import shortened, some_of
from dips.exceptions import DataError

SUFFIXES = (".db", ".sqlite", ".sqlite3")
_BATCH = 50_000
_LONGEST = 1 << 26  # bytes of a cell
_STEPS, _STEPS_ALWAYS_FINE = 1_000_000, 200_000_000  # of SQLite's machine; a second or two, and a row takes dozens
_SCHEME = "sqlite:"


def is_address(data: Any) -> bool:
    """Whether a text names a table of a database."""
    return str(data).startswith(_SCHEME)


def file_of(address: str) -> Path:
    """Return the database file.

    Examples
    --------
    >>> file_of("sqlite:///visits.db?table=patients").as_posix(), file_of("sqlite:////srv/visits.db").as_posix()
    ('visits.db', '/srv/visits.db')
    """
    try:
        return expanded(unquote(urlsplit(address).path).removeprefix("/"))
    except ValueError as error:
        raise DataError(f"{address} is not the address of a table ({error}); use sqlite:///FILE?table=NAME.") from error


def address_of(path: Path) -> str:
    """Return the address of a database that has one table."""
    return f"sqlite:///{quote(str(path))}"


def read_sqlite(address: str) -> tuple[pa.Table, list[str]]:
    """Return the table that the address names, and notes; the only table of a database needs no name."""
    path = file_of(address)
    asked = parse_qs(urlsplit(address).query).get("table", [None])[0]
    try:
        if not path.is_file():
            raise DataError(f"There is no database {path}; write sqlite:///FILE?table=NAME.")
        with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")  # a view of a file from elsewhere calls no function
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            database.set_progress_handler(_Work(path).goes_on, _STEPS)
            name = _table_name(database, asked, path)
            return _read(database, name, path), [] if asked else [f"{path} has one table, {name!r}, which is read."]
    except DataError:
        raise
    except (sqlite3.Error, OSError, ValueError, TypeError, OverflowError) as error:
        reason = "it is far more work than its size suggests" if _is_interrupted(error) else error
        raise DataError(f"{shortened(path)} cannot be read as a SQLite database: {reason}.") from error


class _Work:
    """Counts what a query does: a view can compute without end, and give no row meanwhile."""

    def __init__(self, path: Path) -> None:
        self._n_left = max(_STEPS_ALWAYS_FINE, 10 * most_times() * path.stat().st_size) // _STEPS

    def goes_on(self) -> int:
        """Return 0, or 1 to end the query."""
        self._n_left -= 1
        return int(self._n_left < 0)


def _is_interrupted(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT


def _table_name(database: sqlite3.Connection, asked: str | None, path: Path) -> str:
    rows = database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
    names = [name for (name,) in rows if not name.startswith("sqlite_")]
    if asked is not None and asked in names:
        return asked
    if asked is None and len(names) == 1:
        return names[0]
    missing = "which table?" if asked is None else f"there is no table {asked!r}."
    raise DataError(
        f"{path}: {missing} It has {some_of(names) or 'none'}; write sqlite:///{path}?table="
        f"{names[0] if names else 'NAME'}."
    )


def _read(database: sqlite3.Connection, name: str, path: Path) -> pa.Table:
    quoted = name.replace('"', '""')
    rows = database.execute(f'SELECT * FROM "{quoted}"')  # a name that the database itself gave
    header = [column[0] for column in rows.description]
    batches, n_rows = [], 0
    while batch := rows.fetchmany(_BATCH):
        n_rows += len(batch)
        check_metadata(path, n_rows, len(header))  # a view can make rows without end of nothing
        batches.append([list(column) for column in zip(*batch, strict=True)])
    columns = [_column([v for batch in batches for v in batch[j]]) for j in range(len(header))]
    return pa.table(columns, names=header)


def _column(values: list[Any]) -> pa.Array:
    """SQLite checks no types: a column of several becomes text."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if v is None else str(v) for v in values], pa.string())
