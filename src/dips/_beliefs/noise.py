"""The noise model: what share of the labels is wrong, and what calibrated teachers say under each hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import softmax

from dips._beliefs.hypotheses import EVEN, Hypothesis, make_hypotheses, posterior
from dips._beliefs.newton import Expansion, minimize_in_box
from dips._beliefs.told_noise import make_told_hypotheses
from dips._beliefs.transitions import transition
from dips._data.known import Known
from dips._data.verified import Verified
from dips._tools.arrays import Array
from dips._tools.threads import one_blas_thread

_LEAST_PROBABILITY = 1e-3  # how sure a teacher can be that a row is not of a class
_LEAST_SEEN = 1e-12  # a wrong label that was found excludes rate 0, but must not break its likelihood
_ENOUGH_ROWS, _ENOUGH_OF_CLASS = 20_000, 400  # to estimate the noise from
_MOST_CELLS, _LEAST_ROWS = 100_000, 4_000  # rows times classes, which take time; and rows all the same

# Chosen on seven tables and checked on three others; docs/results.md has the figures.
_TEMPERATURE = 5.0  # nats of log likelihood that a teacher may fall behind before its weight shrinks by e
_SLOPE_PRECISION = 0.3  # of a teacher's slope around 1
_OFFSET_PRECISION = 4.0  # of its class offsets around 0
_MIN_SLOPE, _MAX_SLOPE = 0.02, 6.0
_HEARD = 1e-3  # hypotheses that are less probable are left out of what is believed
_INTERVAL_DROP = 3.84  # twice the 1.92 nats of independent rows: out-of-fold answers share their training rows
_ROWS_OF_RANGE = 4_000  # with more, what teachers misjudge weighs more than chance
_ROWS_OF_KIND = 2_000  # the same for the kind of noise, with classes as frequent as the rarest


@dataclass(frozen=True)
class NoiseRate:
    """The estimated share of wrong labels.

    Attributes
    ----------
    mean : of the posterior
    low, high : rates outside are much less likely than the best one
    hypotheses, posterior : how labels may have gone wrong, and the probability of each
    """

    mean: float
    low: float
    high: float
    hypotheses: Sequence[Hypothesis] = field(repr=False)
    posterior: Array = field(repr=False)

    @property
    def by_class(self) -> Array:
        """Expected share (C,) of the labels of each class that are wrong; far above `mean` where a class is rare."""
        return np.asarray(self.posterior @ np.array([h.wrong_by_class for h in self.hypotheses]))

    @property
    def heard(self) -> Array:
        """Positions of the hypotheses that are probable enough to be averaged over."""
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
    """Calibrated teachers and the weight of each, under one hypothesis about the noise."""

    calibrations: list[Calibration]
    weights: Array
    log_likelihood: float

    def __call__(self, answers: Sequence[Array]) -> Array:
        """Weighted mean of the calibrated answers (m, C)."""
        parts = zip(self.weights, self.calibrations, answers, strict=True)
        return np.sum([weight * calibration(p) for weight, calibration, p in parts if weight > 1e-4], axis=0)


def estimate_noise(
    answers: Sequence[Array],
    labels: Array,
    rng: np.random.RandomState,
    verified: Verified | None = None,
    known: Known | None = None,
) -> tuple[NoiseRate, list[Panel]]:
    """Return what the noise may be, and the panel of teachers under each hypothesis.

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
    known : what is known of the errors
    """
    n_classes = answers[0].shape[1]
    if known is None:
        hypotheses = make_hypotheses(labels, n_classes)
    else:
        as_given = labels if verified is None else verified.first_known(labels)
        hypotheses = make_told_hypotheses(as_given, n_classes, known)
    panels = calibrate_panels(answers, labels, hypotheses, rng, verified)
    of_answers = np.array([panel.log_likelihood for panel in panels])
    of_counts = np.array([h.log_counts for h in hypotheses])
    counts = np.bincount(labels, minlength=n_classes)
    n_rows = rows_of_estimate(counts)
    trust = _trust_in_kind(counts * n_rows / labels.size) if known is None else 1.0
    probability = posterior(hypotheses, of_answers + of_counts, trust)
    range_of, rates = _range_of_even if known is None else _range_of_all, np.array([h.rate for h in hypotheses])
    low, high = range_of(hypotheses, of_answers * min(1.0, _ROWS_OF_RANGE / n_rows) + of_counts)
    mean = float(probability @ rates)
    return NoiseRate(mean, min(low, mean), max(high, mean), hypotheses, probability), panels


def calibrate_panels(
    answers: Sequence[Array],
    labels: Array,
    hypotheses: Sequence[Hypothesis],
    rng: np.random.RandomState,
    verified: Verified | None = None,
) -> list[Panel]:
    """Return the panel of teachers under each hypothesis."""
    verified = verified or Verified.nothing(labels.size)
    n_rows = rows_of_estimate(np.bincount(labels, minlength=answers[0].shape[1]))
    if labels.size > n_rows:
        rows = rng.choice(labels.size, n_rows, replace=False)
        answers, labels, verified = [p[rows] for p in answers], labels[rows], verified.at(rows)
    usual = [p.mean(axis=0) for p in answers]
    said = [evidence(p, each).T for p, each in zip(answers, usual, strict=True)]  # (C, n) of each teacher
    as_it_is = np.append(1.0, np.zeros(answers[0].shape[1]))
    ends: dict[str, list[Array]] = {}  # by kind: each hypothesis starts where the one before it of its kind ended
    panels = []
    with one_blas_thread():
        for each in hypotheses:
            seen = np.maximum(seen_through(each.matrix, labels, verified), _LEAST_SEEN)
            starts = ends.get(each.kind, [as_it_is] * len(said))
            panel, ends[each.kind] = _calibrate_panel(said, usual, seen, each.frequencies, starts)
            panels.append(panel)
    return panels


def _trust_in_kind(counts: Array) -> float:
    """Return the share of the evidence for uneven noise that counts, for so many rows of each class (C,).

    Where all classes have thousands of rows, what teachers misjudge of a class looks like noise of that class, the more
    certainly the more rows there are. A few rows of a rare class cannot be so misleading.
    """
    return float(min(1.0, (_ROWS_OF_KIND / (counts.size * counts[counts > 0].min())) ** 2))


def rows_of_estimate(counts: Array) -> int:
    """Return how many rows to estimate the noise from, for labels of these counts (C,): more where a class is rare.

    Of a class with few rows in the estimate, chance would decide how many of its labels look wrong.

    Examples
    --------
    >>> [rows_of_estimate(np.array(counts)) for counts in ([50_000, 50_000], [9_800, 200], [990_000, 10_000])]
    [20000, 10000, 40000]
    """
    n, rarest = int(counts.sum()), int(counts[counts > 0].min())
    wanted = max(_ENOUGH_ROWS, _ENOUGH_OF_CLASS * n // rarest)
    return min(n, wanted, max(_LEAST_ROWS, _MOST_CELLS // counts.size))


def seen_through(T: Array, labels: Array, verified: Verified) -> Array:
    """Probability (n, C) of what is known of each label, for every true class, where noise has the matrix T.

    Of a verified label that is the probability of the reviewer's answer, 0 for all classes but one if reviewers never
    err, times that of the label before; where that is not known, 1.

    Examples
    --------
    >>> known = Verified(np.array([False, True, True]), np.array([-1, 0, -1]), error=0.1)
    >>> seen_through(transition(0.2, 2), np.array([0, 1, 1]), known).round(2)
    array([[0.8 , 0.2 ],
           [0.08, 0.18],
           [0.1 , 0.9 ]])
    """
    answer, checked = transition(verified.error, len(T)), np.flatnonzero(verified.mask)
    seen = T[:, labels].T
    said, before = labels[checked], verified.before[checked]
    seen[checked] = answer[:, said].T * np.where(before[:, None] >= 0, T[:, before].T, 1.0)
    return seen


def evidence(p: Array, usual: Array) -> Array:
    """Log probabilities less the usual ones.

    They are in Fortran order: calibration mostly sums over a few classes, which is then several times as fast.
    """
    log_p = np.log(np.clip(np.asfortranarray(p), _LEAST_PROBABILITY, 1))
    return log_p - np.log(np.clip(usual, _LEAST_PROBABILITY, 1))


def likely_range(rates: Array, log_likelihood: Array) -> tuple[float, float]:
    """Return the range of rates that explain the labels nearly as well as the best, which is one of them."""
    fine, best = np.linspace(rates[0], rates[-1], 500), rates[log_likelihood.argmax()]
    inside = fine[np.interp(fine, rates, log_likelihood - log_likelihood.max()) >= -_INTERVAL_DROP]
    return float(inside.min(initial=best)), float(inside.max(initial=best))


def _range_of_even(hypotheses: Sequence[Hypothesis], log_likelihood: Array) -> tuple[float, float]:
    """Return the likely range of the likelier even noise, as far as need be widened by likely rates of other noise."""
    rates, kinds = np.array([h.rate for h in hypotheses]), np.array([h.kind for h in hypotheses])
    main = kinds == max(EVEN, key=lambda kind: log_likelihood[kinds == kind].max(initial=-np.inf))
    low, high = likely_range(rates[main], log_likelihood[main])
    others = rates[~main & (log_likelihood >= log_likelihood.max() - _INTERVAL_DROP)]
    return min([low, *others.tolist()]), max([high, *others.tolist()])


def _range_of_all(hypotheses: Sequence[Hypothesis], log_likelihood: Array) -> tuple[float, float]:
    """Return the likely range over all kinds of noise alike: what is known may rule out even noise."""
    rates, kinds = np.array([h.rate for h in hypotheses]), np.array([h.kind for h in hypotheses])
    is_likely, ends = log_likelihood >= log_likelihood.max() - _INTERVAL_DROP, []
    for kind in np.unique(kinds[is_likely]):
        of_kind = np.flatnonzero(kinds == kind)
        of_kind = of_kind[np.argsort(rates[of_kind])]
        tried, likely = rates[of_kind], np.flatnonzero(is_likely[of_kind])
        first, last = likely[0], likely[-1]
        steps = np.diff(tried) / 2 if tried.size > 1 else np.zeros(1)  # half the way to the next rate that was tried
        ends += [tried[first] - steps[max(first - 1, 0)], tried[last] + steps[min(last, steps.size - 1)]]
    return max(0.0, min(ends)), min(1.0, max(ends))


def _calibrate_panel(
    said: Sequence[Array], usual: Sequence[Array], seen: Array, frequencies: Array, starts: Sequence[Array]
) -> tuple[Panel, list[Array]]:
    """Calibrate every teacher under a hypothesis, and weigh it by how well it then explains the labels.

    Return also the parameters of each, from which to start under the next hypothesis.
    """
    seen, base = np.ascontiguousarray(seen.T), np.log(frequencies)
    ends = [_calibrate(each, seen, base, start) for each, start in zip(said, starts, strict=True)]
    explained = [(_calibrated(each, base, end) * seen).sum(axis=0) for each, end in zip(said, ends, strict=True)]
    calibrations = [Calibration(float(end[0]), base + end[1:], mean) for end, mean in zip(ends, usual, strict=True)]
    probability = np.array(explained)  # (teachers, n) of each label as it was given
    log_likelihood = np.log(probability).sum(axis=1)
    weights = softmax(log_likelihood / _TEMPERATURE)
    return Panel(calibrations, weights, float(np.log(weights @ probability).sum())), ends


def _calibrate(said: Array, seen: Array, base: Array, start: Array) -> Array:
    """Find the slope and offsets with which evidence explains best what is `seen` of the labels through the noise.

    Arrays are (C, n), because sums over a few classes are then several times as fast.
    """
    as_it_is = np.append(1.0, np.zeros(base.size))
    precision = np.append(_SLOPE_PRECISION, np.full(base.size, _OFFSET_PRECISION))
    penalty = np.diag(precision)

    def expand(parameters: Array) -> Expansion:
        clean = _calibrated(said, base, parameters)
        known = clean * seen  # with the labels known
        probability = known.sum(axis=0)
        known /= probability
        error, off = clean - known, parameters - as_it_is
        pull = precision * off
        gradient = np.append(np.vdot(error, said), error.sum(axis=1)) + pull
        curvature = _covariance(clean, said) - _covariance(known, said) + penalty
        if np.linalg.eigvalsh(curvature)[0] < _SLOPE_PRECISION / 2:
            curvature = _covariance(clean, said) + penalty
        return float(pull @ off / 2 - np.log(probability).sum()), gradient, curvature

    low, high = np.append(_MIN_SLOPE, np.full(base.size, -3.0)), np.append(_MAX_SLOPE, np.full(base.size, 3.0))
    return minimize_in_box(expand, start, low, high)


def _calibrated(said: Array, base: Array, parameters: Array) -> Array:
    """Probabilities (C, n) from evidence; nothing overflows, because evidence and parameters have bounds."""
    clean = parameters[0] * said
    clean += (base + parameters[1:])[:, None]
    np.exp(clean, out=clean)
    clean /= clean.sum(axis=0)
    return clean


def _covariance(p: Array, said: Array) -> Array:
    """Of slope and offsets (1 + C, 1 + C), summed over rows, if classes are as probable as `p` says."""
    times_said = p * said
    mean = times_said.sum(axis=0)
    covariance = np.empty((len(p) + 1, len(p) + 1))
    covariance[0, 0] = np.vdot(times_said, said) - mean @ mean
    covariance[0, 1:] = covariance[1:, 0] = times_said.sum(axis=1) - p @ mean
    covariance[1:, 1:] = np.diag(p.sum(axis=1)) - p @ p.T
    return covariance
