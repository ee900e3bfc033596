"""The noise model: what share of the labels is wrong, and what calibrated teachers say under each rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from dips._data.verified import Verified
from dips._tools.arrays import Array
from dips._tools.threads import one_blas_thread

_RATES = (0.0, 0.03, 0.06, 0.1, 0.14, 0.18, 0.22, 0.27, 0.32, 0.37, 0.42, 0.46)
_MORE_RATES = (0.52, 0.58)  # with more than two classes the truth can still be the most frequent label
_LEAST_PROBABILITY = 1e-3  # how sure a teacher can be that a row is not of a class
_LEAST_SEEN = 1e-12  # a wrong label that was found excludes rate 0, but must not break its likelihood
_MAX_ROWS = 4_000  # the noise model has few parameters, and more rows hardly sharpen them

# Chosen on seven tables and checked on three others; docs/results.md has the figures.
_TEMPERATURE = 5.0  # nats of log likelihood that a teacher may fall behind before its weight shrinks by e
_SLOPE_PRECISION = 0.3  # of a teacher's slope around 1
_OFFSET_PRECISION = 4.0  # of its class offsets around 0
_MAX_SLOPE = 6.0
_PRIOR_SLOPE = 3.0  # log prior density of the largest binary rate, less that of rate 0
_PRIOR_MASS_AT_0 = 0.5  # prior mass of "no label is wrong", as a share of the range of rates
_HEARD = 1e-3  # noise rates that are less probable are left out of what is believed
_INTERVAL_DROP = 3.84  # twice the 1.92 nats of independent rows: out-of-fold answers share their training rows


@dataclass(frozen=True)
class NoiseRate:
    """The estimated share of wrong labels.

    Attributes
    ----------
    mean : of the posterior
    low, high : rates outside are much less likely than the best one
    rates, posterior : the grid, and the probability of each rate on it
    """

    mean: float
    low: float
    high: float
    rates: Array = field(repr=False)
    posterior: Array = field(repr=False)

    @property
    def heard(self) -> Array:
        """Positions of the rates that are probable enough to be averaged over."""
        return np.flatnonzero(self.posterior > _HEARD)


@dataclass(frozen=True)
class Calibration:
    """p(true class) = softmax(slope · evidence + offsets).

    Evidence is what a teacher says about a row beyond the class frequencies. Only that is sharpened, so that a rare
    class does not vanish where the teacher must be trusted more than it trusts itself.
    """

    slope: float
    offsets: Array  # (C,) log prior of each class included
    usual: Array  # (C,) the teacher's mean answer

    def __call__(self, p: Array) -> Array:
        return softmax(self.slope * evidence(p, self.usual) + self.offsets, axis=1)


@dataclass(frozen=True)
class Panel:
    """Calibrated teachers and the weight of each, under one noise rate."""

    calibrations: list[Calibration]
    weights: Array
    log_likelihood: float

    def __call__(self, answers: Sequence[Array]) -> Array:
        """Weighted mean of the calibrated answers (m, C)."""
        parts = zip(self.weights, self.calibrations, answers, strict=True)
        return np.sum([weight * calibration(p) for weight, calibration, p in parts if weight > 1e-4], axis=0)


def estimate_noise(
    answers: Sequence[Array], labels: Array, rng: np.random.RandomState, verified: Verified | None = None
) -> tuple[NoiseRate, list[Panel]]:
    """Return what the noise rate may be, and the panel of teachers under each rate.

    Verified labels take part in the likelihood as what they are: what a reviewer, who may err, takes for the true
    class, and what it had been mistaken for.
    Whoever chose them by their columns and labels, the most suspicious first for instance, has not biased it: given
    these, what the check found depends on the truth alone. The mere share of wrong labels among them would be biased.

    Parameters
    ----------
    answers : (n, C) out-of-fold probabilities of each teacher
    labels : (n,) codes
    rng : draws the rows of the estimate where labels abound
    verified : which of the labels were checked, and what they were before
    """
    n_classes = answers[0].shape[1]
    rates = np.array(_RATES if n_classes == 2 else _RATES + _MORE_RATES)
    panels = calibrate_panels(answers, labels, rates, rng, verified)
    log_likelihood = np.array([panel.log_likelihood for panel in panels])
    posterior = _posterior(rates, log_likelihood)
    low, high = likely_range(rates, log_likelihood)
    return NoiseRate(float(posterior @ rates), low, high, rates, posterior), panels


def calibrate_panels(
    answers: Sequence[Array],
    labels: Array,
    rates: Array,
    rng: np.random.RandomState,
    verified: Verified | None = None,
) -> list[Panel]:
    """Return the panel of teachers under each noise rate."""
    verified = verified or Verified.nothing(labels.size)
    if labels.size > _MAX_ROWS:
        rows = rng.choice(labels.size, _MAX_ROWS, replace=False)
        answers, labels, verified = [p[rows] for p in answers], labels[rows], verified.at(rows)
    starts: list[Array | None] = [None] * len(answers)  # each rate starts where the one before it ended
    with one_blas_thread():
        return [_calibrate_panel(answers, labels, verified, rate, starts) for rate in rates]


def transition(rate: float, n_classes: int) -> Array:
    """T[c, k]: probability that a row of class c is labeled k; all wrong labels are equally likely.

    Examples
    --------
    >>> transition(0.2, 3).round(2)
    array([[0.8, 0.1, 0.1],
           [0.1, 0.8, 0.1],
           [0.1, 0.1, 0.8]])
    """
    T = np.full((n_classes, n_classes), rate / (n_classes - 1))
    np.fill_diagonal(T, 1 - rate)
    return T


def seen_through(rate: float, labels: Array, verified: Verified, n_classes: int) -> Array:
    """Probability (n, C) of what is known of each label, for every true class.

    Of a verified label that is the probability of the reviewer's answer, 0 for all classes but one if reviewers never
    err, times that of the label before; where that is not known, 1.

    Examples
    --------
    >>> known = Verified(np.array([False, True, True]), np.array([-1, 0, -1]), error=0.1)
    >>> seen_through(0.2, np.array([0, 1, 1]), known, 2).round(2)
    array([[0.8 , 0.2 ],
           [0.08, 0.18],
           [0.1 , 0.9 ]])
    """
    T, answer = transition(rate, n_classes), transition(verified.error, n_classes)
    seen, checked = T[:, labels].T, np.flatnonzero(verified.mask)
    said, before = labels[checked], verified.before[checked]
    seen[checked] = answer[:, said].T * np.where(before[:, None] >= 0, T[:, before].T, 1.0)
    return seen


def evidence(p: Array, usual: Array) -> Array:
    """Log probabilities less the usual ones.

    They lie class after class in memory: sums over few classes, of which calibration is full, are then several times as
    fast.
    """
    log_p = np.log(np.clip(np.asfortranarray(p), _LEAST_PROBABILITY, 1))
    return log_p - np.log(np.clip(usual, _LEAST_PROBABILITY, 1))


def likely_range(rates: Array, log_likelihood: Array) -> tuple[float, float]:
    """Return the range of rates that explain the labels nearly as well as the best."""
    fine = np.linspace(rates[0], rates[-1], 500)
    inside = fine[np.interp(fine, rates, log_likelihood - log_likelihood.max()) >= -_INTERVAL_DROP]
    return float(inside.min()), float(inside.max())


def _posterior(rates: Array, log_likelihood: Array) -> Array:
    """Probability of each rate: a density that rises with the rate, and a lump at 0.

    The likelihood alone leans to small rates, because a calibrated teacher takes wrong labels for its own errors.
    """
    log_density = log_likelihood + _PRIOR_SLOPE * rates / _RATES[-1]
    density = np.exp(log_density - log_density.max())
    mass = density * np.gradient(rates)
    mass[0] += _PRIOR_MASS_AT_0 * _RATES[-1] * density[0]
    return mass / mass.sum()


def _calibrate_panel(
    answers: Sequence[Array], labels: Array, verified: Verified, rate: float, starts: list[Array | None]
) -> Panel:
    """Calibrate every teacher under a noise rate, and weigh it by how well it then explains the labels."""
    n_classes = answers[0].shape[1]
    seen = np.maximum(seen_through(rate, labels, verified, n_classes), _LEAST_SEEN)
    prior = (np.bincount(labels, minlength=n_classes) + 1.0) / (labels.size + n_classes)
    calibrations, explained = [], []
    for i, p in enumerate(answers):
        calibration, starts[i] = _calibrate(p, seen, prior, starts[i])
        calibrations.append(calibration)
        explained.append((calibration(p) * seen).sum(axis=1))
    probability = np.array(explained)  # (teachers, n) of each label as it was given
    log_likelihood = np.log(probability).sum(axis=1)
    weights = softmax(log_likelihood / _TEMPERATURE)
    return Panel(calibrations, weights, float(np.log(weights @ probability).sum()))


def _calibrate(p: Array, seen: Array, prior: Array, start: Array | None) -> tuple[Calibration, Array]:
    """Find the slope and offsets with which answers `p` explain best what is `seen` of the labels through the noise."""
    usual, base = p.mean(axis=0), np.log(prior)
    said, seen = evidence(p, usual).T, np.ascontiguousarray(seen.T)  # (C, n)

    def loss(parameters: Array) -> tuple[float, Array]:
        """Return the loss and its gradient; called hundreds of times, so in place."""
        slope, offsets = parameters[0], parameters[1:]
        clean = slope * said
        clean += (base + offsets)[:, None]
        clean -= clean.max(axis=0)
        np.exp(clean, out=clean)
        clean /= clean.sum(axis=0)
        joint = clean * seen
        probability = joint.sum(axis=0)
        error = np.subtract(clean, np.divide(joint, probability, out=joint), out=clean)
        penalty = _SLOPE_PRECISION * (slope - 1) ** 2 + _OFFSET_PRECISION * (offsets**2).sum()
        by_slope = np.vdot(error, said) + _SLOPE_PRECISION * (slope - 1)
        by_offset = error.sum(axis=1) + _OFFSET_PRECISION * offsets
        return float(-np.log(probability).sum() + penalty / 2), np.append(by_slope, by_offset)

    start = np.append(1.0, np.zeros(p.shape[1])) if start is None else start
    bounds = [(0.02, _MAX_SLOPE)] + [(-3.0, 3.0)] * p.shape[1]
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 40}).x
    return Calibration(float(best[0]), base + best[1:], usual), best
