"""Observed shares: their intervals, and whether probabilities agree with them."""

from __future__ import annotations

import numpy as np

from dips._tools.arrays import Array

_N_GROUPS, _LEAST_IN_GROUP = 8, 15


def calibration_of(p: Array, is_positive: Array) -> list[dict[str, float]]:
    """Mean probability and observed share, with its 95 % interval, in groups of about equally many rows.

    Rows of one probability stay together, so that the order of the rows does not matter.

    Examples
    --------
    >>> p = np.repeat([0.2, 0.8], 50)
    >>> [(round(r["said"], 1), r["seen"]) for r in calibration_of(p, np.tile([1, 0, 0, 0, 0], 20) == 1)]
    [(0.2, 0.2), (0.8, 0.2)]
    """
    order = np.argsort(p, kind="stable")
    even = np.array_split(p[order], min(_N_GROUPS, max(p.size // _LEAST_IN_GROUP, 1)))
    ends = np.searchsorted(p[order], [part[-1] for part in even if part.size], side="right")
    records = []
    for g in np.split(order, np.unique(ends)[:-1]) if p.size else []:
        k, n = int(is_positive[g].sum()), int(g.size)
        low, high = wilson(k, n)
        records.append({"said": float(p[g].mean()), "seen": k / n, "n": n, "low": low, "high": high})
    return records


def wilson(k: int, n: int) -> tuple[float, float]:
    """95 % interval of a share.

    Examples
    --------
    >>> [round(limit, 3) for limit in wilson(1, 10)]
    [0.018, 0.404]
    """
    z = 1.96
    center = (k + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * np.sqrt(k * (n - k) / n + z * z / 4)
    return max(0.0, float(center - half)), min(1.0, float(center + half))
