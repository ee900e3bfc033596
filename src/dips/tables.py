"""Tables as people have them: rows taken by index from any container, data frames turned into numbers."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _check_feature_names, _num_samples, check_is_fitted

from dips._typing import Array, Rows


def is_frame(X: Any) -> bool:
    """Whether `X` is a pandas or polars data frame (or one of their relatives)."""
    return hasattr(X, "columns") and isinstance(_narwhals(X), nw.DataFrame)


def take(X: Any, rows: Rows) -> Any:
    """Return the given rows of an array, sparse matrix, frame, series or list."""
    return _safe_indexing(X, rows)


def n_rows(X: Any) -> int:
    """How many rows there are."""
    return int(_num_samples(X))


def stack(X: Any, other: Any) -> Any:
    """Rows of `X` above rows of `other`, in the container of `X`."""
    if is_frame(X) != is_frame(other):
        raise ValueError(
            f"Labeled and unlabeled rows must come in the same kind of table; got {type(X).__name__} and "
            f"{type(other).__name__}."
        )
    if is_frame(X):
        columns, others = list(X.columns), list(other.columns)
        if set(columns) != set(others):
            differing = sorted(map(str, set(columns) ^ set(others)))
            raise ValueError(f"Labeled and unlabeled rows must have the same columns; they differ in {differing}.")
        if isinstance(X, pd.DataFrame):
            return pd.concat([X, other[columns]], ignore_index=True)
        both = nw.concat([_narwhals(X), _narwhals(other).select(columns)], how="vertical")
        return both.to_native()
    if sp.issparse(X) or sp.issparse(other):
        return sp.vstack([X, other], format="csr")
    if isinstance(X, list):
        return [*X, *other]
    return np.concatenate([np.asarray(X), np.asarray(other)])


class TableEncoder(TransformerMixin, BaseEstimator):
    """Any table to one matrix of numbers, missing values as NaN.

    Numbers and booleans stay as they are. Strings, objects and categories become the rank of their value among those
    seen (in the order of the categories where they have one); a value never seen is missing. That suits trees; for
    other backbones put your own transformers in a Pipeline, which gets the table untouched.

    Examples
    --------
    >>> import pandas as pd
    >>> TableEncoder().fit_transform(pd.DataFrame({"age": [50, 61], "ward": ["b", "a"]}))
    array([[50.,  1.],
           [61.,  0.]])
    """

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn the categories of each column."""
        self._encode(X, learn=True)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Learn and encode in one pass."""
        return self._encode(X, learn=True)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Columns keep their names."""
        check_is_fitted(self, "categories_")
        return np.asarray(self.feature_names_in_ if input_features is None else input_features, dtype=object)

    def transform(self, X: Any) -> Any:
        """Encode with the categories learned."""
        check_is_fitted(self, "categories_")
        return self._encode(X, learn=False)

    def _encode(self, X: Any, learn: bool) -> Any:
        if learn:
            self.categories_: dict[Any, list[Any]] = {}
            _check_feature_names(self, X, reset=True)
        if is_frame(X):
            frame = _narwhals(X)
            names = frame.columns
            if frame.shape[1] == 0:
                raise ValueError("Found a table with 0 feature(s), while a minimum of 1 is required.")
            columns = [self._column(name, frame[name], learn) for name in names]
            return _finite(np.column_stack(columns), names)
        if not sp.issparse(X) and np.asarray(X).dtype.kind in "OUS":
            return self._objects(np.asarray(X), learn)
        return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")

    def _objects(self, X: Array, learn: bool) -> Array:
        """Encode an array of objects column by column, numbers where it can be read as such."""
        check_array(X, dtype=None, ensure_all_finite=False)  # shape and size
        columns = []
        for j in range(X.shape[1]):
            if j not in self.categories_:
                try:
                    columns.append(np.array([np.nan if v is None else v for v in X[:, j]], dtype=np.float64))
                    continue
                except ValueError:
                    if not learn:
                        raise
            columns.append(self._categorical(j, list(X[:, j]), None, learn))
        return _finite(np.column_stack(columns), range(X.shape[1]))

    def _column(self, name: str, series: nw.Series, learn: bool) -> Array:
        dtype = series.dtype
        if dtype.is_temporal():
            raise ValueError(
                f"Column {name!r} holds dates or times ({dtype}), which have no single meaning as a number; turn it "
                "into one (such as days since a date, or the hour), or drop it."
            )
        if name not in self.categories_ and (dtype.is_numeric() or dtype == nw.Boolean):
            return _as_floats(series)
        if dtype in (nw.List, nw.Struct, nw.Array):
            raise ValueError(f"Column {name!r} holds {dtype} values; a feature must be a number or a category.")
        values = series.to_list()
        if dtype == nw.Object and name not in self.categories_:
            present = [v for v in values if not _is_missing(v)]
            if all(isinstance(v, bool | int | float | np.number) for v in present):
                return np.array([np.nan if _is_missing(v) else float(v) for v in values])
        order = None
        if dtype in (nw.Categorical, nw.Enum) and learn:
            order = [c for c in series.cat.get_categories().to_list() if not _is_missing(c)]
        return self._categorical(name, values, order, learn)

    def _categorical(self, key: Any, values: list[Any], order: list[Any] | None, learn: bool) -> Array:
        texts = [None if _is_missing(v) else _as_text(key, v) for v in values]
        if learn:
            known = sorted({t for t in texts if t is not None}) if order is None else [str(c) for c in order]
            self.categories_[key] = known
        ranks = {c: float(i) for i, c in enumerate(self.categories_[key])}
        return np.array([np.nan if t is None else ranks.get(t, np.nan) for t in texts])


def _narwhals(X: Any) -> Any:
    return nw.from_native(X, eager_only=True, pass_through=True)


def _as_floats(series: nw.Series) -> Array:
    native = series.to_native()
    if isinstance(native, pd.Series):
        return native.to_numpy(dtype=np.float64, na_value=np.nan)
    return series.cast(nw.Float64).to_numpy()


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def _as_text(key: Any, value: Any) -> str:
    if isinstance(value, dict | list | set | tuple | np.ndarray):
        raise TypeError(
            f"Column {key!r} holds a {type(value).__name__}; a feature argument must be a string or a number."
        )
    return str(value)


def _finite(matrix: Array, names: Any) -> Array:
    infinite = np.asarray(np.isinf(matrix).any(axis=0))
    if infinite.any():
        found = [names[j] for j in np.flatnonzero(infinite)]
        raise ValueError(
            f"Input X contains infinity or a value too large for dtype('float64'), in column(s) {found}; replace it by "
            "a number, or by a missing value."
        )
    return matrix
