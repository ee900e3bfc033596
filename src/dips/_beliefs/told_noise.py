"""What the noise may be where users know something of it: which labels are never wrong, or how often classes occur."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dips._beliefs.hypotheses import (
    MORE_RATES,
    ONE_SIDED,
    PROPORTIONAL,
    RATES,
    SYMMETRIC,
    UNEVEN_RATES,
    Hypothesis,
    explaining,
    frequencies_of,
    log_prior_of_rates,
    mistaken,
    mistaken_for,
    with_prior,
)
from dips._beliefs.transitions import in_proportion, moved_to, spared, taken_for, transition
from dips._data.known import Known
from dips._tools.arrays import Array

AS_COUNTED = "as counted"  # the kind of noise that turns known frequencies into those of the labels
COUNTED_AFTER_NOISE = "as counted, after even noise"

_HIGH_RATES = (0.64, 0.7, 0.76, 0.82, 0.88)  # most rows of a class may be labeled otherwise, if its label is trusted
_HIGH_UNEVEN_RATES = (0.54, 0.66, 0.78)
_MOST_UNEVEN = 10  # classes, beyond which each alone explains little; and labels that may hide the rows of others
_AROUND = (0.5, 0.75, 1.0, 1.25, 1.5)  # of the labels that known frequencies say were moved; nobody knows them exactly
_LEAST_MOVED = 1e-3  # of the labels, to speak of noise
_LEAST_RIGHT = 0.02  # of the labels of a class
_LEAST_FREQUENCY = 1e-6  # of a label; one that no error explains must not break the likelihood

# Chosen on ten tables and checked on 26 others; docs/results.md has the figures.
_MOST_COUNTED = 400  # labels; with more, known frequencies would have to be known more exactly than they are,
_COUNTED_OF_CLASS = 100  # unless fewer of them would be of some class
_PRIOR_SLOPE_OF_TRUSTED = 1.5


def make_told_hypotheses(labels: Array, n_classes: int, known: Known) -> list[Hypothesis]:
    """Return what the noise of these labels may be if that is known; under none is a trusted label wrong."""
    found = frequencies_of(labels, n_classes)
    made = _even_noise(found, known)
    if known.frequencies is None:
        return made + (_uneven_noise(found, known) if n_classes > 2 else [])
    counts = np.bincount(labels, minlength=n_classes)
    made += _as_counted(found, known)
    return [replace(h, log_counts=_log_counts(counts, h.matrix, known.frequencies)) for h in made]


def hidden_as(c: int) -> str:
    """Name the kind of noise in which classes whose labels are trusted are mistaken for class c, and no other is."""
    return f"hidden as {c}"


def _even_noise(found: Array, known: Known) -> list[Hypothesis]:
    """Return the hypotheses that the labels of all classes, or of those that are trusted, go wrong at one rate."""
    n_classes, trusts, usual = found.size, bool(known.trusted.any()), found
    if known.frequencies is not None:
        usual = known.frequencies
    rates = RATES + (MORE_RATES if n_classes > 2 or trusts else ()) + (_HIGH_RATES if trusts else ())
    kinds = {SYMMETRIC: [transition(rate, n_classes) for rate in rates]}
    if n_classes > 2:  # of two classes, all kinds are the same
        kinds[PROPORTIONAL] = [in_proportion(rate, usual) for rate in rates]
        if trusts:
            kinds[ONE_SIDED] = [transition(rate * known.trusted, n_classes) for rate in rates]
    made = []
    for kind, matrices in kinds.items():
        of_kind = _possible(kind, matrices, found, known)
        slope = {"slope": _PRIOR_SLOPE_OF_TRUSTED} if trusts else {}
        log_prior = log_prior_of_rates(np.array([h.rate for h in of_kind]), **slope) - np.log(len(kinds))
        made += [replace(h, log_prior=float(p)) for h, p in zip(of_kind, log_prior, strict=True)]
    return made


def _uneven_noise(found: Array, known: Known) -> list[Hypothesis]:
    """Return the hypotheses that one class alone is mistaken, or all for one, or those of trusted labels for one."""
    rates, n_classes = UNEVEN_RATES + _HIGH_UNEVEN_RATES, found.size
    doubted = np.flatnonzero(~known.trusted).tolist()
    most_frequent = sorted(doubted, key=lambda c: -found[c])[:_MOST_UNEVEN]
    kinds = {hidden_as(c): [taken_for(c, rate * known.trusted, n_classes) for rate in rates] for c in most_frequent}
    if n_classes <= _MOST_UNEVEN:
        alone = np.eye(n_classes)
        kinds |= {mistaken(c): [transition(rate * alone[c], n_classes) for rate in rates] for c in range(n_classes)}
        kinds |= {mistaken_for(c): [taken_for(c, rate, n_classes) for rate in rates] for c in doubted}
    return [h for kind, matrices in kinds.items() for h in with_prior(_possible(kind, matrices, found, known))]


def _possible(kind: str, matrices: list[Array], found: Array, known: Known) -> list[Hypothesis]:
    """Return the hypotheses of these matrices, in which no error names a trusted class.

    Without known frequencies, those are left out under which most labels of a class would be wrong. With them, how
    often each label was given says better what can be.
    """
    sparing = [spared(matrix, known.trusted) for matrix in matrices]
    if known.frequencies is not None:
        return [_hypothesis(kind, T, known) for T in sparing]
    return list(filter(None, (explaining(kind, T, found) for T in sparing)))


def _hypothesis(kind: str, matrix: Array, known: Known) -> Hypothesis:
    assert known.frequencies is not None
    rate = max(0.0, float(1 - known.frequencies @ np.diag(matrix)))
    return Hypothesis(matrix, rate, known.frequencies, kind)


def _as_counted(found: Array, known: Known) -> list[Hypothesis]:
    """Return the hypotheses that labels were moved until about as frequent as they are found: alone, or after noise."""
    assert known.frequencies is not None
    frequencies, nothing = known.frequencies, np.eye(found.size)
    least = moved_to(found, frequencies, known.trusted)
    if frequencies @ (1 - np.diag(least)) < _LEAST_MOVED:
        return []
    steps = [nothing + share * (least - nothing) for share in _AROUND]
    alone = [_hypothesis(AS_COUNTED, T, known) for T in steps if np.diag(T).min() > _LEAST_RIGHT]
    noise = [spared(transition(rate, found.size), known.trusted) for rate in UNEVEN_RATES]
    moved = [even @ moved_to(found, frequencies @ even, known.trusted) for even in noise]
    return with_prior(alone + [_hypothesis(COUNTED_AFTER_NOISE, T, known) for T in moved])


def _log_counts(counts: Array, matrix: Array, frequencies: Array) -> float:
    """Log likelihood of how often each label was given, if noise of this matrix met classes of these frequencies."""
    weight = min(1.0, max(_MOST_COUNTED, _COUNTED_OF_CLASS / frequencies.min()) / counts.sum())
    return float(weight * (counts @ np.log(np.maximum(frequencies @ matrix, _LEAST_FREQUENCY))))
