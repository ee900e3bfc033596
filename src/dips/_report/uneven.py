"""Are labels wrong more often in some parts of a table than difficulty explains? Tested, for all parts at once.

Where a table is hard a model is unsure, and its doubts gather there although nobody erred. So labels are not counted as
wrong where models doubt them: the answers of models that had not seen the rows say how often a label should be
contradicted there, if wrong labels were spread evenly. Only what is contradicted beyond that counts: a likelihood ratio
between the part's own rate of wrong labels and that of the table. How large the largest ratio of so many parts gets by
chance is simulated on the same table: labels are drawn from the answers, wrong ones evenly among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from dips._beliefs.noise import evidence, likely_range
from dips._tools.arrays import Array

_N_SIMULATIONS, _FEWEST, _WORK = 300, 100, 1e9  # fewer where rows times parts would take long
_STREAM = 20_231  # of random numbers, of its own: tables are often made with small seeds
_RATES = np.linspace(0, 0.5, 51)
_HIGHER = (1.25, 1.6, 2.0, 3.0, 5.0, 10.0, 25.0)  # times the table's rate, which simulated parts are tried with
_SLOPES = np.linspace(0, 1, 11)  # of the answers in a part that may be harder than they know
_WORTH_ASKING = 1.5  # standard errors; below, a part is not suspicious anyway
_MANY_PARTS = 10  # fewer say nothing about their spread
_LEAST_RATE = 0.01  # so that a single wrong label is no miracle
_LEAST_PROBABILITY = 1e-3
_SLOPE_PRECISION, _OFFSET_PRECISION = 0.3, 4.0  # of the calibration, around the answers as they are


@dataclass(frozen=True)
class Part:
    """A part of the table, judged.

    Attributes
    ----------
    rate, elsewhere : estimated share of wrong labels in it, and in the rest of the table
    better_than_hard : log likelihood that its own rate gains over its own sharpness of the answers: whether its labels
        are wrong more often, rather than its rows harder than the answers know; 0 where its score is small
    score : standard errors between its rate and that of the whole table; negative where it is lower
    p_value : share of simulated tables, without any such part, whose most suspicious part scores as high
    range, range_elsewhere : lowest and highest share that explain the labels nearly as well
    p_wrong : probability of each of its labels to be wrong, at its own rate
    """

    rate: float
    elsewhere: float
    score: float
    p_value: float
    range: tuple[float, float]
    range_elsewhere: tuple[float, float]
    better_than_hard: float
    p_wrong: Array = field(repr=False)


def judge_parts(answers: Array, labels: Array, masks: Sequence[Array], seed: int = 0) -> list[Part]:
    """Judge parts of a table.

    Parameters
    ----------
    answers : (n, C) class probabilities from models that had not seen the row
    labels : (n,) codes
    masks : (n,) each, the parts that are looked at

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p, in_part = rng.beta(0.5, 0.5, 2_000), np.arange(2_000) < 400
    >>> wrong = rng.random(2_000) < np.where(in_part, 0.25, 0.05)
    >>> labels = ((rng.random(2_000) < p) ^ wrong).astype(int)
    >>> bad, good = judge_parts(np.column_stack([1 - p, p]), labels, [in_part, ~in_part])
    >>> bad.rate > 0.15, bad.p_value < 0.01, good.p_value > 0.5
    (True, True, True)
    """
    if not masks:
        return []
    clean, rate = _calibrated(answers, labels)
    largest = _largest_by_chance(clean, rate, masks, np.random.default_rng((seed, _STREAM)))
    explained = np.log(_given(clean[np.arange(labels.size), labels, None], np.append(_RATES, rate), clean.shape[1]))
    parts, of_all = [], explained.sum(axis=0)
    of_parts = np.array([explained[mask].sum(axis=0) for mask in masks])  # (parts, rates and that of the table)
    best = _RATES[of_parts[:, :-1].argmax(axis=1)]
    ratio = np.sqrt(2 * np.maximum(of_parts[:, :-1].max(axis=1) - of_parts[:, -1], 0))
    scores = np.sign(best - rate) * ratio
    for mask, own, own_rate, score in zip(masks, of_parts, best, scores / _spread(scores), strict=True):
        rest = (of_all - own)[:-1]
        p_value = (1 + int((largest >= score).sum())) / (1 + largest.size)
        ranges = likely_range(_RATES, own[:-1]), likely_range(_RATES, rest)
        more = float(own[:-1].max() - _if_harder(clean[mask], labels[mask], rate)) if score > _WORTH_ASKING else 0.0
        p_wrong = _p_wrong(clean[mask], labels[mask], own_rate)
        parts.append(Part(float(own_rate), float(_RATES[rest.argmax()]), float(score), p_value, *ranges, more, p_wrong))
    return parts


def _if_harder(clean: Array, labels: Array, rate: float) -> float:
    """Log likelihood of labels if the answers are only less sharp than they should be, at the rate of the table."""
    usual = np.log(clean.mean(axis=0))
    said, at = np.log(np.maximum(clean, _LEAST_PROBABILITY)) - usual, np.arange(labels.size)
    softer = (softmax(slope * said + usual, axis=1)[at, labels] for slope in _SLOPES)
    return max(float(np.log(_given(right, rate, clean.shape[1])).sum()) for right in softer)


def _spread(scores: Array) -> float:
    """How far scores lie apart: by more than 1 where parts are harder or easier than the answers know."""
    if scores.size < _MANY_PARTS:
        return 1.0
    return max(1.0, 1.4826 * float(np.median(np.abs(scores - np.median(scores)))))


def _given(clean: Array, rate: Array | float, n_classes: int) -> Array:
    """Probabilities of labels as they are given, from those of the true class; one label is never impossible."""
    given = rate / (n_classes - 1) + (1 - rate * n_classes / (n_classes - 1)) * clean
    return np.maximum(given, _LEAST_PROBABILITY)


def _calibrated(answers: Array, labels: Array) -> tuple[Array, float]:
    """Probabilities of the true class (n, C), and the rate of wrong labels, that explain the labels best together."""
    said, n_classes, at = evidence(answers, answers.mean(axis=0)), answers.shape[1], np.arange(labels.size)
    counts = np.bincount(labels, minlength=n_classes) + 1.0
    prior = np.log(counts / counts.sum())

    def loss(values: Array) -> tuple[float, Array]:
        slope, offsets, rate = values[0], values[1:-1], values[-1]
        clean = softmax(slope * said + prior + offsets, axis=1)
        right = clean[at, labels]
        given = _given(right, rate, n_classes)
        weight = (1 - rate * n_classes / (n_classes - 1)) * right / given
        by_slope = (weight * (said[at, labels] - (clean * said).sum(axis=1))).sum()
        by_offset = np.bincount(labels, weight, n_classes) - (weight[:, None] * clean).sum(axis=0)
        by_rate = (((1 - right) / (n_classes - 1) - right) / given).sum()
        penalty = _SLOPE_PRECISION * (slope - 1) ** 2 + _OFFSET_PRECISION * (offsets**2).sum()
        pull = np.array([_SLOPE_PRECISION * (slope - 1), *(_OFFSET_PRECISION * offsets), 0.0])
        return float(penalty / 2 - np.log(given).sum()), pull - np.array([by_slope, *by_offset, by_rate])

    start, bounds = np.array([1.0, *np.zeros(n_classes), 0.05]), [(0.02, 6.0), *[(-3.0, 3.0)] * n_classes]
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[*bounds, (_LEAST_RATE, _RATES[-1])]).x
    return softmax(best[0] * said + prior + best[1:-1], axis=1), float(best[-1])


def _p_wrong(clean: Array, labels: Array, rate: float) -> Array:
    right = clean[np.arange(labels.size), labels]
    return 1 - (1 - rate) * right / _given(right, rate, clean.shape[1])


def _largest_by_chance(clean: Array, rate: float, masks: Sequence[Array], rng: np.random.Generator) -> Array:
    """The largest score of any part, in tables whose labels are drawn anew and wrong as often everywhere."""
    n, n_classes = clean.shape
    higher = [r for r in rate * np.array(_HIGHER) if r <= _RATES[-1]] or [_RATES[-1]]
    rates = np.array([rate, *higher])
    explained = np.log(_given(clean[:, :, None], rates, n_classes)).astype(np.float32)  # (n, C, rates)
    gain = explained[:, :, 1:] - explained[:, :, :1]
    inside = np.array(masks, dtype=np.float32)
    reach, at = _given(clean, rate, n_classes).cumsum(axis=1), np.arange(n)
    largest = np.empty(int(np.clip(_WORK / inside.size, _FEWEST, _N_SIMULATIONS)))
    for k in range(largest.size):
        drawn = (rng.random((n, 1)) * reach[:, -1:] > reach).sum(axis=1)
        largest[k] = np.sqrt(2 * max((inside @ gain[at, drawn]).max(), 0.0))
    return largest
