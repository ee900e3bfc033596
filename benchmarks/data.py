"""Tables to measure on: a synthetic one of any size, the same as a folder of Parquet files, and adult."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tables

from dips.datasets import flip_labels

N_FEATURES = 20


def make_table(n: int, n_classes: int = 2, seed: int = 0, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose class is the best of linear scores with products of neighbors and noise; one concept for all seeds."""
    concept, rng = np.random.RandomState(0), np.random.RandomState(seed)
    linear, products = concept.normal(size=(2, N_FEATURES, n_classes))
    X, y = np.empty((n, N_FEATURES), dtype=dtype), np.empty(n, dtype=np.int64)
    for rows in _blocks(n):  # so that making a table takes no more memory than the table
        x = rng.normal(size=(rows.stop - rows.start, N_FEATURES))
        scores = x @ linear + (x * np.roll(x, 1, axis=1)) @ products
        y[rows] = (scores + 2 * rng.gumbel(size=scores.shape)).argmax(axis=1)
        X[rows] = x
    return X, y


def _blocks(n: int, size: int = 100_000) -> Iterator[slice]:
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def write_parquet(folder: Path, n: int, rows_per_file: int = 1_000_000) -> None:
    """Write the features of n rows in single precision to files of a folder, never holding more than a block."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(f"f{j}", pa.float32()) for j in range(N_FEATURES)])
    for k, rows in enumerate(_blocks(n, rows_per_file)):
        with pq.ParquetWriter(folder / f"part-{k:04d}.parquet", schema, use_dictionary=False) as file:
            for b, block in enumerate(_blocks(rows.stop - rows.start)):
                X, _ = make_table(block.stop - block.start, seed=1 + 1000 * k + b, dtype=np.float32)
                file.write_table(pa.table(list(X.T.copy()), schema=schema))


@dataclass(frozen=True)
class Split:
    """A task: labeled rows with wrong labels among them, unlabeled rows, and a clean test."""

    X: np.ndarray
    y: np.ndarray
    X_unlabeled: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


ADULT = (1592, 14333, 3982)  # rows labeled, unlabeled, for the test


def has_real_tables() -> bool:
    """Whether the public tables are at hand."""
    return "DIPS_DATA" in os.environ


def adult(seed: int, noise: float = 0.2) -> Split:
    """Adult as the paper splits it, or where it is not at hand a synthetic table of its size."""
    return real("adult", seed, noise) if has_real_tables() else synthetic(seed, noise, *ADULT)


def real(name: str, seed: int, noise: float) -> Split:
    """One of the public tables, a share of its labels flipped."""
    X, y = tables.load(name)
    return _split(X, y, *tables.split(X, y, seed, tables.SHARE.get(name, 1.0)), noise, seed)


def synthetic(seed: int, noise: float, n_labeled: int, n_unlabeled: int, n_test: int) -> Split:
    """Synthetic rows, a share of the labels flipped."""
    X, y = make_table(n_labeled + n_unlabeled + n_test, seed=seed + 1)
    ends = np.cumsum([n_labeled, n_unlabeled])
    return _split(X, y, *np.split(np.arange(y.size), ends), noise, seed)


def _split(
    X: np.ndarray, y: np.ndarray, labeled: np.ndarray, unlabeled: np.ndarray, test: np.ndarray, noise: float, seed: int
) -> Split:
    noisy, _ = flip_labels(y[labeled], noise, random_state=seed)
    return Split(X[labeled], noisy, X[unlabeled], X[test], y[test])
