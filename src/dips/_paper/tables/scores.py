"""Scores of probabilities on test rows, and of an audit whose wrong labels are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from dips._tools.arrays import Array

_LEAST = 1e-6  # a probability of 0 counts as this in the log loss
_N_BINS = 10


def scores(probabilities: Array, y: Array) -> dict[str, float]:
    """Log loss, area under the curve, balanced accuracy, calibration error and recall of the rarest class.

    The area is the mean over classes, each against the rest; classes that no test row has are left out.

    Parameters
    ----------
    probabilities : (n, C)
    y : (n,) true labels, positions among the C classes

    Examples
    --------
    >>> by_name = scores(np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]]), np.array([0, 0, 1]))
    >>> by_name["auc"], by_name["balanced_accuracy"], by_name["rarest_recall"], round(by_name["log_loss"], 3)
    (1.0, 1.0, 1.0, 0.324)
    """
    p = np.clip(probabilities, _LEAST, 1)
    p = p / p.sum(axis=1, keepdims=True)
    predicted, classes = p.argmax(axis=1), np.unique(y)
    recall = [float((predicted[y == c] == c).mean()) for c in classes]
    by_name = {
        "log_loss": float(-np.log(p[np.arange(y.size), y]).mean()),
        "balanced_accuracy": float(np.mean(recall)),
        "calibration_error": calibration_error(p.max(axis=1), predicted == y),
        "rarest_recall": recall[int(np.argmin([(y == c).sum() for c in classes]))],
    }
    if classes.size > 1:
        by_name["auc"] = float(np.mean([roc_auc_score(y == c, p[:, c]) for c in classes]))
    return by_name


def calibration_error(probability: Array, happened: Array) -> float:
    """Expected calibration error: in ten bins of equal width, mean distance of what was said to what happened.

    Examples
    --------
    >>> said, happened = np.array([0.8, 0.8, 0.8, 0.8, 0.8]), np.array([True, True, True, True, False])
    >>> round(calibration_error(said, happened), 6)
    0.0
    """
    bins = np.minimum((probability * _N_BINS).astype(np.intp), _N_BINS - 1)
    gap = np.bincount(bins, weights=probability - happened, minlength=_N_BINS)
    return float(np.abs(gap).sum() / probability.size)


def audit_scores(samples: pd.DataFrame, curator: Any, flipped: Array) -> dict[str, float]:
    """Of a curator: calibration of ``p_wrong``, whether its interval has the true noise, and how it ranks wrong labels.

    A curator that does not believe ranks by its confidence.
    """
    by_name: dict[str, float] = {"wrong_share": float(flipped.mean())}
    believes = samples["p_wrong"].notna().all()
    suspicion = samples["p_wrong"] if believes else -samples["confidence"]
    if believes:
        by_name["p_wrong_error"] = calibration_error(samples["p_wrong"].to_numpy(dtype=float), flipped)
    if flipped.any() and not flipped.all() and suspicion.notna().all():
        by_name["wrong_auc"] = float(roc_auc_score(flipped, suspicion.to_numpy(dtype=float)))
    if hasattr(curator, "noise_interval_"):
        low, high = curator.noise_interval_
        by_name |= {"noise_low": float(low), "noise_high": float(high)}
        by_name["noise_covered"] = float(low <= flipped.mean() <= high)
    return by_name
