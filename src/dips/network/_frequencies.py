"""Known class frequencies: dirty labels cannot tell them, and the network takes those of the labels for true."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from dips._tools.arrays import Array
from dips.exceptions import InputError

_MAX_STEPS = 1_000
_LEAST_PROBABILITY = 1e-9  # a class that is ruled out everywhere could otherwise never reach its frequency


def check_frequencies(frequencies: Any, classes: Array) -> Array:
    """Shares (C,) in the order of the classes, from a mapping or a sequence; refused unless positive with sum one."""
    if isinstance(frequencies, pd.Series):  # as value_counts gives it, the most frequent class first
        frequencies = frequencies.to_dict()
    if isinstance(frequencies, Mapping):
        strange = sorted(map(str, set(frequencies) ^ set(classes.tolist())))
        if strange:
            raise InputError(
                f"class_frequencies and the labels differ in these classes: {', '.join(strange[:5])}. Give a share for "
                "every class that has a label, and for no other."
            )
        frequencies = [frequencies[name] for name in classes.tolist()]
    try:
        shares = np.asarray(frequencies, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"class_frequencies must be numbers, but are {frequencies!r}.") from error
    if shares.shape != classes.shape:
        raise InputError(f"class_frequencies has {shares.size} shares, and the labels name {classes.size} classes.")
    if not ((shares > 0).all() and abs(shares.sum() - 1) < 0.01):
        raise InputError(f"class_frequencies must be positive and sum to 1, but are {shares.tolist()}.")
    return shares / shares.sum()


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
