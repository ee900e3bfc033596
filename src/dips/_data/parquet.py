"""A pool in Parquet files, which may be larger than memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dips._data.arrow import as_pandas, is_number, shape_like, vocabulary_table
from dips._data.pool import BATCH, NumberedPool, check_max_train_rows, concatenate_batches
from dips._tools.arrays import Rows
from dips._tools.checkpoints import output_file
from dips._tools.observer import Observer
from dips.exceptions import DataError, InputError


class ParquetPool(NumberedPool):
    """Rows of one Parquet file, or of all ``.parquet`` files in a folder in the order of their names.

    Pass it to ``fit`` as the unlabeled rows. They are read a batch at a time whenever a model has to see them; only
    those that a model is trained on are in memory at once.

    Parameters
    ----------
    path : file or folder
    columns : sequence of str, default=None
        The features, if the files have other columns too.
    stays : bool, default=False
        Keep no entry per row, for hundreds of millions of rows: ``samples_`` then holds only the labeled rows, and
        ``write_samples`` writes the account of the others. Only labelers and curators that work by rules can be used,
        as for Spark.
    max_train_rows : int, default=None
        With `stays`, the most rows of the pool that a model is trained on. If there are more, a sample of each class is
        drawn.
    checkpoint : path, default=None
        With `stays`, a file that keeps the models and rules after every round. If it exists because a run was killed,
        the next one continues after the last finished round, with the same result.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> folder = tempfile.mkdtemp()
    >>> pd.DataFrame({"age": [50, 61], "ward": ["b", "a"]}).to_parquet(f"{folder}/part-0.parquet")
    >>> pool = ParquetPool(folder)
    >>> pool.n_rows, pool.columns
    (2, ['age', 'ward'])
    """

    def __init__(
        self,
        path: str | Path,
        columns: Sequence[str] | None = None,
        *,
        stays: bool = False,
        max_train_rows: int | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.path, self.stays, self.max_train_rows = Path(path), stays, check_max_train_rows(max_train_rows)
        self.checkpoint = None if checkpoint is None else output_file("checkpoint", checkpoint)
        if not stays and (max_train_rows is not None or checkpoint is not None):
            raise InputError("max_train_rows and checkpoint are for rows that stay where they are; add stays=True.")
        self._files = [_File.at(file) for file in _files(self.path)]
        self.columns = _common_columns(self._files, columns)
        self.n_rows = sum(sum(file.group_sizes) for file in self._files)
        self.n_columns = len(self.columns)
        if self.n_rows == 0:
            raise InputError(f"{self.path} holds no rows; give a Parquet file or folder that does.")
        self._convert: Callable[[pa.Table], Any] = as_pandas
        self._transforms: tuple[Callable[[Any], Any], ...] = ()
        self._observer = Observer()

    def like(self, X: Any) -> ParquetPool:
        """Return the pool with its tables of the same kind and with the same columns as `X`."""
        pool = copy(self)
        hint = "ParquetPool(path, columns=[...]) reads only some."
        pool.columns, pool._convert = shape_like(X, self.columns, str(self.path), hint)
        return pool

    def take(self, rows: Rows) -> Any:
        """Read the given rows, in ascending order."""
        return concatenate_batches(self.batches(rows), rows.size)

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
        """Look at every batch once."""
        distinct: dict[str, pa.Array] = {}
        first: pa.Table | None = None
        for _, table in self._arrow_batches():
            first = table.slice(0, 1) if first is None else first
            for name in (n for n in self.columns if not is_number(table.schema.field(n).type)):
                values = table[name].combine_chunks()
                values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
                known = [distinct[name]] if name in distinct else []
                distinct[name] = pc.unique(pa.concat_arrays([*known, pc.unique(values)]))
        assert first is not None
        return self._convert(vocabulary_table(first, distinct))

    def fingerprint(self) -> str:
        """Hash the names of the files and their footers, which tell sizes, places and ranges of all columns."""
        digest = hashlib.sha256("|".join(self.columns).encode())
        for file in _files(self.path):
            digest.update(os.fsencode(file.relative_to(self.path)))
            digest.update(_footer(file))
        return f"{self.n_rows} rows {digest.hexdigest()[:16]}"

    def _arrow_batches(self, rows: Rows | None = None) -> Iterator[tuple[slice, pa.Table]]:
        end = 0
        for file in self._files:
            starts = [*accumulate(file.group_sizes, initial=end)]
            end = starts[-1]
            groups = list(range(len(file.group_sizes)))
            if rows is not None:
                bounds = np.searchsorted(rows, starts)
                groups = [g for g in groups if bounds[g] < bounds[g + 1]]
            if groups:
                yield from file.batches(groups, starts, self.columns, rows)


@dataclass(frozen=True)
class _File:
    """A file of the pool. It is opened for a pass and closed after it: an open one keeps the rows read last."""

    path: Path
    schema: pa.Schema
    group_sizes: tuple[int, ...]  # rows of each row group
    stamp: tuple[int, int]  # size and time of the last change

    @classmethod
    def at(cls, path: Path) -> _File:
        stamp = _stamp(path)
        try:
            with pq.ParquetFile(path) as file:
                sizes = tuple(file.metadata.row_group(g).num_rows for g in range(file.num_row_groups))
                return cls(path, file.schema_arrow, sizes, stamp)
        except pa.ArrowInvalid as error:
            raise InputError(f"{path} is not a complete Parquet file: {error}") from None

    def batches(
        self, groups: list[int], starts: list[int], columns: list[str], rows: Rows | None
    ) -> Iterator[tuple[slice, pa.Table]]:
        """Yield the given row groups, or the `rows` in them; group g begins with the row of number ``starts[g]``."""
        if not self.path.exists() or _stamp(self.path) != self.stamp:
            raise DataError(f"{self.path} is gone or was changed since the pool was made; make the pool and fit again.")
        with pq.ParquetFile(self.path) as file:
            for group in groups:
                at = starts[group]
                for batch in file.iter_batches(BATCH, row_groups=[group], columns=columns):
                    table = pa.Table.from_batches([batch]).select(columns)
                    if rows is None:
                        yield slice(at, at + table.num_rows), table
                    else:
                        first, last = (int(i) for i in np.searchsorted(rows, [at, at + table.num_rows]))
                        if first < last:
                            yield slice(first, last), table.take(pa.array(rows[first:last] - at))
                    at += table.num_rows


def _stamp(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise DataError(f"There is no {path}; give a Parquet file, or a folder of them.")
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise DataError(f"The folder {path} holds no .parquet file; name one that does.")
    return files


def _footer(path: Path) -> bytes:
    with path.open("rb") as stream:
        stream.seek(-8, os.SEEK_END)
        size = int.from_bytes(stream.read(4), "little")
        stream.seek(-8 - size, os.SEEK_END)
        return stream.read(size)


def _common_columns(files: list[_File], wanted: Sequence[str] | None) -> list[str]:
    """Columns to read, which every file must have with one and the same type."""
    schema = files[0].schema
    columns = list(schema.names if wanted is None else wanted)
    for file in files:
        missing = [c for c in columns if c not in file.schema.names]
        if missing:
            raise InputError(f"The Parquet files differ: {missing} is not in every one of them.")
        changed = [c for c in columns if file.schema.field(c).type != schema.field(c).type]
        if changed:
            raise InputError(f"The Parquet files differ: {changed} is not of the same type in every one of them.")
    return columns
