"""Label noise, made on purpose: each maker returns the noisy labels and the mask of those it changed.

Unlabeled rows (missing, or -1 as in the estimators) are never touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import softmax
from scipy.stats import truncnorm
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from dips._typing import Array, Rows
from dips.labels import encode_labels
from dips.tables import TableEncoder


def flip_labels(y: Any, rate: float, *, random_state: Any = None) -> tuple[Array, Array]:
    """Symmetric noise: exactly ``int(rate * n)`` of the n labeled rows get another class, each as likely.

    Examples
    --------
    >>> noisy, flipped = flip_labels(["a", "b", "a", "b"], 0.5, random_state=0)
    >>> int(flipped.sum())
    2
    """
    _check_rate(rate)
    rng, labels = check_random_state(random_state), encode_labels(y)
    labeled = np.flatnonzero(labels.is_labeled)
    rows = rng.choice(labeled, size=int(rate * labeled.size), replace=False)
    n_classes = labels.classes.size
    shifted = (labels.codes[rows] + rng.randint(1, n_classes, size=rows.size)) % n_classes
    return _changed(labels, rows, shifted)


def flip_labels_by_class(y: Any, rates: Mapping[Any, float], *, random_state: Any = None) -> tuple[Array, Array]:
    """Class-conditional noise: of the rows of class c, exactly ``int(rates[c] * n_c)`` get another class.

    Examples
    --------
    >>> noisy, flipped = flip_labels_by_class([0, 0, 1, 1], {1: 1.0}, random_state=0)
    >>> noisy
    array([0, 0, 0, 0])
    """
    rng, labels = check_random_state(random_state), encode_labels(y)
    unknown = set(rates) - set(labels.classes.tolist())
    if unknown:
        raise ValueError(f"rates names classes {sorted(unknown, key=str)} that y does not have.")
    n_classes = labels.classes.size
    rows_of, codes_of = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    for c, name in enumerate(labels.classes.tolist()):
        _check_rate(rates.get(name, 0.0))
        rows = np.flatnonzero(labels.codes == c)
        rows = rng.choice(rows, size=int(rates.get(name, 0.0) * rows.size), replace=False)
        rows_of.append(rows)
        codes_of.append((c + rng.randint(1, n_classes, size=rows.size)) % n_classes)
    return _changed(labels, np.concatenate(rows_of), np.concatenate(codes_of))


def flip_labels_by_instance(X: Any, y: Any, rate: float, *, random_state: Any = None) -> tuple[Array, Array]:
    """Instance-dependent noise: how likely a row's label is wrong, and what it becomes, depends on its features.

    After Xia et al. (2020): each row draws its own rate around `rate`, and a random linear map of its features, one for
    each true class, says which of the other classes it is mistaken for. `rate` is met on average.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> X, y = rng.normal(size=(1000, 3)), rng.randint(0, 3, 1000)
    >>> noisy, flipped = flip_labels_by_instance(X, y, 0.2, random_state=0)
    >>> 0.15 < flipped.mean() < 0.25
    True
    """
    _check_rate(rate)
    rng, labels = check_random_state(random_state), encode_labels(y)
    features = np.nan_to_num(StandardScaler().fit_transform(np.asarray(TableEncoder().fit_transform(X))))
    n_classes, rows = labels.classes.size, np.flatnonzero(labels.is_labeled)
    codes, spread = labels.codes[rows], 0.1
    if rate == 0:
        return _changed(labels, np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))
    row_rates = truncnorm.rvs(-rate / spread, (1 - rate) / spread, rate, spread, size=rows.size, random_state=rng)
    row_rates *= rate / row_rates.mean()
    maps = rng.normal(size=(n_classes, features.shape[1], n_classes))
    scores = np.einsum("ij,ijk->ik", features[rows], maps[codes])
    scores[np.arange(rows.size), codes] = -np.inf
    mistaken_for = (softmax(scores, axis=1).cumsum(axis=1) < rng.uniform(size=(rows.size, 1))).sum(axis=1)
    wrong = rng.uniform(size=rows.size) < row_rates
    return _changed(labels, rows[wrong], mistaken_for[wrong])


def _changed(labels: Any, rows: Rows, codes: Array) -> tuple[Array, Array]:
    noisy = labels.codes.copy()
    noisy[rows] = codes
    return labels.decode(noisy), noisy != labels.codes


def _check_rate(rate: float) -> None:
    if not 0 <= rate <= 1:
        raise ValueError(f"A noise rate is a share between 0 and 1; got {rate!r}.")
