"""Tables in any container (array, sparse matrix, data frame, series, list): rows counted, taken and stacked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from dips._data.columns import as_floats, category_order, kind_of, refuse_infinite
from dips._tools.arrays import Rows
from dips._tools.sklearn_compat import num_samples, safe_indexing
from dips._tools.wording import some_of
from dips.exceptions import InputError, InputTypeError


def is_frame(X: Any) -> bool:
    """Whether `X` is a pandas or polars data frame (or one of their relatives)."""
    return isinstance(as_narwhals(X), nw.DataFrame)


def as_narwhals(X: Any, eager_only: bool = True) -> Any:
    """Return a frame in a form that is the same for all libraries; anything else as it is."""
    try:
        return nw.from_native(X, eager_only=eager_only, pass_through=True)
    except ValueError:
        twice = [name for name, n in Counter(X.columns).items() if n > 1]
        if not twice:
            raise
        raise InputError(
            f"Every column needs a name of its own; more than one is called {some_of(map(repr, twice))}: rename "
            "them, or drop all but one."
        ) from None


def names_of(X: Any) -> list[Any]:
    """Columns of a frame."""
    return list(as_narwhals(X).columns)


def library(X: Any) -> str | None:
    """Name of the library a frame comes from; None for other tables."""
    return nw.get_native_namespace(X).__name__ if is_frame(X) else None


def take(X: Any, rows: Rows) -> Any:
    """Return the given rows of an array, sparse matrix, frame, series or list."""
    return safe_indexing(X, rows)


def n_rows(X: Any) -> int:
    """How many rows there are."""
    _refuse_hidden(X)
    return int(num_samples(X))


def table_bytes(X: Any) -> bytes:
    """Return all values of an array, sparse matrix or frame as bytes, to compare tables by their checksums."""
    if is_frame(X):
        return as_stream(as_narwhals(X).to_arrow())
    parts = (X.tocsr().data, X.tocsr().indices, X.tocsr().indptr) if sp.issparse(X) else (np.asarray(X),)
    return b"".join(f"{part.dtype} {part.shape} ".encode() + part.tobytes() for part in parts)


def as_stream(table: pa.Table) -> bytes:
    """Return an Arrow table as the bytes of a stream of it."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def row_names(X: Any) -> pd.Index | None:
    """Index of a pandas table; other tables have none."""
    return X.index if isinstance(X, pd.DataFrame | pd.Series) else None


def check_columns(estimator: BaseEstimator, X: Any, reset: bool) -> None:
    """Keep names and number of the columns on the estimator, or compare with those kept; texts have no columns."""
    _refuse_hidden(X)
    has_columns = np.ndim(X[0]) > 0 if isinstance(X, list | tuple) and X else len(getattr(X, "shape", (0, 0))) != 1
    if has_columns:
        validate_data(estimator, X, reset=reset, skip_check_array=True)


def as_rows(X: Any) -> Any:
    """Return the table as it is, in a container whose rows can be taken; infinities are refused."""
    if is_frame(X):
        floats = [series for series in as_narwhals(X).iter_columns() if series.dtype in (nw.Float32, nw.Float64)]
        refuse_infinite([series.name for series in floats if np.isinf(as_floats(series)).any()])
        return X
    if hasattr(X, "__array__") and not hasattr(X, "shape"):
        X = np.asarray(X)
    if sp.issparse(X) or getattr(getattr(X, "dtype", None), "kind", "O") in "fiub":
        return check_array(
            X, accept_sparse="csr", dtype=None, ensure_all_finite="allow-nan", allow_nd=True, input_name="X"
        )
    return X


def stack(X: Any, other: Any) -> Any:
    """Rows of `X` above rows of `other`, in the container of `X`.

    A pandas index is kept where the two have no name in common.
    """
    if library(X) != library(other):
        raise InputError(
            f"Labeled and unlabeled rows must come in the same kind of table; got {_full_name(X)} and "
            f"{_full_name(other)}."
        )
    if is_frame(X):
        differing = sorted(map(str, set(names_of(X)) ^ set(names_of(other))))
        if differing:
            raise InputError(f"Labeled and unlabeled rows must have the same columns; they differ in {differing}.")
        other = as_narwhals(other).select(names_of(X)).to_native()
        for mine, others in zip(as_narwhals(X).iter_columns(), as_narwhals(other).iter_columns(), strict=True):
            _check_alike(mine.name, mine, others)
    elif not (isinstance(X, list) or _are_series(X, other)):
        X, other = (t if sp.issparse(t) else np.asarray(t) for t in (X, other))
        if X.shape[1:] != other.shape[1:]:
            raise InputError(
                f"Labeled and unlabeled rows must have the same columns; got shapes {X.shape} and {other.shape}."
            )
        if X.ndim == 2 and not {X.dtype.kind, other.dtype.kind} <= set("fiub"):
            for j in range(X.shape[1]):
                _check_alike(j, X[:, j], other[:, j])
    return _joined(X, other)


def concatenate(tables: Sequence[Any]) -> Any:
    """Rows of tables that are known to be alike, one above the other."""
    return reduce(_joined, tables)


def _joined(X: Any, other: Any) -> Any:
    if is_frame(X) or _are_series(X, other):
        return _stack_frames(X, other)
    if isinstance(X, list):
        return [*X, *other]
    return sp.vstack([X, other], format="csr") if sp.issparse(X) or sp.issparse(other) else np.concatenate([X, other])


def _refuse_hidden(X: Any) -> None:
    """Refuse a table whose rows are not there yet, and one that shows values which its owner has hidden."""
    if isinstance(as_narwhals(X, eager_only=False), nw.LazyFrame):
        raise InputTypeError(f"X is a {type(X).__name__}, whose rows are not there yet; collect() it first.")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise InputTypeError(
            "X is a masked array, and what lies under its mask would come back; pass X.filled(np.nan)."
        )


def _are_series(X: Any, other: Any) -> bool:
    return isinstance(X, pd.Series) and isinstance(other, pd.Series)


def _stack_frames(X: Any, other: Any) -> Any:
    if isinstance(X, pd.DataFrame):
        X, other = _with_all_categories(X, other)
    if isinstance(X, pd.DataFrame | pd.Series):
        return pd.concat([X, other], ignore_index=bool(X.index.append(other.index).has_duplicates))
    if library(X) == "polars":
        import polars as pl

        return pl.concat([X, other], how="vertical_relaxed")
    return nw.concat([as_narwhals(X), as_narwhals(other)], how="vertical").to_native()


def _with_all_categories(X: pd.DataFrame, other: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give columns of categories those of both frames; where they differ, pandas would make texts of them."""
    dtypes = {}
    for name in X.columns:
        mine, others = X[name].dtype, other[name].dtype
        both_have = isinstance(mine, pd.CategoricalDtype) and isinstance(others, pd.CategoricalDtype)
        if both_have and mine != others:
            dtypes[name] = pd.CategoricalDtype(X[name].cat.categories.union(other[name].cat.categories, sort=False))
    return (X.astype(dtypes), other.astype(dtypes)) if dtypes else (X, other)


def _check_alike(name: Any, mine: Any, others: Any) -> None:
    """Refuse to put numbers above texts, or categories above those of another order: neither has one meaning."""
    kinds = kind_of(mine), kind_of(others)
    if set(kinds) == {"numbers", "texts"}:
        raise InputError(
            f"Column {name!r} holds {kinds[0]} among the labeled and {kinds[1]} among the unlabeled rows; make both of "
            "one type."
        )
    orders = [category_order(c.to_native()) if isinstance(c, nw.Series) else None for c in (mine, others)]
    if orders[0] != orders[1]:
        raise InputError(
            f"Column {name!r} has ordered categories that differ between the labeled and the unlabeled rows "
            f"({orders[0]} and {orders[1]}); give both the same ones."
        )


def _full_name(X: Any) -> str:
    return f"{type(X).__module__.partition('.')[0]}.{type(X).__name__}"
