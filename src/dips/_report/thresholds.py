"""Where to draw the line: what each threshold on the probability of one class finds, misses and raises for nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from dips._tools.arrays import Array

_MOST = 60  # thresholds that the page can try
SHOWN = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def summarize_thresholds(codes: Array, p: Array, positive: int, costs: Array | None = None) -> dict[str, Any]:
    """Return counts at thresholds on the probability of the positive class, against all others.

    Parameters
    ----------
    codes, p : labels (n,) and class probabilities (n, C) of the held-out rows
    costs : (C,) of missing a row of each class; a false alarm costs as much as missing a row of the other classes does
        on average

    Examples
    --------
    >>> p = np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [0.2, 0.8]])
    >>> found = summarize_thresholds(np.array([0, 0, 1, 1]), p, positive=1)
    >>> [row for row in found["rows"] if row["threshold"] == 0.5]
    [{'threshold': 0.5, 'found': 1, 'missed': 1, 'alarms': 1}]
    """
    is_positive, scores = codes == positive, p[:, positive]
    between = np.quantile(scores, np.linspace(0, 1, _MOST)).round(3)
    levels = np.unique(np.concatenate([between[(between > 0) & (between < 1)], SHOWN]))
    rows = []
    for level in levels:
        said = scores >= level
        found = int((said & is_positive).sum())
        rows.append(
            {
                "threshold": float(level),
                "found": found,
                "missed": int(is_positive.sum()) - found,
                "alarms": int((said & ~is_positive).sum()),
            }
        )
    return {
        "rows": rows,
        "n_positive": int(is_positive.sum()),
        "n_rest": int((~is_positive).sum()),
        "cost_missed": 1.0 if costs is None else float(costs[positive]),
        "cost_alarm": 1.0 if costs is None else _cost_of_alarm(costs, codes, positive),
    }


def _cost_of_alarm(costs: Array, codes: Array, positive: int) -> float:
    others = codes[codes != positive]
    return float(costs[others].mean()) if others.size else 1.0


def best_row(thresholds: dict[str, Any]) -> dict[str, Any]:
    """Return the row with the least cost; of equal ones, that nearest to one half."""
    missed, alarm = thresholds["cost_missed"], thresholds["cost_alarm"]
    return min(
        thresholds["rows"],
        key=lambda r: (r["missed"] * missed + r["alarms"] * alarm, abs(r["threshold"] - 0.5)),
    )
