"""Tables as CatBoost reads them: it refuses categories that are missing or floats, and crashes on polars' texts."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from dips._data.containers import as_narwhals, is_frame

_MISSING = "missing"  # a gap is a category like any other, as CatBoost's own error advises


def as_catboost_reads(estimator: BaseEstimator, X: Any) -> Any:
    """Return a frame as one of pandas, in which no declared category is missing; object arrays likewise."""
    if is_frame(X):
        X = X.copy(deep=False) if isinstance(X, pd.DataFrame) else as_narwhals(X).to_pandas()
        for column in [X.iloc[:, j] for j in _categorical(estimator, X.columns)]:
            if column.hasnans or pd.api.types.is_float_dtype(column.dtype):
                X[column.name] = _without_gaps(column)
        return X
    if isinstance(X, np.ndarray) and X.dtype == object:
        columns = _categorical(estimator, range(X.shape[1]))
        X = X.copy()
        X[:, columns] = np.where(pd.isna(X[:, columns]), _MISSING, X[:, columns])
    return X


def _categorical(estimator: BaseEstimator, names: Any) -> list[int]:
    """Return the places of the columns that are declared categories; what is no column, CatBoost refuses itself."""
    if estimator.is_fitted():
        return list(estimator.get_cat_feature_indices())  # a loaded model has no other record of them
    declared, places = estimator.get_params().get("cat_features"), {name: j for j, name in enumerate(names)}
    found = [int(c) if isinstance(c, Integral) else places.get(c, -1) for c in ([] if declared is None else declared)]
    return [j for j in found if 0 <= j < len(names)]


def _without_gaps(column: pd.Series) -> pd.Series:
    """Whole floats, as integers become in a column with gaps, are integers again."""
    return column.convert_dtypes().astype(object).where(column.notna(), _MISSING)
