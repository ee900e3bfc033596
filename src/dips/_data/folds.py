"""Folds of labeled rows for probabilities from models that did not see them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dips._tools.arrays import Array, Rows


def training_and_test(labels: Array, n_folds: int, order: Rows) -> Iterator[tuple[Array, Array]]:
    """Masks of the training and the test rows of each fold: every class is dealt out evenly, in the given order.

    The only row of a class is in every training part, so that every model knows all the classes.

    Examples
    --------
    >>> for train, test in training_and_test(np.array([0, 0, 1, 1, 2]), 2, np.arange(5)):
    ...     print(train.astype(int), test.astype(int))
    [0 1 0 1 1] [1 0 1 0 1]
    [1 0 1 0 1] [0 1 0 1 0]
    """
    fold = np.empty(labels.size, dtype=np.intp)
    fold[order[np.argsort(labels[order], kind="stable")]] = np.arange(labels.size) % n_folds
    is_only = np.bincount(labels)[labels] == 1
    for k in range(min(n_folds, labels.size)):
        yield (fold != k) | is_only, fold == k
