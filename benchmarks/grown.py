"""Real tables grown to any number of rows: new rows that look like the real ones, with labels drawn for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tables
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

SHARE_TAKEN, ROWS_PER_LEAF, BLOCK = 0.3, 50, 1_000_000


class GrownTable:
    """Rows of a real table, each with three values in ten from a row that falls into the same leaf of a tree.

    So columns keep their values, and mostly what they have to do with each other and with the class. A row's label is
    drawn from the probabilities of a booster that learned all real labels.
    """

    def __init__(self, name: str) -> None:
        X, y = tables.load(name)
        self.X = X.astype(np.float32)
        tree = DecisionTreeClassifier(min_samples_leaf=ROWS_PER_LEAF, random_state=0).fit(np.nan_to_num(self.X), y)
        leaves = tree.apply(np.nan_to_num(self.X))
        self.by_leaf = np.argsort(leaves, kind="stable")
        ordered = leaves[self.by_leaf]
        self.first, self.last = (np.searchsorted(ordered, leaves, side=side) for side in ("left", "right"))
        self.booster = XGBClassifier(n_estimators=200, max_depth=4, learning_rate=0.05, n_jobs=1).fit(self.X, y)

    def rows(self, n: int, seed: int) -> np.ndarray:
        """Return n new rows (n, d), single precision."""
        rng = np.random.RandomState(seed)
        own = rng.randint(self.X.shape[0], size=n)
        other = self.by_leaf[rng.randint(self.first[own], self.last[own])]
        taken = rng.uniform(size=(n, self.X.shape[1])) < SHARE_TAKEN
        return np.where(taken, self.X[other], self.X[own])

    def labels(self, X: np.ndarray, seed: int) -> np.ndarray:
        """Draw a label for each row."""
        below = self.booster.predict_proba(X).cumsum(axis=1)[:, :-1]
        return (np.random.RandomState(seed).uniform(size=(X.shape[0], 1)) > below).sum(axis=1)

    def write(self, folder: Path, n: int, seed: int) -> None:
        """Write n rows to Parquet files, never holding more than a block; the first rows are those of a smaller n."""
        for k, size in enumerate(_sizes(n)):
            X = self.rows(size, seed + 1 + k) if size == BLOCK else self.rows(BLOCK, seed + 1 + k)[:size]
            columns = {f"f{j:02d}": column for j, column in enumerate(X.T.copy())}
            pq.write_table(pa.table(columns), folder / f"part-{k:04d}.parquet", row_group_size=100_000)


def _sizes(n: int) -> Iterator[int]:
    for start in range(0, n, BLOCK):
        yield min(BLOCK, n - start)
