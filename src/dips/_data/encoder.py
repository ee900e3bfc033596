"""Any table to one matrix of numbers."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from numbers import Number
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from dips._data.categories import warn_of_unknown
from dips._data.columns import NESTED, as_floats, category_order, column_values, refuse_infinite
from dips._data.containers import as_narwhals, check_columns, is_frame
from dips._data.number_texts import reads_as, warn_of_numbers
from dips._tools.arrays import Array
from dips.exceptions import InputError, InputTypeError

_TIMES = (datetime.date, datetime.time, datetime.timedelta, pd.Period, np.datetime64, np.timedelta64)
_CONTAINERS = (dict, list, set, tuple, np.ndarray)


class TableEncoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Any table to one matrix of numbers, missing values as NaN.

    Numbers and booleans stay as they are. Strings, objects and categories become the rank of their value among those
    seen: in the order of the categories where they have one, else what reads as a number by its value, then the others
    in alphabetical order. A value never seen is missing, and a warning names a column that holds no other.
    That suits trees; for other backbones put your own transformers in a Pipeline, which gets the table untouched.

    Attributes
    ----------
    categories_ : list, one entry per column: its categories in order of rank, or None where it holds numbers

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
            return self._encode_frame(as_narwhals(X), learn)
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
            raise InputError(f"Found array with 0 feature(s) (shape={frame.shape}) while a minimum of 1 is required.")
        if frame.shape[0] == 0:
            raise InputError(f"Found array with 0 sample(s) (shape={frame.shape}) while a minimum of 1 is required.")
        if learn:
            self.categories_ = _no_categories(frame.shape[1])
        texts: dict[Any, list[Any]] | None = {} if learn else None
        columns = [self._series(j, series, texts) for j, series in enumerate(frame.iter_columns())]
        warn_of_numbers(texts or {})
        return _finite(np.column_stack(columns), frame.columns)

    def _encode_objects(self, X: Array, learn: bool) -> Array:
        if X.ndim == 1 and X.size and isinstance(X[0], str):
            raise InputError(
                "Expected 2D array, got 1D array of texts instead; texts need a Pipeline that begins with a vectorizer "
                "such as TfidfVectorizer."
            )
        X = check_array(X.astype(object), dtype=None, ensure_all_finite=False)
        if learn:
            self.categories_ = _no_categories(X.shape[1])
        texts: dict[Any, list[Any]] | None = {} if learn else None
        columns = range(X.shape[1])
        encoded = np.column_stack([self._column(j, j, X[:, j], None, texts) for j in columns])
        warn_of_numbers(texts or {})
        return _finite(encoded, columns)

    def _series(self, j: int, series: Any, texts: dict[Any, list[Any]] | None) -> Array:
        name, dtype = series.name, series.dtype
        if dtype.is_temporal():
            _refuse_times(f"Column {name!r}", dtype)
        if dtype in NESTED:
            raise InputError(f"Column {name!r} holds {dtype} values; a feature must be a number or a category.")
        if self.categories_[j] is None and (dtype.is_numeric() or dtype == nw.Boolean):
            return as_floats(series)
        return self._column(j, name, column_values(series), category_order(series.to_native()), texts)

    def _column(
        self, j: int, name: Any, values: Any, order: list[Any] | None, texts: dict[Any, list[Any]] | None
    ) -> Array:
        """Numbers as they are, all else as ranks; only distinct values are looked at one by one.

        Where categories are to be learned, those of columns without an order are added to the texts.
        """
        positions, distinct = _factorize(name, values)
        is_number = bool(distinct) and all(isinstance(v, Number) for v in distinct)
        if texts is not None and (order is not None or not is_number):
            self.categories_[j] = _sorted(distinct) if order is None else order
            if order is None:
                texts[name] = distinct
        categories = self.categories_[j]
        if categories is None:
            codes = [_as_number(name, v) for v in distinct]
        else:
            ranks = {c: float(rank) for rank, c in enumerate(categories)}
            codes = [ranks.get(v, np.nan) for v in distinct]
            if distinct and categories and np.isnan(codes).all():
                warn_of_unknown(name, distinct[0], categories[0])
        return np.array([*codes, np.nan])[positions]  # a missing value is at -1, the last

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.requires_fit = True
        return tags


def _no_categories(n_columns: int) -> list[list[Any] | None]:
    return [None] * n_columns


def _factorize(name: Any, values: Any) -> tuple[Array, list[Any]]:
    """Position of each value among the distinct ones (-1 where missing), and these."""
    try:
        positions, distinct = pd.factorize(values)
    except TypeError:  # not hashable
        distinct = [v for v in values if isinstance(v, _CONTAINERS)]
        positions = np.empty(0)
    distinct = list(distinct)
    for value in distinct:
        if isinstance(value, _TIMES):
            _refuse_times(f"Column {name!r}", type(value).__name__)
        if isinstance(value, _CONTAINERS):
            raise InputTypeError(
                f"Column {name!r} holds a {type(value).__name__}; a feature argument must be a string or a number."
            )
    return positions, distinct


def _sorted(values: list[Any]) -> list[Any]:
    """What reads as a number by its value, then the others in their own order, or alphabetical where they have none."""
    numbers = {v: number for v in values if (number := reads_as(v)) is not None}
    first, others = sorted(numbers, key=lambda v: (numbers[v], repr(v))), [v for v in values if v not in numbers]
    try:
        return first + sorted(others)
    except TypeError:
        return first + sorted(others, key=str)


def _as_number(name: Any, value: Any) -> float:
    try:
        if isinstance(value, Number):
            return float(value)  # type: ignore[arg-type]
    except TypeError as error:
        raise InputError(f"Complex data not supported: column {name!r} holds {value!r}.") from error
    raise InputError(f"Column {name!r} held only numbers in training, but now holds {value!r}.")


def _refuse_times(what: str, kind: Any) -> None:
    raise InputError(
        f"{what} holds dates or times ({kind}), which have no single meaning as a number; turn them into one (such as "
        "days since a date, or the hour), or drop them."
    )


def _finite(matrix: Array, names: Iterable[Any]) -> Array:
    refuse_infinite([name for j, name in enumerate(names) if np.isinf(matrix[:, j]).any()])
    return matrix
