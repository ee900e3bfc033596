"""One column of a table: its values, its order, and what they are."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from dips._tools.arrays import Array
from dips.exceptions import InputError

NESTED = (nw.List, nw.Struct, nw.Array)
_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "boolean")
_KINDS = dict.fromkeys(_NUMBERS, "numbers") | {"string": "texts"}  # by pandas' names for them


def column_values(series: Any) -> Any:
    """Values of a column as what pandas can factorize."""
    native = series.to_native()
    return native if isinstance(native, pd.Series) else np.array(series.to_list(), dtype=object)


def category_order(native: Any) -> list[Any] | None:
    """Categories of a column that has them in an order of its own."""
    dtype = getattr(native, "dtype", None)
    if isinstance(dtype, pd.CategoricalDtype):
        return list(dtype.categories) if dtype.ordered else None
    categories = getattr(dtype, "categories", None)  # a polars Enum has them, a Categorical does not
    return list(categories) if type(dtype).__name__ == "Enum" and categories is not None else None


def as_floats(series: Any) -> Array:
    single = series.dtype == nw.Float32  # a table of such columns stays half the size
    native = series.to_native()
    if isinstance(native, pd.Series):
        return native.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
    return series.cast(nw.Float32 if single else nw.Float64).to_numpy()


def kind_of(column: Any) -> str | None:
    """What all values of a column are, "numbers" or "texts"; None where they are mixed, missing or something else."""
    if isinstance(column, nw.Series):
        if column.dtype.is_temporal() or column.dtype in NESTED:
            return None
        column = column_values(column)
    column = column[np.asarray(pd.notna(column))]
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories().cat.categories
    kind = pd.api.types.infer_dtype(column) if len(column) else "empty"
    return _KINDS.get(kind)


def refuse_infinite(columns: list[Any]) -> None:
    if columns:
        raise InputError(
            f"Input X contains infinity or a value too large for dtype('float64'), in column(s) {columns}; replace it "
            "by a number, or by a missing value."
        )
