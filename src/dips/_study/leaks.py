"""Columns that predict the label almost alone: often recorded after the outcome was known."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from dips._files.prepare import Preparation
from dips._tools.arrays import Array, Rows

_SUSPICIOUS = 0.95  # balanced accuracy of one column, on rows not learned from
_ENOUGH_ROWS = 5_000


def find_leaks(preparation: Preparation, X: Array, codes: Array, labeled: Rows, seed: int = 0) -> dict[str, float]:
    """Return columns from which a small tree predicts the label, with its balanced accuracy on unseen rows."""
    rng = np.random.RandomState(seed)
    rows = np.sort(rng.permutation(labeled)[:_ENOUGH_ROWS])
    y = codes[rows]
    if np.bincount(y)[np.unique(y)].min() < 2:
        return {}
    folds = list(StratifiedKFold(2, shuffle=True, random_state=seed).split(rows, y))
    scores = {}
    for column in preparation.schema.used:
        part = X[rows][:, preparation.columns_of(column.name)]
        predicted = np.empty_like(y)
        for fit, test in folds:
            tree = DecisionTreeClassifier(max_depth=4, min_samples_leaf=5, class_weight="balanced", random_state=seed)
            predicted[test] = tree.fit(part[fit], y[fit]).predict(part[test])
        scores[column.name] = float(balanced_accuracy_score(y, predicted))
    return {name: score for name, score in scores.items() if score >= _SUSPICIOUS}
