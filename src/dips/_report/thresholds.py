"""Where to draw the line: what each threshold on the probability of one class finds, misses and raises for nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from dips._tools.arrays import Array

_MOST = 60  # thresholds that the page can try
_USUAL = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_SHOWN = 10  # in the table


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
    >>> summary = summarize_thresholds(np.array([0, 0, 1, 1]), p, positive=1)
    >>> [row for row in summary["rows"] if row["threshold"] == 0.5]
    [{'threshold': 0.5, 'found': 1, 'missed': 1, 'alarms': 1}]
    """
    is_positive, scores = codes == positive, p[:, positive]
    between = np.quantile(scores, np.linspace(0, 1, _MOST)).round(4)
    levels = np.unique(np.concatenate([between[(between > 0) & (between < 1)], _USUAL]))
    rows: list[dict[str, Any]] = []
    for level in levels:
        said = scores >= level
        n_caught = int((said & is_positive).sum())
        rows.append(
            {
                "threshold": float(level),
                "found": n_caught,
                "missed": int(is_positive.sum()) - n_caught,
                "alarms": int((said & ~is_positive).sum()),
            }
        )
    return {
        "rows": rows,
        "shown": _shown(rows),
        "n_positive": int(is_positive.sum()),
        "n_rest": int((~is_positive).sum()),
        "cost_missed": 1.0 if costs is None else float(costs[positive]),
        "cost_alarm": 1.0 if costs is None else _cost_of_alarm(costs, codes, positive),
    }


def _shown(rows: list[dict[str, Any]]) -> list[int]:
    """Positions of a few thresholds that differ in what they find, spread over all."""
    usual = _distinct(rows, [i for i, row in enumerate(rows) if row["threshold"] in _USUAL])
    if len(usual) > _SHOWN // 2:
        return usual
    every = _distinct(rows, list(range(len(rows))))
    return [every[i] for i in np.unique(np.linspace(0, len(every) - 1, min(_SHOWN, len(every))).round().astype(int))]


def _distinct(rows: list[dict[str, Any]], positions: list[int]) -> list[int]:
    """The lowest of thresholds that find the same."""
    outcomes = [(rows[i]["found"], rows[i]["alarms"]) for i in positions]
    return [i for k, i in enumerate(positions) if k == 0 or outcomes[k] != outcomes[k - 1]]


def _cost_of_alarm(costs: Array, codes: Array, positive: int) -> float:
    others = codes[codes != positive]
    return float(costs[others].mean()) if others.size else 1.0
