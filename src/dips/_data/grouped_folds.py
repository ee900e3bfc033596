"""Folds that leave groups whole: the rows of one patient, or rows that are the same, are never on both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dips._tools.arrays import Array, Rows


def group_codes(values: Any) -> Array:
    """Return a code for every value; a row without a value is a group of its own.

    Examples
    --------
    >>> group_codes(["P7", None, "P7", None]).tolist()
    [0, 1, 0, 2]
    """
    codes, distinct = pd.factorize(np.asarray(values, dtype=object))
    missing = codes < 0
    codes[missing] = len(distinct) + np.arange(missing.sum())
    return np.asarray(codes)


def grouped_folds(labels: Array, groups: Array, n_folds: int, order: Rows) -> Array:
    """Return the fold of every row; no group is in two folds, and every class is dealt out as evenly as that allows.

    Large groups are placed first, each where its classes are rarest; rows that are alone in their group then fill up
    the folds, in the given order.

    Examples
    --------
    >>> grouped_folds(np.array([0, 0, 1, 1, 0, 1]), np.array([7, 7, 7, 8, 8, 9]), 2, np.arange(6))
    array([0, 0, 0, 1, 1, 0])
    """
    _, group, size = np.unique(groups, return_inverse=True, return_counts=True)
    n_classes = int(labels.max()) + 1
    counts = np.zeros((n_folds, n_classes))
    total = np.maximum(np.bincount(labels, minlength=n_classes), 1)
    fold = np.empty(labels.size, dtype=np.intp)
    large = order[size[group[order]] > 1]
    content: dict[int, list[int]] = {}
    for row in large.tolist():
        content.setdefault(int(group[row]), []).append(row)
    for rows in sorted(content.values(), key=len, reverse=True):
        added = np.bincount(labels[rows], minlength=n_classes)
        k = int((((counts + added) ** 2 - counts**2) / total).sum(axis=1).argmin())
        counts[k] += added
        fold[rows] = k
    alone = order[size[group[order]] == 1]
    for c in range(n_classes):
        rows_alone = alone[labels[alone] == c]
        fold[rows_alone] = _filling(counts[:, c], rows_alone.size)
    return fold


def _filling(counts: Array, n: int) -> Array:
    """Return folds for n rows, so that the folds become as even as possible.

    Examples
    --------
    >>> _filling(np.array([3.0, 0.0, 1.0]), 5).tolist()
    [1, 1, 2, 1, 2]
    """
    levels = np.concatenate([counts[k] + np.arange(n) for k in range(counts.size)])
    folds = np.repeat(np.arange(counts.size), n)
    return folds[np.lexsort((folds, levels))[:n]]
