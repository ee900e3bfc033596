"""Matrices T[c, k] of noise: the probability that a row of class c is labeled k."""

from __future__ import annotations

import numpy as np

from dips._tools.arrays import Array


def transition(rates: float | Array, n_classes: int) -> Array:
    """T[c, k]: probability that a row of class c is labeled k; all wrong labels are equally likely.

    Examples
    --------
    >>> transition(0.2, 3).round(2)
    array([[0.8, 0.1, 0.1],
           [0.1, 0.8, 0.1],
           [0.1, 0.1, 0.8]])
    >>> transition(np.array([0.4, 0.0]), 2)
    array([[0.6, 0.4],
           [0. , 1. ]])
    """
    rates = np.broadcast_to(rates, n_classes)
    T = np.repeat(rates[:, None] / (n_classes - 1), n_classes, axis=1)
    np.fill_diagonal(T, 1 - rates)
    return T


def in_proportion(rate: float, frequencies: Array) -> Array:
    """T[c, k]: the same where wrong labels name the other classes as often as these occur, so that none gains much.

    Examples
    --------
    >>> in_proportion(0.2, np.array([0.6, 0.3, 0.1])).round(2)
    array([[0.8 , 0.15, 0.05],
           [0.17, 0.8 , 0.03],
           [0.13, 0.07, 0.8 ]])
    """
    T = rate * frequencies / (1 - frequencies)[:, None]
    np.fill_diagonal(T, 1 - rate)
    return np.asarray(T)


def spared(matrix: Array, trusted: Array) -> Array:
    """Return the same errors, but none names a trusted class (mask (C,)): they name the others more often instead.

    Examples
    --------
    >>> spared(transition(0.2, 3), np.array([True, False, False])).round(2)
    array([[0.8, 0.1, 0.1],
           [0. , 0.8, 0.2],
           [0. , 0.2, 0.8]])
    """
    wrong = matrix * ~np.eye(len(matrix), dtype=bool)
    possible = wrong * ~trusted
    total = possible.sum(axis=1, keepdims=True)
    T = possible * np.divide(wrong.sum(axis=1, keepdims=True), total, out=np.zeros_like(total), where=total > 0)
    np.fill_diagonal(T, 1 - T.sum(axis=1))
    return np.asarray(T)


def taken_for(c: int, rates: float | Array, n_classes: int) -> Array:
    """T[c, k] where rows of other classes are taken for class c, all at one rate, or each at its own.

    Examples
    --------
    >>> taken_for(0, 0.2, 3).round(2)
    array([[1. , 0. , 0. ],
           [0.2, 0.8, 0. ],
           [0.2, 0. , 0.8]])
    """
    is_class, each = np.eye(n_classes), np.broadcast_to(rates, n_classes)[:, None]
    return np.asarray((1 - each) * is_class + each * is_class[c])


def moved_to(found: Array, expected: Array, trusted: Array) -> Array:
    """T[k, l]: the least share of the labels k to turn into l, so that labels as `expected` are as frequent as `found`.

    Labels that are too frequent become those that are too rare, in proportion; none becomes a trusted one.

    Examples
    --------
    >>> moved_to(np.array([0.3, 0.5, 0.2]), np.array([0.5, 0.3, 0.2]), np.zeros(3, dtype=bool)).round(2)
    array([[0.6, 0.4, 0. ],
           [0. , 1. , 0. ],
           [0. , 0. , 1. ]])
    """
    too_many, too_few = np.maximum(expected - found, 0), np.maximum(found - expected, 0) * ~trusted
    T = np.outer(too_many, too_few) / (expected * max(too_many.sum(), 1e-12))[:, None]
    np.fill_diagonal(T, 1 - T.sum(axis=1))
    return np.asarray(T)
