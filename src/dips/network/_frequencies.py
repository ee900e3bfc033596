"""Known class frequencies: dirty labels cannot tell them, and the network takes those of the labels for true."""

from __future__ import annotations

import numpy as np

from dips._tools.arrays import Array

_MAX_STEPS = 1_000
_LEAST_PROBABILITY = 1e-9  # a class that is ruled out everywhere could otherwise never reach its frequency


def factors_for(frequencies: Array, p: Array) -> Array:
    """Factors (C,), of mean one, that give the answers (n, C) the wanted mean.

    Examples
    --------
    >>> p = np.array([[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]])
    >>> reweighed(p, factors_for(np.array([0.7, 0.3]), p)).mean(0).round(3)
    array([0.7, 0.3])
    """
    log_factors = np.zeros(frequencies.size)
    p = np.maximum(p, _LEAST_PROBABILITY)
    for _ in range(_MAX_STEPS):
        step = np.log(frequencies / reweighed(p, np.exp(log_factors)).mean(0))
        log_factors += step
        log_factors -= log_factors.mean()
        if np.abs(step).max() < 1e-6:
            break
    return np.exp(log_factors)


def reweighed(p: Array, factors: Array) -> Array:
    """Answers (n, C) with every class's odds multiplied by its factor."""
    p = p * factors
    return p / p.sum(axis=1, keepdims=True)
