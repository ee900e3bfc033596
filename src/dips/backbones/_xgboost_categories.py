"""Native categories of XGBoost, read as the training knew them.

XGBoost recodes the categories of a new table by looking each up in the sorted list of the training's. One that is not
there is taken for the next in the list, silently; only one beyond the last is refused.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import pandas as pd
import pyarrow as pa
from sklearn.base import BaseEstimator

from dips._data.categories import warn_of_unknown
from dips._data.containers import as_narwhals, is_frame, library


def with_known_categories(fitted: BaseEstimator, X: Any) -> Any:
    """Return a pandas or polars frame in which categories that the training did not have are missing.

    A warning names a column that holds no other. Tables of other kinds are returned as they are.
    """
    if not (fitted.enable_categorical and is_frame(X) and library(X) in ("pandas", "polars")):
        return X
    frame = as_narwhals(X)
    of_training = fitted.get_booster().get_categories(export_to_arrow=True).to_arrow()
    if len(of_training) != frame.shape[1]:  # which XGBoost refuses in its own words
        return X
    pairs = zip(frame.iter_columns(), (known for _, known in of_training), strict=True)
    changed = [_with_known(column, known) for column, known in pairs if known is not None and _has_categories(column)]
    return frame.with_columns(*changed).to_native() if changed else X


def _has_categories(column: nw.Series[Any]) -> bool:
    return column.dtype in (nw.Categorical, nw.Enum)


def _with_known(column: nw.Series[Any], known: pa.Array) -> nw.Series[Any]:
    native = column.to_native()
    if isinstance(native, pd.Series):
        native = native.cat.set_categories(pd.Index(known.to_pandas()))
    else:
        import polars as pl

        native = native.cast(pl.Enum(known.to_pylist()), strict=False)
    read = nw.from_native(native, series_only=True)
    if read.null_count() == len(read) > column.null_count():
        warn_of_unknown(column.name, column.drop_nulls()[0], known[0].as_py())
    return read
