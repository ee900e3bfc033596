"""Label noise made on purpose: each function returns the noisy labels and the mask of those it changed.

Unlabeled rows (missing, or -1 as in the estimators) are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.special import expit, logit, softmax
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from dips._data.encoder import TableEncoder
from dips._data.labels import Labels, encode_labels
from dips._tools.arrays import Array
from dips.exceptions import InputError


def flip_labels(y: Any, rate: float, *, random_state: Any = None) -> tuple[Array, Array]:
    """Symmetric noise: exactly ``int(rate * n)`` of the n labeled rows get another class, all equally likely.

    Parameters
    ----------
    y : column (n,)
        Labels; rows without one keep none.
    rate : float
        Share of the labels to change.
    random_state : int, RandomState or None, default=None

    Examples
    --------
    >>> noisy, flipped = flip_labels(["a", "b", "a", "b"], 0.5, random_state=0)
    >>> int(flipped.sum())
    2
    """
    rng, labels = check_random_state(random_state), encode_labels(y)
    labeled = np.flatnonzero(labels.is_labeled)
    rows = rng.choice(labeled, size=int(_checked_rate(rate) * labeled.size), replace=False)
    noisy = labels.codes.copy()
    noisy[rows] = _other_class(noisy[rows], labels.classes.size, rng)
    return _changed(labels, noisy)


def flip_labels_by_class(
    y: Any, rates: Mapping[Any, float | Mapping[Any, float]], *, random_state: Any = None
) -> tuple[Array, Array]:
    """Class-conditional noise: of the n_c rows of class c, exactly ``int(rates[c] * n_c)`` get another class.

    A rate may itself be a mapping, from the other classes to their shares: ``{"wolf": {"dog": 0.3}}`` turns 30 % of the
    wolves into dogs.

    Parameters
    ----------
    y : column (n,)
        Labels; rows without one keep none.
    rates : mapping
        From a class to the share of its labels to change, or to the shares of the classes that they become.
    random_state : int, RandomState or None, default=None

    Examples
    --------
    >>> noisy, flipped = flip_labels_by_class([0, 0, 1, 1], {1: 1.0}, random_state=0)
    >>> noisy
    array([0, 0, 0, 0])
    """
    rng, labels = check_random_state(random_state), encode_labels(y)
    classes = labels.classes.tolist()
    _check_classes(rates, classes)
    noisy = labels.codes.copy()
    for c, name in enumerate(classes):
        rate, rows = rates.get(name, 0.0), rng.permutation(np.flatnonzero(labels.codes == c))
        if isinstance(rate, Mapping):
            _check_classes(rate, classes)
            counts = [int(_checked_rate(rate.get(other, 0.0)) * rows.size) for other in classes]
            _checked_rate(round(sum(rate.values()), 9))
            become = np.repeat(np.arange(len(classes)), counts)
        else:
            become = _other_class(np.full(int(_checked_rate(rate) * rows.size), c), len(classes), rng)
        noisy[rows[: become.size]] = become
    return _changed(labels, noisy)


def flip_labels_by_instance(X: Any, y: Any, rate: float, *, random_state: Any = None) -> tuple[Array, Array]:
    """Instance-dependent noise: how likely a row's label is wrong, and what it becomes, depends on its features.

    After Xia et al. (2020). A random linear score of the features says how hard a row is: the odds that its label is
    wrong grow e-fold with every standard deviation of the score. Another random linear map, one for each true class,
    says which of the other classes it is mistaken for. `rate` is met on average.

    Parameters
    ----------
    X : table (n, p)
        The features that the noise depends on.
    y : column (n,)
        Labels; rows without one keep none.
    rate : float
        Share of the labels to change, on average.
    random_state : int, RandomState or None, default=None

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> X, y = rng.normal(size=(1000, 3)), rng.randint(0, 3, 1000)
    >>> noisy, flipped = flip_labels_by_instance(X, y, 0.2, random_state=0)
    >>> bool(0.15 < flipped.mean() < 0.25)
    True
    """
    rng, labels = check_random_state(random_state), encode_labels(y)
    rate, rows, n_classes = _checked_rate(rate), np.flatnonzero(labels.is_labeled), labels.classes.size
    features = _standardized(X)
    if features.shape[0] != labels.codes.size:
        raise InputError(
            f"X and y must have the same length; X has {features.shape[0]} rows, y has {labels.codes.size}."
        )
    hardness = features[rows] @ rng.normal(size=features.shape[1])
    rows = rows[rng.uniform(size=rows.size) < _row_rates(rate, hardness)]
    noisy = labels.codes.copy()
    for c in range(n_classes):
        of_class = rows[labels.codes[rows] == c]
        scores = features[of_class] @ rng.normal(size=(features.shape[1], n_classes))
        scores[:, c] = -np.inf  # never itself
        cumulated = softmax(scores, axis=1).cumsum(axis=1)
        noisy[of_class] = (cumulated <= rng.uniform(size=(of_class.size, 1)) * cumulated[:, -1:]).sum(axis=1)
    return _changed(labels, noisy)


def _row_rates(rate: float, hardness: Array) -> Array:
    """A rate for each row that grows with its hardness; their mean is `rate`."""
    spread = hardness.std() if hardness.size else 0.0
    if rate in (0, 1) or spread == 0:
        return np.full(hardness.size, float(rate))
    log_odds = (hardness - hardness.mean()) / spread
    furthest = float(np.abs(log_odds).max())
    start = logit(rate)
    shift = brentq(lambda a: expit(log_odds + a).mean() - rate, start - furthest, start + furthest)
    return expit(log_odds + shift)


def _standardized(X: Any) -> Any:
    features = TableEncoder().fit_transform(X)
    if sp.issparse(features):
        return StandardScaler(with_mean=False).fit_transform(features)
    return np.nan_to_num(StandardScaler().fit_transform(features))  # a missing value becomes the column's mean


def _other_class(codes: Array, n_classes: int, rng: np.random.RandomState) -> Array:
    """Another class than the given one, all equally likely."""
    return (codes + rng.randint(1, n_classes, size=codes.size)) % n_classes


def _changed(labels: Labels, noisy: Array) -> tuple[Array, Array]:
    return labels.decode(noisy), noisy != labels.codes


def _checked_rate(rate: float) -> float:
    if not 0 <= rate <= 1:
        raise InputError(f"A noise rate is a share between 0 and 1; got {rate!r}.")
    return rate


def _check_classes(named: Mapping[Any, Any], classes: list[Any]) -> None:
    unknown = set(named) - set(classes)
    if unknown:
        raise InputError(f"rates names classes {sorted(unknown, key=str)}, which y does not have.")
