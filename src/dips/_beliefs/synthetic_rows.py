"""Synthetic rows: what a student of a small table is asked besides its own rows.

A student learns what its teachers know from the rows that they answer for. A few hundred labeled rows ask them little,
so where unlabeled rows are few, more are made: a row in which some columns have the values of a near row (Buciluă,
Caruana and Niculescu-Mizil 2006, who compress ensembles). Nothing is said of such rows but what the teachers answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from dips._beliefs.asked_rows import linear_columns, numeric_columns
from dips._data.containers import as_narwhals, is_frame
from dips._data.pool import StackedPool, TablePool
from dips._rounds.training import Trainer
from dips._tools.arrays import Array, Rows

_N_NEAR = 5
_SHARE_SWAPPED = 0.3  # of the columns


def with_synthetic_rows(trainer: Trainer, rows: Rows, n: int) -> tuple[Trainer, Rows]:
    """Return a trainer whose pool has n more rows, made from the given ones and weighted alike, and their numbers.

    None are made where a row is more than its columns: where `fit` is given something for each row, and where the
    columns cannot be compared.
    """
    table = trainer.pool.take(rows) if n and not trainer.fit_params.by_row else None
    X = None if table is None or sp.issparse(table) else numeric_columns(table)
    if table is None or X is None or X.shape[1] < 2 or len(X) <= _N_NEAR:
        return trainer, rows[:0]
    base, sources = draw_sources(linear_columns(X), X.shape[1], n, trainer.rng)
    weights = None if trainer.sample_weight is None else trainer.sample_weight[rows[base]]
    pool = StackedPool([trainer.pool, TablePool(mixed(table, sources))])
    return trainer.over(pool, weights), trainer.pool.n_rows + np.arange(n)


def draw_sources(columns: Array, n_columns: int, n: int, rng: np.random.RandomState) -> tuple[Rows, Array]:
    """Return the row that each synthetic one begins as, (n,), and the row that each of its values is from, (n, p)."""
    near = NearestNeighbors(n_neighbors=_N_NEAR).fit(columns).kneighbors(return_distance=False)
    base = rng.randint(len(columns), size=n)
    other = near[base, rng.randint(_N_NEAR, size=n)]
    is_swapped = rng.uniform(size=(n, n_columns)) < _SHARE_SWAPPED
    return base, np.where(is_swapped, other[:, None], base[:, None])


def mixed(table: Any, sources: Array) -> Any:
    """Return a table like the given one whose value in row i and column j is that of row ``sources[i, j]``.

    Examples
    --------
    >>> mixed(np.array([[1, 2], [3, 4]]), np.array([[0, 1], [1, 1]]))
    array([[1, 4],
           [3, 4]])
    """
    if not is_frame(table):
        return table[sources, np.arange(sources.shape[1])]
    frame = as_narwhals(table)
    columns = [column[sources[:, j]] for j, column in enumerate(frame.iter_columns())]
    return frame[sources[:, 0]].with_columns(columns).to_native()
