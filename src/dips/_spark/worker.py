"""What runs in the Python workers of Spark's executors. Nothing here knows Spark: Arrow batches in, and out."""

from __future__ import annotations

import errno
import io
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dips._data.arrow import Convert
from dips._data.containers import as_stream
from dips._data.pool import Reduced
from dips._tools.arrays import Array, Rows
from dips.exceptions import DataError, DipsError

ROW = "__dips_row"
PART = "part"  # the one column of what is sent to the driver
PART_SCHEMA = f"{PART} binary"

_MANY_ROWS, _MANY_BYTES = 32_768, 1 << 25  # that a function is called with at once

Batches = Iterable[pa.RecordBatch]


def as_numbers(values: Array) -> Rows:
    """Return places that are row numbers already."""
    return values.astype(np.intp, copy=False)


@dataclass(frozen=True)
class FilePlaces:
    """Row numbers from places: a file's tag in the high bits, the position in the file in the low ones.

    A join with the files' first rows would cost a fifth of a pass.
    """

    tags: Array  # (files,) uint64, ascending
    starts: Array  # (files,) number of each file's first row
    n_bits: int

    @classmethod
    def of(cls, starts: dict[int, int], n_bits: int) -> FilePlaces:
        """Take the high bits of the files' 64-bit hashes as tags; the first row of each is given by its hash."""
        by_tag = {(tag % 2**64) >> n_bits: start for tag, start in starts.items()}
        tags = sorted(by_tag)
        return cls(np.array(tags, np.uint64), np.array([by_tag[tag] for tag in tags], np.int64), n_bits)

    def __call__(self, places: Array) -> Rows:
        """Return row numbers."""
        values = places.astype(np.int64, copy=False).view(np.uint64)
        tags = values >> np.uint64(self.n_bits)
        if tags.size and (tags == tags[0]).all():
            tags = tags[:1]  # rows come file after file
        file = np.minimum(np.searchsorted(self.tags, tags), self.tags.size - 1)
        if (self.tags[file] != tags).any():
            raise DataError("A file of the Spark table is new, or changed, since its rows were numbered; fit again.")
        index = values & np.uint64((1 << self.n_bits) - 1)
        return self.starts[file] + index.view(np.int64)


@dataclass(frozen=True)
class Reader:
    """Turns Arrow batches into row numbers and tables as a model wants them."""

    columns: tuple[str, ...]
    convert: Convert
    transforms: tuple[Callable[[Any], Any], ...] = ()
    numbers: Callable[[Array], Rows] = as_numbers

    def read(self, table: pa.Table) -> tuple[Rows, Any]:
        """Return the numbers of the rows and their table."""
        return self.numbers(table[ROW].to_numpy()), self.table(table)

    def table(self, table: pa.Table) -> Any:
        """Return the features alone, converted and transformed."""
        X = self.convert(table.select(list(self.columns)))
        for transform in self.transforms:
            X = transform(X)
        return X


def reduced(
    reader: Reader,
    function: Callable[[Rows, Any], Reduced],
    combine: Callable[[Reduced, Reduced], Reduced],
    batches: Batches,
) -> Iterator[pa.RecordBatch]:
    """Reduce one partition."""
    result: Reduced | None = None
    with _without_values():
        for batch in _filled(batches):
            part = function(*reader.read(batch))
            result = part if result is None else combine(result, part)
    if result is not None:
        yield _sent(_packed(result))


def selected(
    reader: Reader, choose: Callable[[Rows, Any], tuple[Array, Reduced]], batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Send the chosen rows of one partition as they are in the source, with the columns that `choose` gave them."""
    for batch in _filled(batches):
        with _without_values():
            mask, said = choose(*reader.read(batch))
        if mask.any():
            kept = batch.filter(pa.array(mask))
            yield _sent(_packed({name: values[mask] for name, values in said.items()}), as_stream(kept))


def as_they_are(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Send all rows of one partition."""
    for batch in _filled(batches):
        yield _sent(_packed({}), as_stream(batch))


def described(
    reader: Reader,
    function: Callable[[Rows, Any], dict[str, Any]],
    kept: tuple[str, ...],
    schema: pa.Schema,
    batches: Batches,
) -> Iterator[pa.RecordBatch]:
    """Put what a function says of each row beside the columns that are kept."""
    for batch in _filled(batches):
        with _without_values():
            said = function(*reader.read(batch))
        columns = [batch[name] for name in kept]
        columns += [pa.array(said[field.name], type=field.type) for field in schema]
        yield from pa.table(columns, names=[*kept, *schema.names]).combine_chunks().to_batches()


def unpacked(data: bytes) -> Reduced:
    """Return arrays that were sent by :func:`reduced` or :func:`selected`."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return dict(arrays)


def unpacked_rows(data: bytes) -> tuple[Reduced, pa.Table]:
    """Return rows that were sent by :func:`selected`, and the columns that came with them."""
    size = int.from_bytes(data[:8], "little")
    return unpacked(data[8 : 8 + size]), pa.ipc.open_stream(data[8 + size :]).read_all()


def _packed(arrays: Reduced) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def _sent(arrays: bytes, rows: bytes | None = None) -> pa.RecordBatch:
    data = arrays if rows is None else len(arrays).to_bytes(8, "little") + arrays + rows
    return pa.RecordBatch.from_arrays([pa.array([data], type=pa.binary())], names=[PART])


def _filled(batches: Batches) -> Iterator[pa.Table]:
    """Put Spark's batches, 10,000 rows by default, together to larger ones; leave out those without rows."""
    waiting: list[pa.RecordBatch] = []
    n_rows = n_bytes = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            n_rows, n_bytes = n_rows + batch.num_rows, n_bytes + batch.nbytes
        if n_rows >= _MANY_ROWS or n_bytes >= _MANY_BYTES:
            yield pa.Table.from_batches(waiting)
            waiting, n_rows, n_bytes = [], 0, 0
    if waiting:
        yield pa.Table.from_batches(waiting)


@contextmanager
def _without_values() -> Iterator[None]:
    """Keep values of rows out of the executors' logs: other libraries put them into their errors and warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except DipsError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None  # its own message may name a file
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = "" if trace is None else f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        raise RuntimeError(f"{type(error).__name__}{place}; its message is left out, as it may quote a row") from None
