"""Arrow tables as the tables that a user works with; what the pools that read Arrow share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dips._data.containers import is_frame, library, names_of
from dips._tools.arrays import Array
from dips.exceptions import InputError

Convert = Callable[[pa.Table], Any]


def shape_like(X: Any, columns: Sequence[str], source: str, hint: str) -> tuple[list[str], Convert]:
    """Return the columns in the order of `X`, and what turns Arrow tables into tables of the kind of `X`.

    Parameters
    ----------
    X : the labeled rows
    columns : those of the unlabeled rows
    source, hint : for the refusal of other columns: where they are, and how to read only some
    """
    if is_frame(X):
        differing = sorted(map(str, set(names_of(X)) ^ set(columns)))
        if differing:
            raise InputError(
                f"Labeled and unlabeled rows must have the same columns; they differ in {differing}. {hint}"
            )
        return names_of(X), as_polars if library(X) == "polars" else as_pandas
    shape = np.shape(X)
    if len(shape) != 2 or shape[1] != len(columns):
        raise InputError(
            "Labeled and unlabeled rows must have the same columns; got labeled rows of shape "
            f"{shape} and {len(columns)} columns in {source}."
        )
    return list(columns), as_array


def vocabulary_table(first: pa.Table, distinct: Mapping[str, pa.Array]) -> pa.Table:
    """Return a table in which every distinct value occurs; other columns repeat the value of the first row."""
    size = max((len(values) for values in distinct.values()), default=1)
    repeated = first.take(pa.array([0] * size))
    return pa.table({n: _padded(distinct[n], size) if n in distinct else repeated[n] for n in first.column_names})


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers or booleans."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _padded(values: pa.Array, size: int) -> pa.Array:
    return pa.concat_arrays([values, pa.nulls(size - len(values), values.type)])


def as_pandas(table: pa.Table) -> Any:
    """Return a pandas frame."""
    return table.to_pandas()


def as_polars(table: pa.Table) -> Any:
    """Return a polars frame."""
    import polars as pl

    return pl.from_arrow(table)


def as_array(table: pa.Table) -> Array:
    """Return a matrix, column after column in memory, as Arrow has them."""
    batches = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
    parts = [[column.to_numpy(zero_copy_only=False) for column in batch.columns] for batch in batches]
    kind = np.result_type(*(column.dtype for columns in parts for column in columns))
    matrix, start = np.empty((table.num_rows, table.num_columns), dtype=kind, order="F"), 0
    for columns in parts:
        stop = start + columns[0].size
        for j, column in enumerate(columns):
            matrix[start:stop, j] = column
        start = stop
    return matrix
