"""Folds of labeled rows for probabilities from models that did not see them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dips._data.grouped_folds import grouped_folds
from dips._tools.arrays import Array, Rows


def strata(labels: Array, weights: Array | None) -> Array:
    """Return what folds deal out evenly: classes, and in each class those rows apart that weigh nothing.

    So every training part has rows of each class that weigh something.

    Examples
    --------
    >>> strata(np.array([0, 0, 1, 1]), np.array([0.5, 0.0, 2.0, 1.0]))
    array([0, 1, 2, 2])
    """
    return labels if weights is None else 2 * labels + (weights <= 0)


def training_and_test(
    labels: Array, n_folds: int, order: Rows, groups: Array | None = None
) -> Iterator[tuple[Array, Array]]:
    """Masks of the training and the test rows of each fold: every class is dealt out evenly, in the given order.

    The only row of a class, or its only group, is in every training part, so that every model knows all the classes;
    and so are all rows of a class whose groups are all in one fold. No group is divided otherwise.

    Examples
    --------
    >>> for train, test in training_and_test(np.array([0, 0, 1, 1, 2]), 2, np.arange(5)):
    ...     print(train.astype(int), test.astype(int))
    [0 1 0 1 1] [1 0 1 0 1]
    [1 0 1 0 1] [0 1 0 1 0]
    """
    if groups is None:
        fold = np.empty(labels.size, dtype=np.intp)
        fold[order[np.argsort(labels[order], kind="stable")]] = np.arange(labels.size) % n_folds
        n_parts = min(n_folds, labels.size)
    else:
        n_parts = min(n_folds, np.unique(groups).size)
        fold = grouped_folds(labels, groups, n_parts, order)
    for k in range(n_parts):
        yield (fold != k) | ~np.isin(labels, labels[fold != k]), fold == k
