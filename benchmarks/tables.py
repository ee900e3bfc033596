"""The public tables of the paper as arrays, for the benchmarks; see dips.datasets for what they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from dips import datasets

SHARE = {"adult": 0.66, "covid": 0.66}  # the authors draw this share of the rows first; other tables are whole


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features as numbers and labels as codes."""
    table = datasets.load(name)
    return table.matrix, table.y


def split(X: np.ndarray, y: np.ndarray, seed: int, share: float = 1.0) -> tuple[np.ndarray, ...]:
    """Rows labeled, unlabeled and for the test, as the authors split: 20 % test, a tenth of the rest labeled."""
    rows = np.arange(y.size)
    if share < 1:
        rows = pd.Series(rows).sample(frac=share, random_state=42).to_numpy()
    train, test = train_test_split(rows, test_size=0.2, random_state=seed)
    labeled, unlabeled = train_test_split(train, train_size=0.1, random_state=seed)
    return labeled, unlabeled, test
