"""The rows of a fit, wherever they are: in memory, in Parquet files, on Spark, or partly in each.

The rows of a :class:`Pool` are not brought here: functions of ``(row numbers, table)`` are sent to where they are, and
only small results come back. :meth:`Pool.reduce` adds up, :meth:`Pool.select` and :meth:`Pool.sample` fetch the rows
that a model is trained on, :meth:`Pool.write` writes one line per row to files. Reductions combine exactly and in any
order (counts, minima, maxima), so that a result does not depend on how the rows are split.

A :class:`NumberedPool` has rows 0..n-1, few enough that a fit may keep some numbers for each. It can also be asked for
rows by number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dips._data.containers import concatenate, n_rows, stack, take
from dips._data.hashing import lowest_hashes
from dips._tools.arrays import Array, Rows
from dips.exceptions import InputError, OutputError

BATCH = 131_072  # rows

Reduced: TypeAlias = dict[str, Array]
"""A small result over many rows: arrays by name."""


class Pool(ABC):
    """Rows of a table, each with a number of its own."""

    n_rows: int
    n_columns: int  # 0 where there are none: texts, images
    stays: bool = False  # whether the rows stay where they are: no entry per row is kept for them
    max_train_rows: int | None = None  # of those that stay, how many a model is trained on
    n_threads: int = 1  # that a function may use where the rows lie
    checkpoint: Path | None = None  # where a run over rows that stay keeps its state after every round

    @property
    @abstractmethod
    def row_range(self) -> tuple[int, int]:
        """The lowest and the highest row number."""

    @abstractmethod
    def reduce(
        self, function: Callable[[Rows, Any], Reduced], combine: Callable[[Reduced, Reduced], Reduced]
    ) -> Reduced:
        """Apply a function to every part of the rows, and combine the results, in any order."""

    @abstractmethod
    def select(self, choose: Callable[[Rows, Any], tuple[Array, Reduced]]) -> Iterator[tuple[Rows, Reduced, Any]]:
        """Yield the rows that a function chooses, part by part: their numbers, what it said of them, and the table.

        The function returns a mask of the rows it is shown, and named columns with an entry for each of them.
        """

    @abstractmethod
    def sample(self, n: int, seed: int) -> tuple[Rows, Any]:
        """Return n rows, ascending, and the table of them: those whose numbers have the lowest hashes."""

    @abstractmethod
    def write(self, function: Callable[[Rows, Any], dict[str, Any]], schema: pa.Schema, path: str) -> None:
        """Write what a function says of every row, columns by name, to a new folder of Parquet files."""

    @abstractmethod
    def vocabulary(self) -> Any:
        """Return a small table in which every text and category of the pool occurs, and a number in columns of numbers.

        What must be known of a whole table before its rows can be encoded part by part.
        """

    @abstractmethod
    def transformed(self, transform: Callable[[Any], Any]) -> Pool:
        """Return the same rows with a function applied to every table of them."""

    def fingerprint(self) -> str:
        """Return a text that other rows would not have; only pools whose rows stay have one."""
        raise NotImplementedError

    @abstractmethod
    def refuse_changes(self) -> None:
        """Refuse rows that have changed since they were first read."""


class NumberedPool(Pool):
    """Rows 0..n-1 of a table."""

    @abstractmethod
    def take(self, rows: Rows) -> Any:
        """Return a table of the given rows, in their order."""

    @abstractmethod
    def batches(self, rows: Rows | None = None) -> Iterator[tuple[slice, Any]]:
        """Yield all rows, or the given ascending ones, in parts; each part comes with its place among them."""

    @abstractmethod
    def transformed(self, transform: Callable[[Any], Any]) -> NumberedPool:
        """Return the same rows with a function applied to every table of them."""

    @property
    def row_range(self) -> tuple[int, int]:
        """From 0 to n - 1."""
        return 0, self.n_rows - 1

    def map(self, function: Callable[[Any], Array], rows: Rows | None = None) -> Array:
        """Apply a function to all or the given rows, a batch at a time; return its results in single precision."""
        n = self.n_rows if rows is None else rows.size
        results: Array | None = None
        for place, table in self.batches(rows):
            part = function(table)
            if results is None:
                results = np.empty((n, *part.shape[1:]), dtype=np.float32)
            results[place] = part
        assert results is not None
        return results

    def reduce(
        self, function: Callable[[Rows, Any], Reduced], combine: Callable[[Reduced, Reduced], Reduced]
    ) -> Reduced:
        """Apply the function to one batch after another."""
        return reduce(combine, (function(rows, table) for rows, table in self._parts()))

    def select(self, choose: Callable[[Rows, Any], tuple[Array, Reduced]]) -> Iterator[tuple[Rows, Reduced, Any]]:
        """Ask for one batch after another."""
        for rows, table in self._parts():
            chosen, said = choose(rows, table)
            if chosen.any():
                at = np.flatnonzero(chosen)
                yield rows[at], {name: values[at] for name, values in said.items()}, take(table, at)

    def sample(self, n: int, seed: int) -> tuple[Rows, Any]:
        """Hash the numbers of all rows."""
        rows = lowest_hashes(np.arange(self.n_rows), n, seed)
        return rows, self.take(rows)

    def write(self, function: Callable[[Rows, Any], dict[str, Any]], schema: pa.Schema, path: str) -> None:
        """Write one file."""
        folder = Path(path)
        if folder.exists():
            raise OutputError(f"{folder} exists already; choose another name, or remove it.")
        folder.mkdir(parents=True)
        with pq.ParquetWriter(folder / "part-0.parquet", schema) as writer:
            for rows, table in self._parts():
                writer.write_table(pa.table(function(rows, table), schema=schema))

    def refuse_changes(self) -> None:
        """Do nothing: memory does not change, and files are compared whenever they are read."""

    def _parts(self) -> Iterator[tuple[Rows, Any]]:
        """Yield every batch with the numbers of its rows."""
        for place, table in self.batches():
            yield np.arange(*place.indices(self.n_rows)), table


def check_max_train_rows(n: int | None) -> int | None:
    """Return the most rows to train on; refuse a number that leaves none."""
    if n is not None and n < 1:
        raise InputError(f"max_train_rows must be at least 1; got {n!r}.")
    return n


class TablePool(NumberedPool):
    """A table in memory; rows are copied only to train on them."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.n_rows = n_rows(X)
        shape: tuple[int, ...] = getattr(X, "shape", ())
        self.n_columns = shape[1] if len(shape) == 2 else 0

    def take(self, rows: Rows) -> Any:
        """Index the table."""
        return take(self.X, rows)

    def batches(self, rows: Rows | None = None) -> Iterator[tuple[slice, Any]]:
        """Yield the table as it is, or copies of a few of its rows at a time."""
        if rows is None:
            yield slice(None), self.X
            return
        for start in range(0, rows.size, BATCH):
            yield slice(start, start + BATCH), take(self.X, rows[start : start + BATCH])

    def transformed(self, transform: Callable[[Any], Any]) -> NumberedPool:
        """Apply the function at once."""
        return TablePool(transform(self.X))

    def vocabulary(self) -> Any:
        """Return the table itself, which is in memory anyway."""
        return self.X


class StackedPool(NumberedPool):
    """Pools one after another."""

    def __init__(self, parts: Sequence[NumberedPool]) -> None:
        self.parts = parts
        self.n_rows = sum(part.n_rows for part in parts)
        self.n_columns = parts[0].n_columns

    def take(self, rows: Rows) -> Any:
        """Take from each part, and put the rows back in order if they were not ascending."""
        is_ascending = bool((rows[1:] >= rows[:-1]).all())
        order = rows if is_ascending else np.sort(rows)
        table = concatenate_batches(self.batches(order), order.size)
        return table if is_ascending else take(table, np.searchsorted(order, rows))

    def batches(self, rows: Rows | None = None) -> Iterator[tuple[slice, Any]]:
        """Yield the batches of each part."""
        parts = self._whole() if rows is None else self._places(rows)
        for part, place, start in parts:
            of_part = None if rows is None else rows[place] - start
            for inner, table in part.batches(of_part):
                first, last, _ = inner.indices(place.stop - place.start)
                yield slice(place.start + first, place.start + last), table

    def transformed(self, transform: Callable[[Any], Any]) -> NumberedPool:
        """Apply the function to each part."""
        return StackedPool([part.transformed(transform) for part in self.parts])

    def vocabulary(self) -> Any:
        """Put those of the parts one above the other."""
        return reduce(stack, (part.vocabulary() for part in self.parts))

    def _whole(self) -> Iterator[tuple[NumberedPool, slice, int]]:
        start = 0
        for part in self.parts:
            yield part, slice(start, start + part.n_rows), start
            start += part.n_rows

    def _places(self, rows: Rows) -> Iterator[tuple[NumberedPool, slice, int]]:
        """Yield the parts that have some of the ascending rows, where these are among all, and the part's first row."""
        for part, whole, start in self._whole():
            first, last = np.searchsorted(rows, [whole.start, whole.stop])
            if first < last:
                yield part, slice(int(first), int(last)), start


def concatenate_batches(batches: Iterator[tuple[slice, Any]], n: int) -> Any:
    """Return the n rows of all batches as one table; arrays are filled in place, so that there is no second copy."""
    tables: list[Any] = []
    whole: Array | None = None
    for place, table in batches:
        if not isinstance(table, np.ndarray):
            tables.append(table)
            continue
        if whole is None:
            whole = np.empty((n, *table.shape[1:]), dtype=table.dtype)
        elif not np.can_cast(table.dtype, whole.dtype):  # one part in single precision, another in double
            whole = whole.astype(np.result_type(table, whole))
        whole[place] = table
    return concatenate(tables) if whole is None else whole


def in_order(tables: list[Any], order: Rows) -> Any:
    """Return the rows of all tables in another order as one table; of arrays there is never a second copy."""
    if not all(isinstance(table, np.ndarray) for table in tables):
        return take(concatenate(tables), order)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    ends = np.cumsum([table.shape[0] for table in tables])
    whole = np.empty((order.size, *tables[0].shape[1:]), dtype=np.result_type(*tables))
    while tables:
        table = tables.pop()
        whole[place[ends[len(tables)] - table.shape[0] : ends[len(tables)]]] = table
    return whole


def as_pool(X: Any) -> NumberedPool:
    """Return a pool of the rows of any table, or the pool itself."""
    return X if isinstance(X, NumberedPool) else TablePool(X)
