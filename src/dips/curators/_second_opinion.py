"""A second opinion on labels: a linear model, simple where trees and networks are not, and so wrong elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from dips._data.encoder import TableEncoder
from dips._data.folds import strata, training_and_test
from dips._tools.arrays import Array, Rows
from dips._tools.warnings import many_classes

_MAX_ROWS = 20_000  # a linear model learns little more from more


def linear_out_of_fold(
    features: Any,
    labels: Array,
    n_classes: int,
    n_folds: int,
    groups: Array | None = None,
    weights: Array | None = None,
) -> Array:
    """Class probabilities (n, C) of each row from a regularized logistic regression that was fitted without it.

    The only row of a class is in every training part, as in the backbone's own folds. Of weights only the proportions
    count.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]])
    >>> linear_out_of_fold(X, np.array([0, 0, 0, 1, 1, 1]), n_classes=2, n_folds=3).argmax(axis=1)
    array([0, 0, 0, 1, 1, 1])
    """
    X = TableEncoder().set_output(transform="default").fit_transform(features)
    rng = np.random.RandomState(0)
    p, order = np.zeros((labels.size, n_classes)), rng.permutation(labels.size).argsort()
    for is_train, is_test in training_and_test(strata(labels, weights), n_folds, order, groups):
        train = rng.permutation(np.flatnonzero(is_train))[:_MAX_ROWS]
        with many_classes():
            model = _linear(X).fit(X[train], labels[train], **_weighing(weights, train))
        p[np.ix_(is_test, model.classes_)] = model.predict_proba(X[is_test])
    return p


def _weighing(weights: Array | None, train: Rows) -> dict[str, Array]:
    """Return the weights for the last step, 1 on average: the scale that its penalty is made for."""
    return {} if weights is None else {"logisticregression__sample_weight": weights[train] / weights[train].mean()}


def _linear(X: Any) -> BaseEstimator:
    scaling = [MaxAbsScaler()] if sp.issparse(X) else [SimpleImputer(keep_empty_features=True), StandardScaler()]
    return make_pipeline(*scaling, LogisticRegression(C=0.1, max_iter=300))
