"""How good the chosen model is on the held-out rows, beside the plain one: curves, calibration, confusion."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_curve, roc_curve

from dips._report.findings import TableFindings
from dips._report.thresholds import summarize_thresholds
from dips._tools.arrays import Array
from dips._tools.shares import calibration_of

_MAX_LINE = 120  # points of a curve; more cannot be seen
MAX_TABLE = 12  # classes; a larger table cannot be read


def summarize_quality(findings: TableFindings) -> dict[str, Any] | None:
    """Return lines and counts for the charts; None where no rows were held out."""
    chosen = findings.chosen
    if chosen is None:
        return None
    codes, positive = findings.target.codes[findings.test_rows], findings.target.positive
    n_classes = len(findings.target.classes)
    names = list(dict.fromkeys([chosen, "plain"]))  # the chosen one first
    probabilities = {name: findings.test_probabilities[name] for name in names}
    decided = {name: findings.decide(p) for name, p in probabilities.items()}
    return {
        "models": names,
        "confusion": _confusion(codes, decided[chosen], n_classes),
        "recall": _recall(codes, decided[chosen], decided["plain"], findings.target.classes),
        **_curves(codes, probabilities, positive, findings.costs),
        "other_classes": curves_of_others(codes, probabilities, positive, findings.costs),
    }


def _curves(codes: Array, probabilities: dict[str, Array], c: int, costs: Array | None) -> dict[str, Any]:
    """What is about one class against the rest; thresholds are on the first model's probabilities."""
    each = probabilities.items()
    return {
        "roc": {name: _roc(codes, p, c) for name, p in each},
        "precision_recall": {name: _precision_recall(codes, p, c) for name, p in each},
        "calibration": {name: _calibration(codes, p, c) for name, p in each},
        "share_positive": float((codes == c).mean()),
        "calibration_error": {name: _calibration_error(codes, p, c) for name, p in each},
        "thresholds": summarize_thresholds(codes, next(iter(probabilities.values())), c, costs),
    }


def curves_of_others(
    codes: Array, probabilities: dict[str, Array], positive: int, costs: Array | None
) -> list[dict[str, Any]]:
    """The same for each other class that was held out; of two, it would repeat the first's."""
    n_classes = next(iter(probabilities.values())).shape[1]
    if not 2 < n_classes <= MAX_TABLE:
        return []
    others = [c for c in np.unique(codes).tolist() if c != positive]
    return [{"class": c, **_curves(codes, probabilities, c, costs)} for c in others]


def _recall(codes: Array, decided: Array, plain: Array, classes: list[Any]) -> list[dict[str, Any]]:
    """Of each class, how many held-out rows were found; and how many by one of the two models alone."""
    right, plainly_right = decided == codes, plain == codes
    return [
        {
            "label": str(name),
            "n": int((codes == c).sum()),
            "predicted": int((decided == c).sum()),
            "chosen": int((right & (codes == c)).sum()),
            "plain": int((plainly_right & (codes == c)).sum()),
            "won": int((right & ~plainly_right & (codes == c)).sum()),
            "lost": int((~right & plainly_right & (codes == c)).sum()),
        }
        for c, name in enumerate(classes)
    ]


def _confusion(codes: Array, decided: Array, n_classes: int) -> list[list[int]] | None:
    if n_classes > MAX_TABLE:
        return None
    return confusion_matrix(codes, decided, labels=range(n_classes)).tolist()


def _roc(codes: Array, p: Array, positive: int) -> list[list[float]]:
    false, true, _ = roc_curve(codes == positive, p[:, positive])
    return _thinned(false, true)


def _precision_recall(codes: Array, p: Array, positive: int) -> list[list[float]]:
    precision, recall, _ = precision_recall_curve(codes == positive, p[:, positive])
    return _thinned(recall[-2::-1], precision[-2::-1])  # the last point stands for no row at all


def _calibration(codes: Array, p: Array, positive: int) -> list[dict[str, float]]:
    return calibration_of(p[:, positive], codes == positive)


def _calibration_error(codes: Array, p: Array, positive: int) -> float:
    """Mean distance of what was said from what was seen, over the rows."""
    groups = _calibration(codes, p, positive)
    return float(sum(g["n"] * abs(g["said"] - g["seen"]) for g in groups) / codes.size)


def _thinned(x: Array, y: Array) -> list[list[float]]:
    keep = np.unique(np.linspace(0, x.size - 1, min(_MAX_LINE, x.size)).round().astype(int))
    return [[round(float(a), 4), round(float(b), 4)] for a, b in zip(x[keep], y[keep], strict=True)]
