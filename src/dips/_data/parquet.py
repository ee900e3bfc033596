"""A pool in Parquet files, which may be larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dips._data.containers import is_frame, library, names_of
from dips._data.pool import BATCH, Pool, together
from dips._tools.arrays import Array, Rows
from dips._tools.observer import Observer
from dips.exceptions import InputError


class ParquetPool(Pool):
    """Rows of one Parquet file, or of all ``.parquet`` files in a folder in the order of their names.

    Hand it to ``fit`` as the unlabeled rows: they are read a batch at a time whenever a model has to see them, and only
    those that are trained on are ever in memory together.

    Parameters
    ----------
    path : file or folder
    columns : sequence of str, default=None
        The features, where the files hold more than these.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> folder = tempfile.mkdtemp()
    >>> pd.DataFrame({"age": [50, 61], "ward": ["b", "a"]}).to_parquet(f"{folder}/part-0.parquet")
    >>> pool = ParquetPool(folder)
    >>> pool.n_rows, pool.columns
    (2, ['age', 'ward'])
    """

    def __init__(self, path: str | Path, columns: Sequence[str] | None = None) -> None:
        self.path = Path(path)
        files = [_opened(file) for file in _files(self.path)]
        self.columns = _common_columns(files, columns)
        sizes = [(file, g, file.metadata.row_group(g).num_rows) for file in files for g in range(file.num_row_groups)]
        starts = accumulate((size for *_, size in sizes), initial=0)
        self._groups = [(file, g, start, size) for (file, g, size), start in zip(sizes, starts, strict=False)]
        self.n_rows = sum(size for *_, size in sizes)
        self.n_columns = len(self.columns)
        if self.n_rows == 0:
            raise InputError(f"{self.path} holds no rows; give a Parquet file or folder that does.")
        self._convert: Callable[[pa.Table], Any] = _as_pandas
        self._transforms: tuple[Callable[[Any], Any], ...] = ()
        self._observer = Observer()

    def like(self, X: Any) -> ParquetPool:
        """Return the pool with its tables of the same kind and with the same columns as `X`."""
        pool = copy(self)
        if is_frame(X):
            differing = sorted(map(str, set(names_of(X)) ^ set(self.columns)))
            if differing:
                raise InputError(
                    f"Labeled and unlabeled rows must have the same columns; they differ in {differing}. "
                    "ParquetPool(path, columns=[...]) reads only some."
                )
            pool.columns = names_of(X)
            pool._convert = _as_polars if library(X) == "polars" else _as_pandas
        else:
            shape = np.shape(X)
            if len(shape) != 2 or shape[1] != self.n_columns:
                raise InputError(
                    "Labeled and unlabeled rows must have the same columns; got labeled rows of shape "
                    f"{shape} and {self.n_columns} columns in {self.path}."
                )
            pool._convert = _as_array
        return pool

    def take(self, rows: Rows) -> Any:
        """Read the given rows, in ascending order."""
        return together(self.batches(rows), rows.size)

    def batches(self, rows: Rows | None = None) -> Iterator[tuple[slice, Any]]:
        """Read the files from front to back, leaving out row groups of which no row is wanted."""
        for place, table in self._arrow_batches(rows):
            X = self._convert(table)
            for transform in self._transforms:
                X = transform(X)
            yield place, X
            self._observer.on_rows(place.stop, self.n_rows if rows is None else rows.size)

    def observed(self, observer: Observer) -> ParquetPool:
        """Return the pool that tells the observer after every batch how many rows of the pass are done."""
        pool = copy(self)
        pool._observer = observer
        return pool

    def transformed(self, transform: Callable[[Any], Any]) -> ParquetPool:
        """Apply the function whenever a batch is read."""
        pool = copy(self)
        pool._transforms = (*self._transforms, transform)
        return pool

    def vocabulary(self) -> Any:
        """Return a small table in which every text and category of the pool occurs, and a number in columns of numbers.

        What must be known of a whole table before its rows can be encoded batch by batch.
        """
        found: dict[str, pa.Array] = {}
        first: pa.Table | None = None
        for _, table in self._arrow_batches():
            first = table.slice(0, 1) if first is None else first
            for name in (n for n in self.columns if not _is_number(table.schema.field(n).type)):
                values = table[name].combine_chunks()
                values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
                distinct = pc.unique(values)
                found[name] = pc.unique(pa.concat_arrays([found[name], distinct])) if name in found else distinct
        assert first is not None
        size = max((len(values) for values in found.values()), default=1)
        numbers = first.take(pa.array([0] * size))
        columns = {name: _padded(found[name], size) if name in found else numbers[name] for name in self.columns}
        return self._convert(pa.table(columns))

    def _arrow_batches(self, rows: Rows | None = None) -> Iterator[tuple[slice, pa.Table]]:
        for file, group, start, size in self._groups:
            if rows is not None:
                first, last = (int(i) for i in np.searchsorted(rows, [start, start + size]))
                if first == last:
                    continue
            at = start
            for batch in file.iter_batches(BATCH, row_groups=[group], columns=self.columns):
                table = pa.Table.from_batches([batch]).select(self.columns)
                if rows is None:
                    yield slice(at, at + table.num_rows), table
                else:
                    first, last = (int(i) for i in np.searchsorted(rows, [at, at + table.num_rows]))
                    if first < last:
                        yield slice(first, last), table.take(pa.array(rows[first:last] - at))
                at += table.num_rows


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise FileNotFoundError(f"There is no {path}; give a Parquet file, or a folder of them.")
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise FileNotFoundError(f"The folder {path} holds no .parquet file.")
    return files


def _opened(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise InputError(f"{path} is no whole Parquet file: {error}") from None


def _common_columns(files: list[pq.ParquetFile], wanted: Sequence[str] | None) -> list[str]:
    """Columns to read, which every file must have with one and the same type."""
    schema = files[0].schema_arrow
    columns = list(schema.names if wanted is None else wanted)
    for file in files:
        missing = [c for c in columns if c not in file.schema_arrow.names]
        if missing:
            raise InputError(f"The Parquet files differ: {missing} is not in every one of them.")
        changed = [c for c in columns if file.schema_arrow.field(c).type != schema.field(c).type]
        if changed:
            raise InputError(f"The Parquet files differ: {changed} is not of the same type in every one of them.")
    return columns


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _padded(values: pa.Array, size: int) -> pa.Array:
    return pa.concat_arrays([values, pa.nulls(size - len(values), values.type)])


def _as_pandas(table: pa.Table) -> Any:
    return table.to_pandas()


def _as_polars(table: pa.Table) -> Any:
    import polars as pl

    return pl.from_arrow(table)


def _as_array(table: pa.Table) -> Array:
    return np.column_stack([column.to_numpy() for column in table.columns])
