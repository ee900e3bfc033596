"""The share of wrong labels of images, and which they are, from what pilots say.

A network trained to be sure of its own answers is far too sure, and how much cannot be learned from labels that may be
wrong: a network that is sure and a label that differs look the same, whichever of the two is wrong. But where pilots
answer differently, one of them is wrong, and that needs no label. So they are calibrated by one another, on unlabeled
images, and only then are labels looked at. Errors that pilots share are taken for wrong labels, so the estimate is
somewhat too high.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from dips._beliefs.belief import believe
from dips._beliefs.noise import likely_range, seen_through
from dips._beliefs.transitions import transition
from dips._data.verified import Verified
from dips._tools.arrays import Array

_RATES = np.linspace(0, 0.6, 31)
_LEAST_SEEN = 1e-12  # a rate of 0 cannot explain a verified label that was another before
_SURE = 2.0  # standard errors by which one of two predictions must be better
_LEAST_PROBABILITY = 1e-3  # how sure a pilot can be that an image is not of a class


@dataclass(frozen=True)
class LabelNoise:
    """The estimated share of wrong labels.

    Attributes
    ----------
    rate : the mean of what it may be
    low, high : shares outside explain the labels much less well than the best one
    p_wrong : (n,) probability of each label to be wrong
    """

    rate: float
    low: float
    high: float
    p_wrong: Array


def estimate_label_noise(
    answers: Array, opinions: Array, labels: Array, verified: Verified | None = None
) -> LabelNoise:
    """Estimate the noise by pilots.

    Parameters
    ----------
    answers : (n, C) probabilities of each labeled image by a pilot that was not trained on its label
    opinions : (pilots, m, C) of the same unlabeled images by every pilot
    labels : (n,) codes
    verified : which of the labels were checked, and what they were before
    """
    p, verified = softmax(trust(opinions) * _log(answers), axis=1), verified or Verified.nothing(labels.size)
    matrices = [transition(rate, p.shape[1]) for rate in _RATES]
    seen = [(p * seen_through(T, labels, verified)).sum(axis=1) for T in matrices]  # (rates, n)
    log_likelihood = np.log(np.maximum(seen, _LEAST_SEEN)).sum(axis=1)
    posterior = softmax(log_likelihood)
    low, high = likely_range(_RATES, log_likelihood)
    heard = np.flatnonzero(posterior > 1e-3)
    right = sum(posterior[i] * believe(p, labels, matrices[i])[np.arange(labels.size), labels] for i in heard)
    return LabelNoise(float(posterior @ _RATES), low, high, 1 - right / posterior[heard].sum())


def trust(opinions: Array) -> float:
    """The power of a pilot's probabilities that predicts the other pilots' answers best; 1 takes them as they are.

    Examples
    --------
    >>> sure = np.array([[0.99, 0.01], [0.99, 0.01], [0.01, 0.99], [0.01, 0.99]])
    >>> unsure = sure[[0, 2, 1, 3]]  # agrees on half of the images
    >>> bool(trust(np.stack([sure, sure])) > 2), bool(trust(np.stack([sure, unsure])) < 0.2)
    (True, True)
    """
    said, log_p = opinions.argmax(axis=2), _log(opinions)
    pilots = range(len(opinions))
    pairs = [(a, b) for a in pilots for b in pilots if a != b]

    def loss(power: float) -> float:
        predicted = log_softmax(power * log_p, axis=2)
        return -float(np.mean([np.take_along_axis(predicted[a], said[b][:, None], axis=1).mean() for a, b in pairs]))

    return float(minimize_scalar(loss, bounds=(0.02, 3.0), method="bounded").x)


def predicts_better(answers: Array, others: Array, labels: Array) -> bool:
    """Whether answers (n, C) agree with more labels than other ones, by more than chance would have it.

    Wrong labels are wrong for both, so they blur the comparison without favoring either.

    Examples
    --------
    >>> right, wrong = np.tile([0.9, 0.1], (20, 1)), np.tile([0.1, 0.9], (20, 1))
    >>> predicts_better(right, wrong, np.zeros(20, dtype=int)), predicts_better(right, right, np.zeros(20, dtype=int))
    (True, False)
    """
    hit, hit_by_others = answers.argmax(axis=1) == labels, others.argmax(axis=1) == labels
    n_more, n_less = (hit & ~hit_by_others).sum(), (~hit & hit_by_others).sum()
    return bool(n_more - n_less > _SURE * np.sqrt(n_more + n_less))


def _log(p: Array) -> Array:
    return np.log(np.clip(p, _LEAST_PROBABILITY, 1))
