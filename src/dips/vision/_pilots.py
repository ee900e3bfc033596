"""Pilots: short trainings that each leave out a part of the labels, and can then judge it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dips._data.folds import training_and_test
from dips._tools.arrays import Array, Rows
from dips.vision._image_pool import ImagePool
from dips.vision._method import Method
from dips.vision._training import Recipe, Training


class Pilots:
    """One training for each part of the labels, side by side.

    Parameters
    ----------
    pool, recipe : as of the training that they go before
    rows, labels : (n,) labeled rows of the pool, and their codes
    order : (n,) in which the labels are dealt out
    n_folds : parts
    seed : of the first; the others follow
    """

    def __init__(
        self, pool: ImagePool, recipe: Recipe, rows: Rows, labels: Array, order: Rows, n_folds: int, seed: int
    ) -> None:
        self.rows, self.n_classes = rows, pool.n_classes
        self._folds = list(training_and_test(labels, n_folds, order))
        self.trainings = [Training(pool, recipe, rows[train], seed + k) for k, (train, _) in enumerate(self._folds)]

    def answers(self) -> Array:
        """Class probabilities (n, C) of each labeled image by the pilot that was not trained on its label."""
        p = np.empty((self.rows.size, self.n_classes))
        for (_, test), training in zip(self._folds, self.trainings, strict=True):
            p[test] = training.probabilities(rows=self.rows[test])
        return p

    def opinions(self, rows: Rows) -> Array:
        """Class probabilities (pilots, m, C) of some images by each pilot."""
        return np.stack([training.probabilities(rows=rows) for training in self.trainings])


def shortened(recipe: Recipe, n_steps: int, method: Method | None = None) -> Recipe:
    """Return the recipe with another length, and perhaps another method."""
    schedule = replace(recipe.schedule, n_steps=n_steps)
    return replace(recipe, schedule=schedule, method=method or recipe.method)
