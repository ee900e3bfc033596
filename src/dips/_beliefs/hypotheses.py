"""How labels may have gone wrong: all classes alike, one class more often than the others, or all mistaken for one.

Errors that meet all classes alike are of two kinds, which a rare class tells apart. If wrong labels named all others
alike, a class of eight rows among six hundred would gain dozens of labels at a rate of a fifth. Where it has not, every
such rate would be ruled out, however many labels of the other classes are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.special import logsumexp, softmax

from dips._beliefs.transitions import in_proportion, taken_for, transition
from dips._tools.arrays import Array

SYMMETRIC = "symmetric"  # the kind of noise that meets all classes alike, and takes them for any other alike
PROPORTIONAL = "in proportion"  # the same, but a class is taken for another as often as that one occurs
ONE_SIDED = "one-sided"  # classes whose labels are trusted are taken for the others alike, and nothing else is wrong
EVEN = (SYMMETRIC, PROPORTIONAL, ONE_SIDED)  # kinds that labels need not speak for

RATES = (0.0, 0.03, 0.06, 0.1, 0.14, 0.18, 0.22, 0.27, 0.32, 0.37, 0.42, 0.46)
MORE_RATES = (0.52, 0.58)  # with more than two classes the truth can still be the most frequent label
UNEVEN_RATES = (0.06, 0.18, 0.3, 0.42)  # of the class that is met most
_MANY_LABELS = 4_000  # tell rates apart that are nearer to each other
_MOST_UNEVEN = 10  # classes, beyond which one class alone explains little, and to try each would cost much

# Chosen on seven tables and checked on three others; docs/results.md has the figures.
_PRIOR_SLOPE = 3.0  # log prior density of the largest binary rate, less that of rate 0
_PRIOR_MASS_AT_0 = 0.5  # prior mass of "no label is wrong", as a share of the range of rates
_SHARES_OF_OTHERS = (0.0, 1 / 3)  # the rate of every other class, as a share of the rate of the class that is met most
_BELOW_HALF = 0.99  # the highest rate of being mistaken for a rare class; at about 1, half of its labels are wrong
P_UNEVEN = 0.1  # beside 0.9 of even noise: that one class is mistaken; of three on, as much that all are for one
_LEAST_FACTOR = 2.0  # how much better than even noise another kind must explain the labels to be believed at all


@dataclass(frozen=True)
class Hypothesis:
    """One way in which labels may have gone wrong.

    Attributes
    ----------
    matrix : (C, C) probability that a row of class c is labeled k
    rate : the share of wrong labels
    frequencies : (C,) of the classes that teachers are calibrated to
    kind : its name; those in ``EVEN`` need not be spoken for by labels
    log_prior : before any teacher was asked
    log_counts : log likelihood of how often each label was given, where it is known how often each class occurs
    """

    matrix: Array
    rate: float
    frequencies: Array
    kind: str = SYMMETRIC
    log_prior: float = 0.0
    log_counts: float = 0.0

    @property
    def wrong_by_class(self) -> Array:
        """Share (C,) of the labels of each class that are wrong, by Bayes' rule.

        For even noise this errs on the side of a rare class: its frequency is taken to be that of its labels, of which
        it has fewer.
        """
        return np.asarray(1 - self.frequencies * np.diag(self.matrix) / (self.frequencies @ self.matrix))


def make_hypotheses(labels: Array, n_classes: int) -> list[Hypothesis]:
    """Return what the noise of these labels may be, even noise first, rates of a kind from low to high."""
    found = frequencies_of(labels, n_classes)
    rates = np.array(RATES if n_classes == 2 else RATES + MORE_RATES)
    if labels.size > _MANY_LABELS:
        rates = halved(rates)
    even = [symmetric_noise(rate, labels, n_classes) for rate in rates]
    if n_classes > 2:  # of two classes, both kinds are the same
        even += [Hypothesis(in_proportion(rate, found), float(rate), found, PROPORTIONAL) for rate in rates]
    log_prior = np.tile(log_prior_of_rates(rates), len(even) // rates.size) - np.log(len(even) / rates.size)
    even = [replace(h, log_prior=float(p)) for h, p in zip(even, log_prior, strict=True)]
    if n_classes > _MOST_UNEVEN:
        return even
    return even + [h for kind, matrices in _uneven_kinds(found) for h in _uneven_noise(kind, matrices, found)]


def halved(rates: Array) -> Array:
    """Return the rates and those half-way between them.

    Examples
    --------
    >>> halved(np.array([0.0, 0.1, 0.3])).round(2)
    array([0.  , 0.05, 0.1 , 0.2 , 0.3 ])
    """
    return np.interp(np.arange(2 * rates.size - 1) / 2, np.arange(rates.size), rates)


def mistaken(c: int) -> str:
    """Name the kind of noise in which class c is mistaken more often than the others."""
    return f"{c} is mistaken"


def mistaken_for(c: int) -> str:
    """Name the kind of noise in which all other classes are mistaken for class c."""
    return f"mistaken for {c}"


def symmetric_noise(rate: float, labels: Array, n_classes: int) -> Hypothesis:
    """Return the hypothesis that labels of all classes are wrong at one rate.

    The frequencies of the labels stand for those of the classes, although symmetric noise makes rare classes look more
    frequent than they are: a rare class that is decided for too often costs less than one that is never.
    """
    return Hypothesis(transition(rate, n_classes), float(rate), frequencies_of(labels, n_classes))


def frequencies_of(labels: Array, n_classes: int) -> Array:
    """How often each class is found among labels, and once more."""
    return np.asarray((np.bincount(labels, minlength=n_classes) + 1.0) / (labels.size + n_classes))


def _uneven_kinds(found: Array) -> Iterator[tuple[str, list[Array]]]:
    """Each kind of uneven noise, and its matrices; with two classes, to mistake one is to take it for the other."""
    n_classes, is_class = found.size, np.eye(found.size)
    for c in range(n_classes):
        shares = product(_SHARES_OF_OTHERS, _rates_of_mistaken(c, found))
        rates = [worst * np.maximum(is_class[c], share) for share, worst in shares]
        yield mistaken(c), [transition(each, n_classes) for each in rates]
    for c in range(n_classes if n_classes > 2 else 0):
        yield mistaken_for(c), [taken_for(c, rate, n_classes) for rate in UNEVEN_RATES]


def _rates_of_mistaken(c: int, found: Array) -> Array:
    """Rates at which class c may be mistaken; low ones where the other of two classes is rare.

    At the usual rates most labels of the rare class would be wrong, which is ruled out. Without lower ones, only even
    noise could explain wrong labels of the rare class.
    """
    rates, half_of_other = np.array(UNEVEN_RATES), (1 - found[c]) / 2
    other_is_rare = found.size == 2 and half_of_other < rates[0]
    return rates / rates[-1] * half_of_other * _BELOW_HALF if other_is_rare else rates


def _uneven_noise(kind: str, matrices: Sequence[Array], found: Array) -> list[Hypothesis]:
    """Return the hypotheses of a kind that can be."""
    return with_prior(list(filter(None, (explaining(kind, matrix, found) for matrix in matrices))))


def explaining(kind: str, matrix: Array, found: Array) -> Hypothesis | None:
    """Return the hypothesis that noise of this matrix made labels as frequent as they are found.

    None if more labels of a class would be wrong than right. Without that, errors of a large class could explain all
    labels of a rare one. None, too, if the noise turns various frequencies into the same.
    """
    try:
        true = np.linalg.solve(matrix.T, found)  # frequencies of the classes that the noise turns into those found
    except np.linalg.LinAlgError:
        return None
    right = true * np.diag(matrix)
    return Hypothesis(matrix, max(0.0, float(1 - right.sum())), true, kind) if (right > found / 2).all() else None


def with_prior(of_kind: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return the hypotheses of a kind of uneven noise with their share of its prior, higher rates with more."""
    if not of_kind:
        return []
    shares = softmax([_PRIOR_SLOPE * h.rate / RATES[-1] for h in of_kind])
    prior = P_UNEVEN / of_kind[0].frequencies.size
    return [replace(h, log_prior=float(np.log(prior * p))) for h, p in zip(of_kind, shares, strict=True)]


def posterior(hypotheses: Sequence[Hypothesis], log_likelihood: Array, trust: float = 1.0) -> Array:
    """Probability of each hypothesis, from how well it explains the labels.

    Uneven noise is believed only as far as labels speak for it. Where they tell nothing, its prior would otherwise be
    left as belief, which costs points where noise is symmetric. And of how much better it explains them, no more than
    a share counts, the `trust`: of many labels, what teachers misjudge of a class looks like noise of that class.
    """
    log_prior, kinds = np.array([h.log_prior for h in hypotheses]), np.array([h.kind for h in hypotheses])
    even = np.isin(kinds, EVEN)
    best = {k: log_likelihood[kinds == k].max() for k in np.unique(kinds)}
    lead = np.array([best[k] for k in kinds]) - log_likelihood[even].max()
    log_likelihood = log_likelihood - np.where(even, 0.0, (1 - trust) * np.maximum(lead, 0.0))
    explained = {k: _log_mean(log_likelihood[kinds == k], log_prior[kinds == k]) for k in best}
    lead = np.array([explained[k] for k in kinds]) - _log_mean(log_likelihood[even], log_prior[even])
    believed = np.where(even, 1.0, -np.expm1(np.minimum(0, np.log(_LEAST_FACTOR) - lead)))
    probability = believed * softmax(log_likelihood + log_prior)
    return np.asarray(probability / probability.sum())


def _log_mean(log_likelihood: Array, log_prior: Array) -> float:
    """Log of the mean likelihood of hypotheses, each as probable as its prior says."""
    return float(logsumexp(log_likelihood + log_prior) - logsumexp(log_prior))


def log_prior_of_rates(rates: Array, slope: float = _PRIOR_SLOPE) -> Array:
    """Log probability of each rate of even noise: a density that rises with the rate, and a lump at 0.

    The likelihood alone leans to small rates, because a calibrated teacher takes wrong labels for its own errors.
    """
    widths = np.gradient(rates) if rates.size > 1 else np.ones(1)
    mass = widths * np.exp(slope * rates / RATES[-1])
    mass[0] += _PRIOR_MASS_AT_0 * RATES[-1]
    return np.asarray(np.log((1 - P_UNEVEN) * mass / mass.sum()))
