"""Adaptive: an estimate of the noise says how many labels are suspects, the dynamics say which."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp

from dips._data.containers import take
from dips._tools.arrays import Array, Rows
from dips._tools.sklearn_compat import Interval
from dips.curators._base import Curator, Evidence
from dips.curators._second_opinion import linear_out_of_fold


class Adaptive(Curator):
    """As many labels are suspects as look wrong: those with the least confidence. No threshold to tune.

    A fixed threshold on the average confidence fits one backbone only: a slow learner has little confidence in any row.
    So there are two questions.

    *How many* given labels look wrong is estimated once, by confident learning (Northcutt et al. 2021) on out-of-fold
    probabilities, less what chance alone may have added. A linear model gives a second opinion, weighted by how
    accurate it is on labels it has not seen: a few wrong labels mislead it less than they do trees and networks.

    *Which* labels are suspects is decided anew at each curation: those with the least product of the average confidence
    along the training (over all trainings so far, so that no single one decides) and the out-of-fold probability.

    A pseudo-label is useful as long as it is the most probable class of the model that it helped to train.

    Parameters
    ----------
    n_folds : int
        Folds of the estimate: one extra model for each is trained on the given labels, once.
    caution : float
        How many standard errors are taken off the estimated share; matters only for tables of a few hundred labels.
    max_drop : float
        The largest share of the given labels that may be suspects.

    Attributes
    ----------
    noise_rate_ : the estimated share of wrong labels
    answers_ : (n_given, C) out-of-fold class probabilities of each given row
    out_of_fold_ : (n_given,) those of the given labels
    confidence_ : (n_given,) average confidence in each given label over all trainings
    """

    name = "adaptive"
    evens_classes = False  # wrong labels are often of the rarer class; evened out, it would get more rows than it has
    _parameter_constraints = {
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "caution": [Interval(Real, 0, None, closed="left")],
        "max_drop": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(self, n_folds: int = 5, caution: float = 1.0, max_drop: float = 0.5) -> None:
        self.n_folds = n_folds
        self.caution = caution
        self.max_drop = max_drop

    def curate(self, evidence: Evidence) -> Array:
        """Suspect the estimated share of the given labels, and pseudo-labels that are no longer most probable."""
        given = np.flatnonzero(evidence.is_given)
        if not hasattr(self, "noise_rate_"):
            self._estimate(evidence, given)
        self._remember(evidence.confidence[given])
        worst_first = given[np.argsort(self.confidence_ * self.out_of_fold_, kind="stable")]
        useful = self.judge_pseudo(evidence)
        useful[given] = True
        useful[worst_first[: self._n_suspects(given.size)]] = False
        return useful

    def has_rule(self, at_start: bool) -> bool:
        """A pseudo-label is judged by its own probabilities."""
        return True

    def judge_pseudo(self, evidence: Evidence) -> Array:
        """Keep what is still the most probable class."""
        return evidence.mean_probabilities.argmax(axis=1) == evidence.labels

    def _estimate(self, evidence: Evidence, given: Rows) -> None:
        """Predict the given labels with both models, each row by one that was not trained on it."""
        labels, features = evidence.labels[given], take(evidence.features(), given)
        p = evidence.out_of_fold(self.n_folds)[given]
        if np.ndim(features) == 2 or sp.issparse(features):
            groups, weights = (None if a is None else a[given] for a in (evidence.groups, evidence.weights))
            second = linear_out_of_fold(features, labels, evidence.n_classes, self.n_folds, groups, weights)
            w = weight_of_second(p, second, labels)
            p = (1 - w) * p + w * second
        self.noise_rate_ = noise_rate(p, labels)
        self.answers_, self.out_of_fold_ = p, p[np.arange(labels.size), labels]

    def _remember(self, confidence: Array) -> None:
        self.n_curations_ = getattr(self, "n_curations_", 0) + 1
        previous = getattr(self, "confidence_", confidence)
        self.confidence_: Array = previous + (confidence - previous) / self.n_curations_

    def _n_suspects(self, n: int) -> int:
        standard_error = np.sqrt(self.noise_rate_ * (1 - self.noise_rate_) / n)
        share = np.clip(self.noise_rate_ - self.caution * standard_error, 0, self.max_drop)
        return round(float(share) * n)


def weight_of_second(p: Array, second: Array, labels: Array) -> float:
    """Weight of the second of two opinions (n, C) on labels that neither has seen.

    1 if it is right at least as often; 1/2 if it is right less often by no more than a standard error; else 0.
    """
    gain = (second.argmax(axis=1) == labels).astype(float) - (p.argmax(axis=1) == labels)
    if gain.mean() >= 0:
        return 1.0
    return 0.5 if gain.mean() >= -gain.std() / np.sqrt(gain.size) else 0.0


def noise_rate(p: Array, labels: Array, weights: Array | None = None) -> float:
    """Share of labels that out-of-fold probabilities (n, C) contradict, each counted by its weight.

    A label is contradicted if another class is the most probable, with at least the probability that it has on average
    over the rows labeled so.

    Examples
    --------
    >>> p = np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.1, 0.9]])
    >>> noise_rate(p, np.array([0, 0, 1, 1])), noise_rate(p, np.array([0, 0, 1, 0]))
    (0.0, 0.25)
    """
    rows, best = np.arange(labels.size), p.argmax(axis=1)
    counts = np.bincount(labels, minlength=p.shape[1])
    usual = np.bincount(labels, p[rows, labels], minlength=p.shape[1]) / np.maximum(counts, 1)
    usual[counts == 0] = np.inf
    return float(np.average((best != labels) & (p[rows, best] >= usual[best]), weights=weights))
