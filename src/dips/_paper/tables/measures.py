"""Measures a fitted model: accuracy always, and what some figures need besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import jensenshannon

from dips import CuratedClassifier, PseudoLabelClassifier
from dips._paper.tables.methods import Fitted
from dips._paper.tables.scores import audit_scores, scores
from dips._paper.tables.splits import Split
from dips._tools.arrays import Array

if TYPE_CHECKING:
    from dips._paper.tables.trial import Trial

_N_BINS = 10
_N_TRACKED = 3  # of the useful rows, and of the others


def measure(fitted: Fitted, split: Split, trial: Trial) -> dict[str, Any]:
    """Plain data: accuracy on the test rows, sizes, how the labels were judged, and what the trial asks for."""
    measures = {
        "accuracy": float((fitted.predict(split.X_test) == split.y_test).mean()),
        "n_labeled": len(split.y_labeled),
        "n_unlabeled": len(split.y_unlabeled),
        "n_test": len(split.y_test),
    }
    if isinstance(fitted.model, CuratedClassifier | PseudoLabelClassifier):
        measures |= _judgements(fitted, split)
    return measures | _MORE[trial.measure](fitted, split, trial) if trial.measure else measures


def _judgements(fitted: Fitted, split: Split) -> dict[str, float]:
    """Share of useful labels, how many wrong ones are suspects, and how many pseudo-labels are right."""
    samples, n = fitted.model.samples_, len(split.y_labeled)
    useful = samples["useful"].to_numpy(dtype=bool)
    shares = {"kept": float(useful[:n].mean())}  # by the names that records have had from the first run on
    if split.flipped.any():
        shares["wrong_found"] = float((~useful[:n])[split.flipped].mean())
        shares["right_dropped"] = float((~useful[:n])[~split.flipped].mean())
    if hasattr(fitted.model, "labeled_iter_"):
        pseudo = fitted.model.labeled_iter_[n:] > 0
        labels = fitted.classes[np.asarray(fitted.model.transduction_[n:])[pseudo]]
        shares["n_pseudo"] = int(pseudo.sum())
        if pseudo.any():
            shares["pseudo_accuracy"] = float((labels == split.y_unlabeled[pseudo]).mean())
    if hasattr(fitted.model.curator_, "noise_rate_"):
        shares["noise_estimate"] = float(fitted.model.curator_.noise_rate_)
    return shares


def _trained_on(fitted: Fitted, split: Split) -> tuple[Array, Array, Array]:
    """All rows, the label each ended with, and which the last model was trained on."""
    X = np.concatenate([split.X_labeled, split.X_unlabeled])
    labels = np.asarray(fitted.model.transduction_)
    return X, labels, fitted.model.samples_["useful"].to_numpy(dtype=bool)


def _picture(fitted: Fitted, split: Split, trial: Trial) -> dict[str, Any]:
    """Where the rows of the last training lie."""
    X, labels, useful = _trained_on(fitted, split)
    n = len(split.y_labeled)
    wrong = labels != np.concatenate([np.where(split.flipped, 1 - split.y_labeled, split.y_labeled), split.y_unlabeled])
    return {
        "rows": X.round(3).tolist(),
        "labels": np.where(useful, labels, -1).tolist(),
        "wrong": (wrong & useful).tolist(),
        "n_given": n,
    }


def _insight(fitted: Fitted, split: Split, trial: Trial) -> dict[str, Any]:
    """How near the rows of the last training are to the test rows, feature by feature."""
    X, _, useful = _trained_on(fitted, split)
    selected = X[useful]
    divergences = [divergence(selected[:, j], split.X_test[:, j]) for j in range(X.shape[1])]
    importance = np.asarray(fitted.model.estimator_.feature_importances_)
    scale = np.nanstd(split.X_test, axis=0)
    shift = (np.nanmean(selected, axis=0) - np.nanmean(split.X_test, axis=0)) / np.where(scale > 0, scale, 1)
    return {
        "divergence": float(np.mean(divergences)),
        "divergences": dict(zip(split.features, map(float, divergences), strict=True)),
        "importances": dict(zip(split.features, map(float, importance), strict=True)),
        "shifts": dict(zip(split.features, map(float, shift), strict=True)),
    }


def divergence(first: Array, second: Array) -> float:
    """Jensen-Shannon divergence, in nats, of two samples in bins of their common range; missing is a bin of its own.

    Examples
    --------
    >>> a = np.arange(10.0)
    >>> round(divergence(a, a), 3), round(divergence(a, a + 100), 3)
    (0.0, 0.693)
    """
    both = np.concatenate([first, second])
    edges = np.linspace(np.nanmin(both), np.nanmax(both), _N_BINS + 1) if np.isfinite(both).any() else np.array([0, 1])

    def shares(sample: Array) -> Array:
        counts = np.append(np.histogram(sample[~np.isnan(sample)], edges)[0], np.isnan(sample).sum())
        return counts / counts.sum()

    return float(jensenshannon(shares(first), shares(second)) ** 2)


def _trajectories(fitted: Fitted, split: Split, trial: Trial) -> dict[str, Any]:
    """Probability of the given label along the training, for a few useful rows and a few others."""
    samples, y = fitted.model.samples_, np.searchsorted(fitted.classes, split.y_labeled)
    useful = samples["useful"].to_numpy(dtype=bool)
    order = np.argsort(samples["confidence"].to_numpy(), kind="stable")
    best, worst = order[useful[order]], order[~useful[order]]
    rows = np.concatenate([best[_spread(best.size)], worst[_spread(worst.size)]])
    tracked = CuratedClassifier(**fitted.model.get_params(deep=False) | {"track": rows}).fit(split.X_labeled, y)
    along = np.asarray(tracked.trajectories_)[np.arange(rows.size), :, y[rows]]
    return {
        "trajectories": along.round(4).tolist(),
        "useful": useful[rows].tolist(),
        "wrong": split.flipped[rows].tolist(),
        "confidence": samples["confidence"].to_numpy()[rows].round(3).tolist(),
        "aleatoric": samples["aleatoric"].to_numpy()[rows].round(3).tolist(),
    }


def _spread(n: int) -> Array:
    """A few positions from first to last."""
    return np.unique(np.linspace(0, n - 1, min(n, _N_TRACKED)).round().astype(np.intp)) if n else np.empty(0, np.intp)


def _probabilities(fitted: Fitted, split: Split, trial: Trial) -> dict[str, Any]:
    """How good the probabilities are, how every class fares, and how good the audit is."""
    n_classes = 1 + int(max(labels.max() for labels in (split.y_true, split.y_unlabeled, split.y_test)))
    measures = scores(fitted.predict_proba(split.X_test, n_classes), split.y_test)
    if isinstance(fitted.model, CuratedClassifier | PseudoLabelClassifier) and trial.method in ("curated", "pl"):
        measures |= audit_scores(fitted.model.samples_[: len(split.y_labeled)], fitted.model.curator_, split.flipped)
    return measures


_MORE = {
    "picture": _picture,
    "insight": _insight,
    "trajectories": _trajectories,
    "probabilities": _probabilities,
}
