"""Lessons of a review: where labels that somebody has checked were wrong more, or less, often than was believed.

They are learned by logistic regression on top of what was believed before. So it does not matter that the most
suspicious labels are checked first: what counts is how many of them were wrong beside how many were expected to be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from dips._beliefs.noise import NoiseRate
from dips._data.verified import Verified
from dips._tools.arrays import Array

_SURE = 1e-3  # beliefs are taken for no surer than that
_SD_OF_SLOPE, _SD_OF_CLASS, _SD_OF_COLUMNS = 0.3, 1.0, 0.5  # prior, in log odds; the last of all columns together
_N_DRAWS = 100
_ENOUGH_CHECKED = 10  # labels of a class, to know how many of them are wrong


@dataclass(frozen=True)
class Review:
    """What is known of labels after some of them were checked.

    Attributes
    ----------
    labels : (n,) codes, the verified ones true
    verified : which of them were checked, and what they were before
    columns : (n, p) scaled columns that wrong labels may have in common, or None
    """

    labels: Array
    verified: Verified
    columns: Array | None

    @property
    def given(self) -> Array:
        """Labels before the review, (n,), as far as they are known."""
        return np.where(self.teaches, self.verified.before, self.labels)

    @property
    def teaches(self) -> Array:
        """Mask of the labels of which it is known whether they were wrong."""
        return self.verified.mask & (self.verified.before >= 0)

    def known_classes(self, n_classes: int) -> Array:
        """Mask (C,) of the classes of whose labels enough were checked to know how many are wrong."""
        return np.bincount(self.given[self.teaches], minlength=n_classes) >= _ENOUGH_CHECKED

    def revise(self, before: Array) -> Array:
        """Return beliefs (n, C) after the lessons of the review; a verified label is true."""
        belief, rows, given = before.copy(), np.arange(self.labels.size), self.given
        lessons = self._lessons(before)
        if lessons is not None:
            belief[rows, given] = 0
            share = lessons.p_wrong(lessons.weights) / np.maximum(belief.sum(axis=1), 1e-12)
            belief *= share[:, None]
            belief[rows, given] = 1 - belief.sum(axis=1)
        belief[self.verified.mask] = np.eye(before.shape[1])[self.labels[self.verified.mask]]
        return belief

    def rate(self, noise: NoiseRate, before: Array) -> NoiseRate:
        """Return the share of labels as given that are wrong: those found, and those expected among the others."""
        lessons = self._lessons(before)
        if lessons is None:
            return noise
        n, unseen = self.labels.size, ~self.verified.mask
        found = (self.labels != self.given).sum()
        mean = (found + lessons.p_wrong(lessons.weights)[unseen].sum()) / n
        draws = [lessons.p_wrong(weights)[unseen].sum() / n for weights in lessons.draws()]
        sd = np.hypot(np.std(draws), unseen.mean() * (noise.high - noise.low) / 4)
        low, high = max(found / n, mean - 2 * sd), min(1.0, mean + 2 * sd)
        return replace(noise, mean=float(mean), low=float(low), high=float(high))

    def _lessons(self, before: Array) -> _Lessons | None:
        if not self.teaches.any():
            return None
        odds = logit(np.clip(1 - before[np.arange(self.labels.size), self.given], _SURE, 1 - _SURE))
        inputs = [odds, np.eye(before.shape[1])[self.given], *([] if self.columns is None else [self.columns])]
        n_columns = 0 if self.columns is None else self.columns.shape[1]
        of_column = _SD_OF_COLUMNS / max(n_columns, 1) ** 0.5
        sd = np.array([_SD_OF_SLOPE, *[_SD_OF_CLASS] * before.shape[1], *[of_column] * n_columns])
        return _Lessons.learned(np.column_stack(inputs), odds, self.teaches, self.labels != self.given, sd)


@dataclass(frozen=True)
class _Lessons:
    """Weights of a logistic regression whose offset is what was believed before.

    Attributes
    ----------
    inputs : (n, q) what the log odds of being wrong may depend on
    odds : (n,) what they were
    weights : (q,) by how much they change
    root : (q, q) of the covariance of the weights
    """

    inputs: Array
    odds: Array
    weights: Array
    root: Array

    @classmethod
    def learned(cls, inputs: Array, odds: Array, teaches: Array, wrong: Array, sd: Array) -> _Lessons:
        """Learn from the rows that teach, with weights of these standard deviations around 0."""
        Z, offset, wrong, precision = inputs[teaches], odds[teaches], wrong[teaches], sd**-2.0

        def loss(w: Array) -> tuple[float, Array]:
            after = offset + Z @ w
            surprise = np.logaddexp(0, np.where(wrong, -after, after)).sum()
            return float(surprise + (precision * w**2).sum() / 2), Z.T @ (expit(after) - wrong) + precision * w

        weights = minimize(loss, np.zeros(sd.size), jac=True, method="L-BFGS-B").x
        p = expit(offset + Z @ weights)
        curvature = (Z.T * (p * (1 - p))) @ Z + np.diag(precision)
        return cls(inputs, odds, weights, np.linalg.cholesky(np.linalg.inv(curvature)))

    def p_wrong(self, weights: Array) -> Array:
        """Return the probability of each label as given to be wrong, (n,)."""
        return expit(self.odds + self.inputs @ weights)

    def draws(self) -> Array:
        """Return weights as they may also be, one set in each row."""
        return self.weights + np.random.RandomState(0).normal(size=(_N_DRAWS, self.weights.size)) @ self.root.T
