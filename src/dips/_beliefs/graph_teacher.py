"""The graph as a teacher: labels spread from row to near row, through unlabeled rows too.

Other teachers are trained on labeled rows alone, so an unlabeled row tells them nothing. Where classes lie in clusters,
unlabeled rows show the clusters, and a label or two tell the class of each (Zhou et al. 2004, local and global
consistency). Where they do not, the graph explains held-out labels badly, and little weight is left to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from dips._beliefs.teachers import Answers
from dips._tools.arrays import Array, Rows
from dips._tools.threads import one_blas_thread

_N_NEAR = 10
_SPREAD = 0.95  # of what a row holds, the share that comes from near rows
_N_STEPS = 60
_PRIOR = 0.1  # of the usual classes, as a share of what a row holds on average


@dataclass(frozen=True)
class GraphTeacher:
    """Spreads the labels of all folds at once."""

    X: Array  # labeled rows, unlabeled ones, then synthetic ones
    n_synthetic: int  # which are no part of the graph: the rows next to them answer for them
    n_classes: int
    weights: Array | None  # of the labeled rows
    max_rows: int
    name: str = "graph"

    def answer(self, trainings: Sequence[Rows], tests: Sequence[Rows], labels: Array) -> Answers:
        """Spread the labels of the training rows over the graph of all rows."""
        n_real = len(self.X) - self.n_synthetic
        shown = np.zeros((n_real, len(trainings), self.n_classes))
        weights = np.ones(labels.size) if self.weights is None else self.weights
        for k, train in enumerate(trainings):
            shown[train, k, labels[train]] = weights[train]
        with one_blas_thread():
            near = NearestNeighbors(n_neighbors=min(_N_NEAR, n_real - 1)).fit(self.X[:n_real])
            p = _shares(spread(near.kneighbors_graph(), shown), shown)
            beside = near.kneighbors(self.X[n_real:], return_distance=False) if self.n_synthetic else None
        labeled, mean = np.zeros((labels.size, self.n_classes)), p.mean(axis=1)
        for k, test in enumerate(tests):
            labeled[test] = p[test, k]
        unlabeled = mean[labels.size :]
        if beside is not None:
            unlabeled = np.concatenate([unlabeled, mean[beside].mean(axis=1)])
        return Answers(labeled, unlabeled)


def spread(near: sp.csr_matrix, shown: Array) -> Array:
    """What every row holds (n, folds, C) after what is shown of some (n, folds, C) has spread to those near them."""
    links = sp.csr_array(near.maximum(near.T))
    root = sp.csr_array(sp.diags(1 / np.sqrt(links.sum(axis=1))))  # SciPy 1.11 has no diags_array
    links = sp.csr_array(root @ links @ root)  # scaled so that nothing grows as it spreads
    start = shown.reshape(len(shown), -1)
    held = start
    for _ in range(_N_STEPS):
        held = _SPREAD * (links @ held) + (1 - _SPREAD) * start
    return held.reshape(shown.shape)


def _shares(held: Array, shown: Array) -> Array:
    """Shares of the classes in what each row holds (n, folds, C); the less it holds, the nearer to the usual ones."""
    usual = shown.sum(axis=0) / shown.sum(axis=(0, 2))[:, None]
    held = held + _PRIOR * held.sum(axis=2).mean(axis=0)[:, None] * usual
    return np.asarray(held / held.sum(axis=2, keepdims=True))
