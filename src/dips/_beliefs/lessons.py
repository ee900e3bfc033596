"""Lessons of a review: where labels that somebody has checked were wrong more, or less, often than was believed.

They are learned by logistic regression on top of what was believed before. So it does not matter that the most
suspicious labels are checked first: what counts is how many of them were wrong beside how many were expected to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax

from dips._beliefs.noise import NoiseRate
from dips._beliefs.transitions import transition
from dips._data.verified import Verified
from dips._tools.arrays import Array

_SURE = 1e-3  # beliefs are taken for no surer than that
_SD_OF_SLOPE, _SD_OF_COLUMNS = 0.3, 0.5  # prior, in log odds; the second of all columns together
_SD_OF_CLASS = (0.2, 2.0)  # labels of all classes are wrong alike, or each class in its own way
_PRIOR_OF_SD = (0.8, 0.2)  # with even odds, one mistaken look at a class is enough to doubt all of it
_SLIP = 0.02  # how often reviewers who are believed err all the same
_N_DRAWS = 100
_ENOUGH_CHECKED = 10  # labels of a class, to know how many of them are wrong


@dataclass(frozen=True)
class Review:
    """What is known of labels after some of them were checked.

    Attributes
    ----------
    labels : (n,) codes, the verified ones as reviewers say
    verified : which of them were checked, what they were before, and how often reviewers err
    columns : (n, p) scaled columns that wrong labels may have in common, or None
    """

    labels: Array
    verified: Verified
    columns: Array | None

    @property
    def given(self) -> Array:
        """Labels before the review, (n,), -1 where they are not known."""
        return np.where(self.verified.mask, self.verified.before, self.labels)

    @property
    def first_known(self) -> Array:
        """Labels before the review, (n,), or the present ones where those are not known."""
        return self.verified.first_known(self.labels)

    @property
    def teaches(self) -> Array:
        """Mask of the labels of which it was said whether they are wrong."""
        return self.verified.mask & (self.verified.before >= 0)

    def known_classes(self, n_classes: int) -> Array:
        """Mask (C,) of the classes of whose labels enough were checked to know how many are wrong."""
        return np.bincount(self.given[self.teaches], minlength=n_classes) >= _ENOUGH_CHECKED

    def revise(self, before: Array) -> Array:
        """Return beliefs (n, C) after the lessons of the review; a verified label is true, unless reviewers err."""
        belief, lessons = before.copy(), self._lessons(before)
        if lessons is not None:
            rows = np.flatnonzero(self.given >= 0)
            at_given = rows, self.given[rows]
            belief[at_given] = 0
            share = lessons.p_wrong()[rows] / np.maximum(belief[rows].sum(axis=1), 1e-12)
            belief[rows] *= share[:, None]
            belief[at_given] = 1 - belief[rows].sum(axis=1)
        return self._with_answers(belief)

    def rate(self, noise: NoiseRate, before: Array) -> NoiseRate:
        """Return the share of labels as given that are wrong: those found, and those expected among the others."""
        lessons = self._lessons(before)
        if lessons is None:
            return noise
        n, unseen, looked = self.labels.size, ~self.verified.mask, np.flatnonzero(self.teaches)
        seen_wrong = (1 - self.revise(before)[looked, self.given[looked]]).sum()
        mean = (seen_wrong + lessons.p_wrong()[unseen].sum()) / n
        draws = [p_wrong[unseen].sum() / n for p_wrong in lessons.draws()]
        sd = np.hypot(np.std(draws), unseen.mean() * (noise.high - noise.low) / 4)
        low, high = max(seen_wrong / n, mean - 2 * sd), min(1.0, mean + 2 * sd)
        return replace(noise, mean=float(mean), low=float(low), high=float(high))

    def _with_answers(self, belief: Array) -> Array:
        """Beliefs after the reviewers' answers, by Bayes' rule."""
        checked, n_classes = self.verified.mask, belief.shape[1]
        if not self.verified.error:
            belief[checked] = np.eye(n_classes)[self.labels[checked]]
        else:
            joint = belief[checked] * transition(self.verified.error, n_classes)[:, self.labels[checked]].T
            belief[checked] = joint / joint.sum(axis=1, keepdims=True)
        return belief

    def _lessons(self, before: Array) -> _Lessons | None:
        if not self.teaches.any():
            return None
        given, n_classes = self.first_known, before.shape[1]
        odds = logit(np.clip(1 - before[np.arange(given.size), given], _SURE, 1 - _SURE))
        inputs = [odds, np.eye(n_classes)[given], *([] if self.columns is None else [self.columns])]
        n_columns = 0 if self.columns is None else self.columns.shape[1]
        of_column = _SD_OF_COLUMNS / max(n_columns, 1) ** 0.5
        error = max(self.verified.error, _SLIP)
        learn = partial(
            _Regression.learned,
            np.column_stack(inputs),
            odds,
            self.teaches,
            called_wrong=self.labels != given,
            false=error,
            missed=error / (n_classes - 1),
        )
        sds = [[_SD_OF_SLOPE, *[sd] * n_classes, *[of_column] * n_columns] for sd in _SD_OF_CLASS]
        return _Lessons([learn(sd=np.array(sd)) for sd in sds])


@dataclass(frozen=True)
class _Lessons:
    """Regressions with different priors, each weighted by how well it explains the reviewers' decisions."""

    regressions: list[_Regression]

    @property
    def shares(self) -> Array:
        """Probability of each prior."""
        return softmax(np.log(_PRIOR_OF_SD) + [regression.log_evidence for regression in self.regressions])

    def p_wrong(self) -> Array:
        """Return the probability of each label as given to be wrong, (n,)."""
        each = [regression.p_wrong(regression.weights) for regression in self.regressions]
        return np.asarray(self.shares @ np.array(each))

    def draws(self) -> Iterator[Array]:
        """Yield samples of these probabilities from their posterior."""
        rng = np.random.RandomState(0)
        for k in rng.choice(len(self.regressions), _N_DRAWS, p=self.shares):
            yield self.regressions[k].p_wrong(self.regressions[k].draw(rng))


@dataclass(frozen=True)
class _Regression:
    """Weights of a logistic regression whose offset is what was believed before.

    Attributes
    ----------
    inputs : (n, q) what the log odds of being wrong may depend on
    odds : (n,) these log odds before the review
    weights : (q,) of the inputs
    root : (q, q) Cholesky factor of the covariance of the weights
    log_evidence : of what reviewers said, by Laplace's approximation
    """

    inputs: Array
    odds: Array
    weights: Array
    root: Array
    log_evidence: float

    @classmethod
    def learned(
        cls, inputs: Array, odds: Array, teaches: Array, called_wrong: Array, sd: Array, false: float, missed: float
    ) -> _Regression:
        """Learn from the rows that teach, with weights of these standard deviations around 0.

        Reviewers call a right label wrong with probability `false`, and a wrong one right with probability `missed`.
        """
        Z, offset, called_wrong, precision = inputs[teaches], odds[teaches], called_wrong[teaches], sd**-2.0

        def called(w: Array) -> tuple[Array, Array]:
            """Probability that each label is called wrong, and its slope in the log odds."""
            p = expit(offset + Z @ w)
            return np.clip(false + (1 - false - missed) * p, 1e-12, 1 - 1e-12), (1 - false - missed) * p * (1 - p)

        def loss(w: Array) -> tuple[float, Array]:
            p, slope = called(w)
            surprise = -np.log(np.where(called_wrong, p, 1 - p)).sum()
            by_odds = slope * (p - called_wrong) / (p * (1 - p))
            return float(surprise + (precision * w**2).sum() / 2), Z.T @ by_odds + precision * w

        best = minimize(loss, np.zeros(sd.size), jac=True, method="L-BFGS-B")
        p, slope = called(best.x)
        curvature = (Z.T * (slope**2 / (p * (1 - p)))) @ Z + np.diag(precision)
        root = np.linalg.cholesky(np.linalg.inv(curvature))
        log_evidence = -best.fun + np.log(np.diag(root)).sum() - np.log(sd).sum()
        return cls(inputs, odds, best.x, root, float(log_evidence))

    def p_wrong(self, weights: Array) -> Array:
        """Return the probability of each label as given to be wrong, (n,)."""
        return expit(self.odds + self.inputs @ weights)

    def draw(self, rng: np.random.RandomState) -> Array:
        """Return weights (q,) drawn from their posterior."""
        return np.asarray(self.weights + self.root @ rng.normal(size=self.weights.size))
