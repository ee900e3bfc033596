"""Which labels are most useful to check: how much the model's answers are expected to change by a look."""

from __future__ import annotations

import numpy as np

from dips._tools.arrays import Array

_RIDGE = 10.0  # precision of the weights of the linear stand-in, as in the linear teacher


def check_gain(belief: Array, distribution: Array, columns: Array | None) -> Array:
    """Return (n,) how far the answers about all rows are expected to move when a label is checked.

    A look replaces the belief of a row by its true class. The expected square of that change is 1 - sum of b², which is
    0 for a label that is surely right or surely wrong: the model is trained on what it surely is already. It counts for
    as much as the row pulls on the answers about the others, which a linear stand-in of the model tells without
    training.

    Parameters
    ----------
    belief : (n, C) about labeled rows
    distribution : (m, C) of unlabeled rows
    columns : (n + m, p) scaled, or None where the rows are no numbers: then all pull alike
    """
    change = np.sqrt(np.maximum(1 - (belief**2).sum(axis=1), 0))
    return change * _pull(np.concatenate([belief, distribution]), columns)[: len(belief)]


def _pull(p: Array, columns: Array | None) -> Array:
    """Norm of the change of all answers for a unit change of one row's target, by a step of logistic regression."""
    if columns is None:
        return np.ones(len(p))
    Z = np.column_stack([columns, np.ones(len(columns))])
    most = p.max(axis=1)
    slope = most * (1 - most) + 1e-3  # of the logistic function at each row
    curvature = (Z.T * slope) @ Z + _RIDGE * np.eye(Z.shape[1])
    back = np.linalg.solve(curvature, Z.T)  # (p, n): how the weights follow each target
    spread = (Z.T * slope**2) @ Z
    return np.sqrt(np.maximum(np.einsum("pi,pq,qi->i", back, spread, back, optimize=True), 0))
