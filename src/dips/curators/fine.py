"""FINE: rows out of line with the main direction of their class are taken as mislabeled."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from sklearn.preprocessing import StandardScaler

from dips._typing import Array
from dips.curators.base import Curator, Evidence
from dips.curators.mixture import smaller_group

_FEW_ROWS = 3  # too few for a direction and two groups


class FINE(Curator):
    """Useful rows are aligned with the first eigenvector of their class's Gram matrix (Kim et al. 2021, appendix C.2).

    The representation of a row is what the backbone is given: standardized features, or the output of a pipeline's
    transformers. A row's alignment is its squared inner product with the eigenvector; a two-component Gaussian mixture,
    per class, tells the aligned from the others.
    """

    name = "fine"
    statistics = ("confidence",)

    def curate(self, evidence: Evidence) -> Array:
        """Split each class by alignment."""
        representation = _standardized(evidence.features())
        useful = np.ones(evidence.labels.shape, dtype=bool)
        for c in range(evidence.n_classes):
            rows = np.flatnonzero(evidence.labels == c)
            if rows.size > _FEW_ROWS:
                useful[rows] = smaller_group(-_alignment(representation[rows]))
        return useful


def _standardized(features: Any) -> Any:
    if sp.issparse(features):
        return StandardScaler(with_mean=False).fit_transform(features)
    features = np.asarray(features, dtype=np.float64)
    return np.nan_to_num(StandardScaler().fit_transform(features))  # a missing value becomes the column's mean


def _alignment(representation: Any) -> Array:
    if sp.issparse(representation) and min(representation.shape) > 1:
        _, _, directions = svds(representation.astype(np.float64), k=1, random_state=0)
        first = directions[0]
    else:
        dense = representation.toarray() if sp.issparse(representation) else representation
        first = np.linalg.eigh(dense.T @ dense)[1][:, -1]
    return np.asarray(representation @ first).ravel() ** 2
