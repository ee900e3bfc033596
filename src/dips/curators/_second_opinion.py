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
from dips._data.folds import training_and_test
from dips._tools.arrays import Array
from dips._tools.warnings import many_classes

_MAX_ROWS = 20_000  # a linear model learns little more from more


def linear_out_of_fold(
    features: Any, labels: Array, n_classes: int, n_folds: int, groups: Array | None = None
) -> Array:
    """Class probabilities (n, C) of each row from a regularized logistic regression that was fitted without it.

    The only row of a class is in every training part, as in the backbone's own folds.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]])
    >>> linear_out_of_fold(X, np.array([0, 0, 0, 1, 1, 1]), n_classes=2, n_folds=3).argmax(axis=1)
    array([0, 0, 0, 1, 1, 1])
    """
    X = TableEncoder().set_output(transform="default").fit_transform(features)
    rng = np.random.RandomState(0)
    p = np.zeros((labels.size, n_classes))
    for is_train, is_test in training_and_test(labels, n_folds, rng.permutation(labels.size).argsort(), groups):
        train = rng.permutation(np.flatnonzero(is_train))[:_MAX_ROWS]
        with many_classes():
            model = _linear(X).fit(X[train], labels[train])
        p[np.ix_(is_test, model.classes_)] = model.predict_proba(X[is_test])
    return p


def _linear(X: Any) -> BaseEstimator:
    scaling = [MaxAbsScaler()] if sp.issparse(X) else [SimpleImputer(keep_empty_features=True), StandardScaler()]
    return make_pipeline(*scaling, LogisticRegression(C=0.1, max_iter=300))
