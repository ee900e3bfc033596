"""Means with standard errors, and paired comparisons over seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student_t

from dips._tools.arrays import Array

_FEWEST = 3


def standard_error(values: Any) -> float:
    """Standard error of the mean over distinct seeds; NaN for fewer than two."""
    values = np.asarray(values, dtype=float)
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")


@dataclass(frozen=True)
class PairedComparison:
    """A mean paired difference, its standard error over seeds, and the p-value of no difference."""

    difference: float
    error: float
    p: float
    n: int


def compare(first: Any, second: Any, test_over_train: float = 0.0) -> PairedComparison:
    """Compare two methods on the same seeds by a paired t-test, two-sided.

    Splits of one table share rows, so their differences vary less than those of fresh tables would. Nadeau and Bengio
    (2003) correct the variance of the mean from s²/n to s² (1/n + test_over_train), with the ratio of test to training
    rows. For synthetic tables, drawn anew with each seed, the ratio is 0 and the test is the plain one. The standard
    error is s/√n in both cases. Fewer than three seeds are not tested: two differences may agree by chance.

    Examples
    --------
    >>> compare([3.0, 4.0, 5.0, 4.0], [2.0, 2.0, 4.0, 2.0]).difference
    1.5
    """
    gain = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    n = gain.size
    if n < _FEWEST:
        return PairedComparison(float(gain.mean()) if n else float("nan"), standard_error(gain), float("nan"), n)
    mean, variance = float(gain.mean()), float(gain.var(ddof=1))
    spread = np.sqrt(variance * (1 / n + test_over_train))
    if spread == 0:
        return PairedComparison(mean, 0.0, float(mean == 0), n)
    return PairedComparison(mean, standard_error(gain), float(2 * student_t.sf(abs(mean) / spread, n - 1)), n)


def holm(p_values: Any) -> Array:
    """Adjust p-values for how many comparisons are made (Holm 1979); NaN stays NaN and does not count.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(p.shape, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return adjusted
