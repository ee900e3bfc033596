"""The rows that teachers are asked about, as each kind of teacher reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri

from dips._data.containers import as_narwhals, is_frame, n_rows
from dips._data.encoder import TableEncoder
from dips._rounds.training import Trainer
from dips._tools.arrays import Array, Rows
from dips.exceptions import DipsError

_MAX_DENSE_CELLS = 20_000_000  # a sparse table with more is left to the backbone
_LARGEST = 1e30  # helpers compute in single precision, and a backbone that bins its columns may be given larger numbers
_LOOK = 200  # rows that tell whether a column has many values
_N_QUANTILES, _MAX_RANKED = 200, 10_000  # quantiles of a column, and the rows that they are taken from
_FEW_VALUES = range(3, 13)  # a column with this many distinct values also gets an indicator of each


@dataclass(frozen=True)
class AskedRows:
    """Labeled rows, then unlabeled ones, then synthetic ones.

    Attributes
    ----------
    labeled : (n,) rows of the pool
    others : (m,) rows of the pool, the synthetic ones last
    n_synthetic : how many of the others are synthetic
    table : (n + m rows) as the pool has them
    numbers : (n + m, p) the same as numbers, NaN where missing; None where they cannot be read as such
    linear : (n + m, q) columns for linear models; None as above
    weights : (n,) of the labeled rows, 1 on average; None if they all weigh the same
    """

    labeled: Rows
    others: Rows
    n_synthetic: int
    table: Any
    numbers: Array | None
    linear: Array | None
    weights: Array | None

    @classmethod
    def of(cls, trainer: Trainer, labeled: Rows, unlabeled: Rows, synthetic: Rows) -> AskedRows:
        """Read these rows of the trainer's pool."""
        others = np.concatenate([unlabeled, synthetic])
        table = trainer.pool.take(np.concatenate([labeled, others]))
        numbers = numeric_columns(table)
        linear = None if numbers is None else linear_columns(numbers)
        weights = None if trainer.sample_weight is None else _of_mean_1(trainer.sample_weight[labeled])
        return cls(labeled, others, synthetic.size, table, numbers, linear, weights)


def _of_mean_1(weights: Array) -> Array:
    """Return weights on the scale that the penalties of the helpers are made for."""
    return np.asarray(weights / weights.mean())


def numeric_columns(X: Any) -> Array | None:
    """Return rows as numbers (m, p) that helpers can read, NaN where missing; None where there is no such view."""
    if is_frame(X):
        X = _as_numbers(X)
    if sp.issparse(X):
        X = X.toarray() if np.prod(X.shape, dtype=float) <= _MAX_DENSE_CELLS else None
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "fiub" or X.shape[1] == 0:
        return None
    X = X.astype(np.float64)
    X[~np.isfinite(X)] = np.nan
    return np.clip(X, -_LARGEST, _LARGEST)


def _as_numbers(frame: Any) -> Array:
    """Return a frame as numbers (m, p); a column that only the user's transformers can read is missing."""
    try:
        return np.asarray(TableEncoder().encode(frame, learn=True))
    except DipsError:
        columns = [series.to_frame().to_native() for series in as_narwhals(frame).iter_columns()]
        if len(columns) == 1:
            return np.full((n_rows(frame), 1), np.nan)
        return np.column_stack([_as_numbers(column) for column in columns])


def linear_columns(X: Array) -> Array:
    """Columns for a linear model: rank-normal, a missing value as the mean, and an indicator of each of few values."""
    values = [_distinct(column) for column in X.T]
    varying = np.array([v.size > 1 for v in values], dtype=bool)
    if not varying.any():
        return np.zeros((len(X), 1))
    X, values = X[:, varying], [v for v in values if v.size > 1]
    normal = _normal_ranks(X)
    scaled = (normal - np.nanmean(normal, axis=0)) / (np.nanstd(normal, axis=0) + 1e-9)
    parts = [np.nan_to_num(scaled)]
    for column, distinct in zip(X.T, values, strict=True):
        if distinct.size in _FEW_VALUES:
            indicators = (column[:, None] == distinct).astype(float)
            parts.append(indicators - indicators.mean(axis=0))
    return np.concatenate(parts, axis=1)


def _distinct(column: Array) -> Array:
    """Return the distinct values of a column, or only those of its first rows if these are many already."""
    first = column[:_LOOK]
    seen = np.unique(first[~np.isnan(first)])
    return seen if seen.size not in range(_FEW_VALUES.stop) else np.unique(column[~np.isnan(column)])


def _normal_ranks(X: Array) -> Array:
    """Every value as the normal quantile of its rank in the column, clipped to -3..3.

    As scikit-learn's QuantileTransformer, in less than half the time.
    """
    ranks, shares = np.empty(X.shape), np.linspace(0, 1, min(_N_QUANTILES, len(X)))
    for column, quantiles, rank in zip(X.T, _quantiles(X, shares).T, ranks.T, strict=True):
        rank[:] = np.interp(column, quantiles, shares)
        if (quantiles[1:] == quantiles[:-1]).any():  # equal values get their mean rank
            rank[:] = (rank - np.interp(-column, -quantiles[::-1], -shares[::-1])) / 2
        rank[column <= quantiles[0]], rank[column >= quantiles[-1]] = 0, 1
    return np.clip(ndtri(ranks), -3, 3)


def _quantiles(X: Array, shares: Array) -> Array:
    """Return quantiles (k, p) of columns over a sample of the rows, or over all if the sample has no value of one."""
    sample = X[:: max(1, len(X) // _MAX_RANKED)]
    is_rare = np.isnan(sample).all(axis=0)
    quantiles = np.empty((shares.size, X.shape[1]))
    for rows, columns in ((sample, ~is_rare), (X, is_rare)):
        quantiles[:, columns] = np.nanquantile(rows[:, columns], shares, axis=0)
    return quantiles
