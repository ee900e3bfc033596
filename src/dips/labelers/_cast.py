"""CAST: confidence counts for less where a class has no labeled rows nearby."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from dips._data.encoder import TableEncoder
from dips._tools.arrays import Array
from dips._tools.sklearn_compat import Interval
from dips.labelers._base import Candidates, Labeler

_FAR = 0.95  # the share of labeled rows nearer to their class than a row that has no density left


class CAST(Labeler):
    """Rows whose density-regularized confidence reaches `threshold` (cluster-aware self-training, Kim et al. 2023).

    A model can be sure of a row far from everything it was trained on. So the probability of each class is multiplied
    by 1 - `alpha` + `alpha` * density, where the density of the row under the class is 1 as close to the class as a
    typical labeled row, and 0 beyond nearly all of them; the rest is as in :class:`Greedy`.

    The density is estimated on the useful rows with a given label, as a normal distribution per class with independent
    columns, of the columns that the model sees. A missing value is as good as the class's mean.

    Parameters
    ----------
    threshold : float
        The least regularized confidence.
    alpha : float
        The strength of the regularization: at 0 this is :class:`Greedy`, at 1 nothing is taken where there is no
        density.
    """

    name = "cast"
    _parameter_constraints = {
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "alpha": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(self, threshold: float = 0.8, alpha: float = 0.5) -> None:
        self.threshold = threshold
        self.alpha = alpha

    def choose(self, candidates: Candidates) -> tuple[Array, Array, Array]:
        """Class of the largest regularized confidence, if that is large enough."""
        density = ClassDensity(candidates)
        prior = 1 - self.alpha + self.alpha * candidates.map_features(density)  # (m, C)
        confidence = candidates.probabilities * prior
        best = confidence.max(axis=1)
        return confidence.argmax(axis=1), best, best >= self.threshold


class ClassDensity:
    """Density of rows under each class, from 0 to 1, as learned from the useful rows."""

    def __init__(self, candidates: Candidates) -> None:
        labels, n_classes = candidates.useful_labels, candidates.probabilities.shape[1]
        self.encoder = TableEncoder().set_output(transform="default")
        X = self.encoder.fit_transform(_flat(candidates.useful_features()))
        spread = _moments(X)[1]
        spread[spread == 0] = 1.0  # a constant column says nothing
        self.means, self.variances = np.zeros((2, n_classes, X.shape[1]))
        own = np.full(labels.size, np.nan)  # distance of each row counted here to its own class
        for c in range(n_classes):
            rows = np.flatnonzero((labels == c) & candidates.useful_is_given)
            rows = rows if rows.size else np.flatnonzero(labels == c)
            if rows.size == 0:
                self.means[c], self.variances[c] = np.inf, 1.0
                continue
            mean, variance = _moments(X[rows])
            # One row's worth of the spread of all rows keeps a class of few rows from being a point.
            self.means[c], self.variances[c] = mean, (rows.size * variance + spread) / (rows.size + 1)
            own[rows] = _distances(X[rows], self.means[c], self.variances[c])
        self.near, self.far = np.nanquantile(own, [0.5, _FAR])

    def __call__(self, features: Any) -> Array:
        """Return the density (n, C) of rows of features."""
        X = self.encoder.transform(_flat(features))
        pairs = zip(self.means, self.variances, strict=True)
        distances = np.column_stack([_distances(X, mean, variance) for mean, variance in pairs])
        if self.far == self.near:
            return (distances <= self.near).astype(np.float64)
        return np.clip((self.far - distances) / (self.far - self.near), 0.0, 1.0)


def _flat(features: Any) -> Any:
    """Images and the like as one row of numbers each."""
    return features.reshape(len(features), -1) if getattr(features, "ndim", 2) > 2 else features


def _moments(X: Any) -> tuple[Array, Array]:
    """Mean and variance of each column; 0 where it holds no value."""
    if sp.issparse(X):
        X = _without_missing(X)
        mean = np.asarray(X.mean(axis=0)).ravel()
        return mean, np.maximum(np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2, 0.0)
    known = ~np.isnan(X)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, X, 0.0).sum(axis=0) / count
    return mean, (np.where(known, X - mean, 0.0) ** 2).sum(axis=0) / count


def _distances(X: Any, mean: Array, variance: Array) -> Array:
    """Mean over the columns of the squared distance to the mean, in units of the variance."""
    if not np.isfinite(mean).all():
        return np.full(X.shape[0], np.inf)
    if sp.issparse(X):
        X = _without_missing(X)
        squares = X.multiply(X) @ (1 / variance) - 2 * (X @ (mean / variance)) + (mean**2 / variance).sum()
        return np.asarray(squares).ravel() / X.shape[1]
    return (np.where(np.isnan(X), 0.0, X - mean) ** 2 / variance).mean(axis=1)


def _without_missing(X: Any) -> Any:
    """Return a sparse matrix in which a missing value is 0, as most of its values are."""
    X = X.astype(np.float64)
    X.data[np.isnan(X.data)] = 0.0
    return X
