"""Tables as people have them: rows taken by index from any container, data frames turned into numbers."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from functools import reduce
from numbers import Number
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from dips._tools.arrays import Array, Rows
from dips._tools.warnings import warn

_TIMES = (datetime.date, datetime.time, datetime.timedelta, pd.Period, np.datetime64, np.timedelta64)
_NESTED = (nw.List, nw.Struct, nw.Array)
_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "boolean")
_KINDS = dict.fromkeys(_NUMBERS, "numbers") | {"string": "texts"}  # by the names that pandas has for them
_CONTAINERS = (dict, list, set, tuple, np.ndarray)


def is_frame(X: Any) -> bool:
    """Whether `X` is a pandas or polars data frame (or one of their relatives)."""
    return isinstance(_narwhals(X), nw.DataFrame)


def names_of(X: Any) -> list[Any]:
    """Columns of a frame."""
    return list(_narwhals(X).columns)


def take(X: Any, rows: Rows) -> Any:
    """Return the given rows of an array, sparse matrix, frame, series or list."""
    return _safe_indexing(X, rows)


def n_rows(X: Any) -> int:
    """How many rows there are."""
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise TypeError(f"X is a {type(X).__name__}, whose rows are not there yet; collect() it first.")
    return int(_num_samples(X))


def row_names(X: Any) -> pd.Index | None:
    """Index of a pandas table; other tables have none."""
    return X.index if isinstance(X, pd.DataFrame | pd.Series) else None


def stack(X: Any, other: Any) -> Any:
    """Rows of `X` above rows of `other`, in the container of `X`.

    A pandas index is kept where the two have no name in common.
    """
    if library(X) != library(other):
        raise ValueError(
            f"Labeled and unlabeled rows must come in the same kind of table; got {_full_name(X)} and "
            f"{_full_name(other)}."
        )
    if is_frame(X):
        differing = sorted(map(str, set(names_of(X)) ^ set(names_of(other))))
        if differing:
            raise ValueError(f"Labeled and unlabeled rows must have the same columns; they differ in {differing}.")
        other = _narwhals(other).select(names_of(X)).to_native()
        for mine, others in zip(_narwhals(X).iter_columns(), _narwhals(other).iter_columns(), strict=True):
            _check_alike(mine.name, mine, others)
        return _joined(X, other)
    if isinstance(X, list) or (isinstance(X, pd.Series) and isinstance(other, pd.Series)):
        return _joined(X, other)
    X, other = (t if sp.issparse(t) else np.asarray(t) for t in (X, other))
    if X.shape[1:] != other.shape[1:]:
        raise ValueError(
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
    if is_frame(X) or (isinstance(X, pd.Series) and isinstance(other, pd.Series)):
        return _stack_frames(X, other)
    if isinstance(X, list):
        return [*X, *other]
    return sp.vstack([X, other], format="csr") if sp.issparse(X) or sp.issparse(other) else np.concatenate([X, other])


def check_columns(estimator: BaseEstimator, X: Any, reset: bool) -> None:
    """Keep names and number of the columns on the estimator, or compare with those kept; texts have no columns."""
    has_columns = np.ndim(X[0]) > 0 if isinstance(X, list | tuple) and X else len(getattr(X, "shape", (0, 0))) != 1
    if has_columns:
        validate_data(estimator, X, reset=reset, skip_check_array=True)


def as_rows(X: Any) -> Any:
    """Return the table as it is, in a container whose rows can be taken; infinities are refused."""
    if is_frame(X):
        floats = [series for series in _narwhals(X).iter_columns() if series.dtype in (nw.Float32, nw.Float64)]
        _refuse_infinite([series.name for series in floats if np.isinf(_as_floats(series)).any()])
        return X
    if hasattr(X, "__array__") and not hasattr(X, "shape"):
        X = np.asarray(X)
    if sp.issparse(X) or getattr(getattr(X, "dtype", None), "kind", "O") in "fiub":
        return check_array(
            X, accept_sparse="csr", dtype=None, ensure_all_finite="allow-nan", allow_nd=True, input_name="X"
        )
    return X


class TableEncoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Any table to one matrix of numbers, missing values as NaN.

    Numbers and booleans stay as they are. Strings, objects and categories become the rank of their value among those
    seen: in the order of the categories where they have one, else what reads as a number by its value, then the others
    in alphabetical order. A value never seen is missing, and a warning names a column that holds no other.
    That suits trees; for other backbones put your own transformers in a Pipeline, which gets the table untouched.

    Attributes
    ----------
    categories_ : list, an entry a column: its categories in order of rank, or None where it holds numbers

    Examples
    --------
    >>> import pandas as pd
    >>> TableEncoder().fit_transform(pd.DataFrame({"age": [50, 61], "ward": ["b", "a"]}))
    array([[50.,  1.],
           [61.,  0.]])
    """

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn the categories of each column."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Learn and encode in one pass."""
        check_columns(self, X, reset=True)
        return self.encode(X, learn=True)

    def transform(self, X: Any) -> Any:
        """Encode with the categories learned."""
        check_is_fitted(self, "categories_")
        check_columns(self, X, reset=False)
        return self.encode(X, learn=False)

    def encode(self, X: Any, learn: bool) -> Any:
        """Learn if asked to, and encode, for an estimator that has looked at the names of the columns itself."""
        if is_frame(X):
            return self._encode_frame(_narwhals(X), learn)
        array = X if sp.issparse(X) else np.asarray(X)
        if array.dtype.kind in "mM":
            _refuse_times("X", array.dtype)
        if array.dtype.kind in "OUST":
            return self._encode_objects(array, learn)
        array = check_array(
            array, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", input_name="X"
        )
        if learn:
            self.categories_ = _no_categories(array.shape[1])
        return array

    def _encode_frame(self, frame: nw.DataFrame[Any], learn: bool) -> Array:
        if frame.shape[1] == 0:
            raise ValueError(f"Found array with 0 feature(s) (shape={frame.shape}) while a minimum of 1 is required.")
        if frame.shape[0] == 0:
            raise ValueError(f"Found array with 0 sample(s) (shape={frame.shape}) while a minimum of 1 is required.")
        if learn:
            self.categories_ = _no_categories(frame.shape[1])
        columns = [self._series(j, series, learn) for j, series in enumerate(frame.iter_columns())]
        return _finite(np.column_stack(columns), frame.columns)

    def _encode_objects(self, X: Array, learn: bool) -> Array:
        if X.ndim == 1 and X.size and isinstance(X[0], str):
            raise ValueError(
                "Expected 2D array, got 1D array of texts instead; texts need a Pipeline that begins with a vectorizer "
                "such as TfidfVectorizer."
            )
        X = check_array(X.astype(object), dtype=None, ensure_all_finite=False)
        if learn:
            self.categories_ = _no_categories(X.shape[1])
        columns = range(X.shape[1])
        return _finite(np.column_stack([self._column(j, j, X[:, j], None, learn) for j in columns]), columns)

    def _series(self, j: int, series: Any, learn: bool) -> Array:
        name, dtype = series.name, series.dtype
        if dtype.is_temporal():
            _refuse_times(f"Column {name!r}", dtype)
        if dtype in _NESTED:
            raise ValueError(f"Column {name!r} holds {dtype} values; a feature must be a number or a category.")
        if self.categories_[j] is None and (dtype.is_numeric() or dtype == nw.Boolean):
            return _as_floats(series)
        return self._column(j, name, _values(series), _order(series.to_native()), learn)

    def _column(self, j: int, name: Any, values: Any, order: list[Any] | None, learn: bool) -> Array:
        """Numbers as they are, all else as ranks; only distinct values are looked at one by one."""
        found, distinct = _factorize(name, values)
        is_number = bool(distinct) and all(isinstance(v, Number) for v in distinct)
        if learn and (order is not None or not is_number):
            self.categories_[j] = _sorted(distinct) if order is None else order
        categories = self.categories_[j]
        if categories is None:
            codes = [_as_number(name, v) for v in distinct]
        else:
            ranks = {c: float(rank) for rank, c in enumerate(categories)}
            codes = [ranks.get(v, np.nan) for v in distinct]
            if distinct and categories and np.isnan(codes).all():
                _warn_of_unknown(name, distinct[0], categories[0])
        return np.array([*codes, np.nan])[found]  # a missing value is found at -1, the last

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.requires_fit = True
        return tags


def _narwhals(X: Any) -> Any:
    return nw.from_native(X, eager_only=True, pass_through=True)


def _no_categories(n_columns: int) -> list[list[Any] | None]:
    return [None] * n_columns


def library(X: Any) -> str | None:
    """Name of the library a frame comes from; None for other tables."""
    return nw.get_native_namespace(X).__name__ if is_frame(X) else None


def _full_name(X: Any) -> str:
    return f"{type(X).__module__.partition('.')[0]}.{type(X).__name__}"


def _check_alike(name: Any, mine: Any, others: Any) -> None:
    """Refuse to put numbers above texts, or categories above those of another order: neither has one meaning."""
    kinds = _kind(mine), _kind(others)
    if set(kinds) == {"numbers", "texts"}:
        raise ValueError(
            f"Column {name!r} holds {kinds[0]} among the labeled and {kinds[1]} among the unlabeled rows; make both of "
            "one type."
        )
    orders = [_order(c.to_native()) if isinstance(c, nw.Series) else None for c in (mine, others)]
    if orders[0] != orders[1]:
        raise ValueError(
            f"Column {name!r} has ordered categories that differ between the labeled and the unlabeled rows "
            f"({orders[0]} and {orders[1]}); give both the same ones."
        )


def _kind(column: Any) -> str | None:
    """What all values of a column are, "numbers" or "texts"; None where they are mixed, missing or something else."""
    if isinstance(column, nw.Series):
        if column.dtype.is_temporal() or column.dtype in _NESTED:
            return None
        column = _values(column)
    column = column[np.asarray(pd.notna(column))]
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories().cat.categories
    kind = pd.api.types.infer_dtype(column) if len(column) else "empty"
    return _KINDS.get(kind)


def _values(series: Any) -> Any:
    """Values of a column as what pandas can factorize."""
    native = series.to_native()
    return native if isinstance(native, pd.Series) else np.array(series.to_list(), dtype=object)


def _stack_frames(X: Any, other: Any) -> Any:
    if isinstance(X, pd.DataFrame | pd.Series):
        return pd.concat([X, other], ignore_index=bool(X.index.append(other.index).has_duplicates))
    if nw.get_native_namespace(X).__name__ == "polars":
        import polars as pl

        return pl.concat([X, other], how="vertical_relaxed")
    return nw.concat([_narwhals(X), _narwhals(other)], how="vertical").to_native()


def _as_floats(series: Any) -> Array:
    single = series.dtype == nw.Float32  # a table of such columns stays half the size
    native = series.to_native()
    if isinstance(native, pd.Series):
        return native.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
    return series.cast(nw.Float32 if single else nw.Float64).to_numpy()


def _order(native: Any) -> list[Any] | None:
    """Categories of a column that has them in an order of its own."""
    dtype = getattr(native, "dtype", None)
    if isinstance(dtype, pd.CategoricalDtype):
        return list(dtype.categories) if dtype.ordered else None
    categories = getattr(dtype, "categories", None)  # a polars Enum has them, a Categorical does not
    return list(categories) if type(dtype).__name__ == "Enum" and categories is not None else None


def _factorize(name: Any, values: Any) -> tuple[Array, list[Any]]:
    """Position of each value among the distinct ones (-1 where missing), and these."""
    try:
        found, distinct = pd.factorize(values)
    except TypeError:  # not hashable
        distinct = [v for v in values if isinstance(v, _CONTAINERS)]
        found = np.empty(0)
    distinct = list(distinct)
    for value in distinct:
        if isinstance(value, _TIMES):
            _refuse_times(f"Column {name!r}", type(value).__name__)
        if isinstance(value, _CONTAINERS):
            raise TypeError(
                f"Column {name!r} holds a {type(value).__name__}; a feature argument must be a string or a number."
            )
    return found, distinct


def _sorted(values: list[Any]) -> list[Any]:
    """What reads as a number by its value, then the others in their own order, or alphabetical where they have none."""
    numbers = {v: number for v in values if (number := _reads_as(v)) is not None}
    first, others = sorted(numbers, key=lambda v: (numbers[v], repr(v))), [v for v in values if v not in numbers]
    try:
        return first + sorted(others)
    except TypeError:
        return first + sorted(others, key=str)


def _reads_as(value: Any) -> float | None:
    """Return the finite number that a value is, or that its text says."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if np.isfinite(number) else None


def _warn_of_unknown(name: Any, value: Any, known: Any) -> None:
    warn(
        f"No value of column {name!r} is known from training (now it holds {value!r}, training held {known!r}), so all "
        "are read as missing; write them as they were in training."
    )


def _as_number(name: Any, value: Any) -> float:
    try:
        if isinstance(value, Number):
            return float(value)  # type: ignore[arg-type]
    except TypeError as error:
        raise ValueError(f"Complex data not supported: column {name!r} holds {value!r}.") from error
    raise ValueError(f"Column {name!r} held only numbers in training, and now holds {value!r}.")


def _refuse_times(what: str, kind: Any) -> None:
    raise ValueError(
        f"{what} holds dates or times ({kind}), which have no single meaning as a number; turn them into one (such as "
        "days since a date, or the hour), or drop them."
    )


def _finite(matrix: Array, names: Iterable[Any]) -> Array:
    _refuse_infinite([name for j, name in enumerate(names) if np.isinf(matrix[:, j]).any()])
    return matrix


def _refuse_infinite(columns: list[Any]) -> None:
    if columns:
        raise ValueError(
            f"Input X contains infinity or a value too large for dtype('float64'), in column(s) {columns}; replace it "
            "by a number, or by a missing value."
        )
