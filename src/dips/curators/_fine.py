"""FINE: rows out of line with the main direction of their class are taken as mislabeled."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.preprocessing import StandardScaler
from sklearn.utils.extmath import row_norms

from dips._data.encoder import TableEncoder
from dips._tools.arrays import Array
from dips.curators._base import Curator, Evidence
from dips.curators._mixture import smaller_group

_FEW_ROWS = 3  # too few for a direction and two groups


class FINE(Curator):
    """Useful rows are aligned with the first eigenvector of their class's Gram matrix (Kim et al. 2021, appendix C.2).

    A row's alignment is its squared inner product, at unit length, with the eigenvector; a two-component Gaussian
    mixture, per class, tells the aligned from the others.

    The representation of a row is what the backbone is given, or the output of a pipeline's transformers, standardized,
    and a constant as long as an average row. The square is blind to sign: without the constant a row on the far side of
    the mean would be as well aligned as one on the near side. (A network's own representations, which the method was
    made for, are positive and need none.)
    """

    name = "fine"
    judges = ("tables",)  # it compares columns

    def curate(self, evidence: Evidence) -> Array:
        """Split each class by alignment."""
        scaled, center = _standardized(evidence.features())
        useful = np.ones(evidence.labels.shape, dtype=bool)
        for c in range(evidence.n_classes):
            rows = np.flatnonzero(evidence.labels == c)
            if rows.size > _FEW_ROWS:
                useful[rows] = smaller_group(-_alignment(scaled[rows], center))
        return useful


def _standardized(features: Any) -> tuple[Any, Array]:
    """Columns of unit variance (n, d), and the center (d,) still to be subtracted: a sparse column cannot be moved."""
    X = TableEncoder().set_output(transform="default").fit_transform(features)
    scaler = StandardScaler(with_mean=not sp.issparse(X))
    with np.errstate(invalid="ignore"):  # a column may be empty
        scaled = scaler.fit_transform(X)
    if not sp.issparse(X):
        return np.nan_to_num(scaled), np.zeros(X.shape[1])  # a missing value becomes the column's mean
    center = np.nan_to_num(scaler.mean_ / scaler.scale_)
    missing = np.isnan(scaled.data)
    scaled.data[missing] = center[scaled.indices[missing]]
    return scaled, center


def _alignment(scaled: Any, center: Array) -> Array:
    """Squared cosine of each row z = (scaled - center, sqrt(d)) and the first eigenvector of the sum of z z^T."""
    n, d = scaled.shape
    constant = np.sqrt(d)

    def project(u: Array) -> Array:
        u = u.ravel()
        return scaled @ u[:d] + (constant * u[d] - center @ u[:d])

    def back(w: Array) -> Array:
        w = w.ravel()
        return np.append(scaled.T @ w - center * w.sum(), constant * w.sum())

    rows = LinearOperator((n, d + 1), matvec=project, rmatvec=back, dtype=np.float64)
    first = svds(rows, k=1, v0=np.ones(min(n, d + 1)))[2][0]
    lengths = row_norms(scaled, squared=True) - 2 * (scaled @ center) + center @ center + d
    return project(first) ** 2 / lengths
