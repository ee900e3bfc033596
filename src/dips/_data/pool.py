"""The rows of a run, wherever they lie: in memory, in Parquet files, or one part here and one there.

A run speaks of rows by number and keeps a few single-precision numbers for each. Their values are asked for in two ways
only: :meth:`Pool.batches` maps a function over parts of the rows, whose small results are put together by the caller,
and :meth:`Pool.take` brings the rows that a model is trained on. A table on many machines can answer both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dips._data.containers import concatenate, n_rows, take
from dips._tools.arrays import Array, Rows

BATCH = 131_072  # rows


class Pool(ABC):
    """Rows 0..n-1 of a table."""

    n_rows: int
    n_columns: int  # 0 for what is no table of columns: texts, images

    @abstractmethod
    def take(self, rows: Rows) -> Any:
        """Return a table of the given rows, in their order."""

    @abstractmethod
    def batches(self, rows: Rows | None = None) -> Iterator[tuple[slice, Any]]:
        """Yield tables that together are all rows, or the given ascending ones; each with its place among them."""

    @abstractmethod
    def transformed(self, transform: Callable[[Any], Any]) -> Pool:
        """Return the same rows with a function applied to every table of them."""

    def map(self, function: Callable[[Any], Array], rows: Rows | None = None) -> Array:
        """Return what a function gives for each row, all in single precision."""
        n = self.n_rows if rows is None else rows.size
        results: Array | None = None
        for place, table in self.batches(rows):
            part = function(table)
            if results is None:
                results = np.empty((n, *part.shape[1:]), dtype=np.float32)
            results[place] = part
        assert results is not None
        return results


class TablePool(Pool):
    """A table in memory; its rows are never copied but to train on them."""

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

    def transformed(self, transform: Callable[[Any], Any]) -> Pool:
        """Apply the function at once."""
        return TablePool(transform(self.X))


class StackedPool(Pool):
    """Pools one after another."""

    def __init__(self, parts: Sequence[Pool]) -> None:
        self.parts = parts
        self.n_rows = sum(part.n_rows for part in parts)
        self.n_columns = parts[0].n_columns

    def take(self, rows: Rows) -> Any:
        """Take from each part, and put the rows back in order if they were not ascending."""
        is_ascending = bool((rows[1:] >= rows[:-1]).all())
        order = rows if is_ascending else np.sort(rows)
        table = together(self.batches(order), order.size)
        return table if is_ascending else take(table, np.searchsorted(order, rows))

    def batches(self, rows: Rows | None = None) -> Iterator[tuple[slice, Any]]:
        """Yield the batches of each part."""
        parts = self._whole() if rows is None else self._places(rows)
        for part, place, start in parts:
            of_part = None if rows is None else rows[place] - start
            for inner, table in part.batches(of_part):
                first, last, _ = inner.indices(place.stop - place.start)
                yield slice(place.start + first, place.start + last), table

    def transformed(self, transform: Callable[[Any], Any]) -> Pool:
        """Apply the function to each part."""
        return StackedPool([part.transformed(transform) for part in self.parts])

    def _whole(self) -> Iterator[tuple[Pool, slice, int]]:
        start = 0
        for part in self.parts:
            yield part, slice(start, start + part.n_rows), start
            start += part.n_rows

    def _places(self, rows: Rows) -> Iterator[tuple[Pool, slice, int]]:
        """Yield the parts that have some of the ascending rows, where these are among all, and the part's first row."""
        for part, whole, start in self._whole():
            first, last = np.searchsorted(rows, [whole.start, whole.stop])
            if first < last:
                yield part, slice(int(first), int(last)), start


def together(batches: Iterator[tuple[slice, Any]], n: int) -> Any:
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


def as_pool(X: Any) -> Pool:
    """Return a pool of the rows of any table, or the pool itself."""
    return X if isinstance(X, Pool) else TablePool(X)
