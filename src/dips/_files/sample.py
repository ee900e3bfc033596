"""A look at a large file: the whole label column, and a sample of the rows in all columns."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from dips._files.delimited import find_dialect, iterate_delimited
from dips._files.limits import check_metadata
from dips._files.plain_types import with_plain_types
from dips._files.read import (
    PARQUET,
    TABS,
    Table,
    damage_named,
    is_delimited,
    kind_of,
    open_bytes,
    read_table,
    with_distinct_names,
)
from dips._files.sqlite import is_address
from dips._tools.arrays import Array
from dips._tools.files import expanded

_LARGE_FILE = 50_000_000  # bytes
_SAMPLE = 20_000  # rows


@dataclass(frozen=True)
class TableSample:
    """Some rows of a table.

    Attributes
    ----------
    table : the sample, in the order of the file
    labels : the label column of all rows, where there is such a column
    rows : (m,) which rows the sample has
    n_rows : of the file
    """

    table: Table
    labels: Table | None
    rows: Array
    n_rows: int

    @property
    def is_whole(self) -> bool:
        """Whether the sample is the table."""
        return self.table.n_rows == self.n_rows


def look_at(
    data: Any,
    target: str | None = None,
    sheet: str | int | None = None,
    skip_rows: int | None = None,
    wanted: Collection[str] = (),
    seed: int = 0,
    skip_below: int = 0,
) -> TableSample:
    """Read a table, or of a large file every n-th row by chance; see :func:`~dips._files.read.read_table`."""
    if _is_large(data):
        with damage_named(Path(data)):
            batches = _batches(data, skip_rows, wanted, skip_below)
            if batches is not None:
                return _sampled(*batches, target, np.random.RandomState(seed))
    return whole(read_table(data, sheet, skip_rows, wanted, skip_below), target)


def whole(table: Table, target: str | None) -> TableSample:
    """Return all rows of a table as its sample."""
    labels = Table(table.columns.select([target]), table.source) if target in table.names else None
    return TableSample(table, labels, np.arange(table.n_rows), table.n_rows)


def _is_large(data: Any) -> bool:
    if not isinstance(data, str | Path) or is_address(data):
        return False
    path = os.path.expanduser(data)
    return os.path.isfile(path) and os.path.getsize(path) > _LARGE_FILE


def _batches(
    data: Any, skip_rows: int | None, wanted: Collection[str], skip_below: int
) -> tuple[Iterator[Any], int, str, list[str]] | None:
    """Return the batches of a large file, about how many rows there are, its name and notes; None where it has none."""
    path = expanded(data)
    if path.suffix.lower() in PARQUET:
        file = pa.parquet.ParquetFile(path)
        check_metadata(path, file.metadata.num_rows, file.metadata.num_columns)
        return file.iter_batches(), file.metadata.num_rows, str(path), []
    if not is_delimited(path):
        return None
    kind, compression = kind_of(path)
    opened = partial(open_bytes, path, compression)
    dialect = find_dialect(opened, str(path), kind in TABS, skip_rows, wanted)
    with opened() as stream:
        head = stream.read(1 << 20)
    n_about = int(path.stat().st_size * max(1, head.count(b"\n")) / max(1, len(head)))
    batches = _without_first(iterate_delimited(opened, dialect, str(path)), skip_below)
    return batches, n_about, str(path), dialect.notes


def _without_first(batches: Iterator[Any], n: int) -> Iterator[Any]:
    for batch in batches:
        yield batch.slice(n)
        n = max(0, n - batch.num_rows)


def _sampled(
    batches: Iterator[Any], n_about: int, source: str, notes: list[str], target: str | None, rng: np.random.RandomState
) -> TableSample:
    parts: list[pa.Table] = []
    share, labels, rows, n_rows = min(1.0, _SAMPLE / n_about), [], [], 0
    position = None
    for batch in batches:
        batch.validate(full=True)  # arrow takes a file's word for it, and follows offsets blindly
        named, notes_of_names = with_distinct_names(with_plain_types(pa.Table.from_batches([batch])))
        if not parts:
            notes = [*notes, *notes_of_names]
            position = named.column_names.index(target) if target in named.column_names else None
        kept = np.flatnonzero(rng.random_sample(batch.num_rows) < share)
        parts.append(named.take(pa.array(kept)))
        rows.append(n_rows + kept)
        if position is not None:
            labels.append(named.column(position))
        n_rows += batch.num_rows
    sample = Table(pa.concat_tables(parts), source, notes)
    if position is None or target is None:
        return TableSample(sample, None, np.concatenate(rows), n_rows)
    column = pa.chunked_array([chunk for part in labels for chunk in part.chunks])
    return TableSample(sample, Table(pa.table([column], names=[target]), source), np.concatenate(rows), n_rows)
