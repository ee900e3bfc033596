"""Beliefs: what teachers and the given label together say about a row's true class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dips._beliefs.noise import NoiseRate, Panel
from dips._beliefs.teachers import Answers
from dips._tools.arrays import Array

_LEAN_BACK = 0.5
_LEAN_STEPS, _LEAN_RATE = 30, 0.2  # then as many steps that get shorter
_LEAST_KEPT = 2  # labels of each class that are never suspects
_SUPPORTED_Z = 1.645  # one-sided 95 %


def average_beliefs(
    answers: Sequence[Answers],
    labels: Array,
    noise: NoiseRate,
    panels: Sequence[Panel],
) -> tuple[Array, Array]:
    """Average over hypotheses: beliefs about labeled rows (n, C), and distributions of unlabeled ones (m, C).

    `panels` are those of the hypotheses that are heard.
    """
    labeled, unlabeled = [a.labeled for a in answers], [a.unlabeled for a in answers]
    matrices, weights = [noise.hypotheses[i].matrix for i in noise.heard], noise.posterior[noise.heard]
    weights = weights / weights.sum()
    p = np.array([panel(labeled) for panel in panels])  # (heard, n, C)
    q = np.tensordot(weights, np.array([panel(unlabeled) for panel in panels]), axes=1)  # (m, C)
    offsets = lean_back(np.concatenate([np.tensordot(weights, p, axes=1), q]))
    believed = [believe(shift(each, offsets), labels, T) for T, each in zip(matrices, p, strict=True)]
    return np.tensordot(weights, np.array(believed), axes=1), shift(q, offsets)


def believe(p: Array, labels: Array, T: Array) -> Array:
    """p(true class | row, label) from p(true class | row) and noise of matrix T: Bayes' rule; -1 is a label not known.

    Examples
    --------
    >>> believe(np.array([[0.9, 0.1]]), np.array([1]), np.array([[0.8, 0.2], [0.2, 0.8]])).round(3)
    array([[0.692, 0.308]])
    """
    joint = p * np.where(labels[:, None] >= 0, T[:, labels].T, 1.0)
    return joint / joint.sum(axis=1, keepdims=True)


def lean_back(p: Array) -> Array:
    """Log offsets (C,) that move decisions on rows `p` half-way towards each class's probability mass.

    Averaged, uncertain probabilities decide for the larger class far more often than it occurs. With the full offsets,
    a class would be decided for as often as its mean probability says (class mass normalization). The last steps get
    shorter, because where rows are nearly alike they all change sides at once, and full steps never come to rest.
    """
    n, n_classes = p.shape
    offsets, mass = np.zeros(n_classes), np.maximum(p.mean(axis=0), 1e-4)
    for rate in _LEAN_RATE / np.append(np.ones(_LEAN_STEPS), np.arange(1, _LEAN_STEPS + 1)):
        decided = (np.bincount((p * np.exp(offsets)).argmax(axis=1), minlength=n_classes) + 1) / (n + n_classes)
        offsets += rate * (np.log(mass) - np.log(decided))
    return _LEAN_BACK * (offsets - offsets.mean())


def shift(p: Array, offsets: Array) -> Array:
    """Probabilities with log offsets added."""
    shifted = p * np.exp(offsets)
    return shifted / shifted.sum(axis=1, keepdims=True)


def probably_right(p_wrong: Array, labels: Array) -> Array:
    """Mask of the labels to keep: in each class all but as many as are expected to be wrong, the least believed.

    Examples
    --------
    >>> probably_right(np.array([0.9, 0.1, 0.1, 0.0, 0.0]), np.array([0, 0, 0, 1, 1]))
    array([False,  True,  True,  True,  True])
    """
    keep = np.ones(labels.size, dtype=bool)
    for c in np.unique(labels):
        rows = np.flatnonzero(labels == c)
        n_wrong = min(round(p_wrong[rows].sum()), max(rows.size - _LEAST_KEPT, 0))
        keep[rows[np.argsort(-p_wrong[rows], kind="stable")[:n_wrong]]] = False
    return keep


def protect_classes(belief: Array, labels: Array, noise: NoiseRate, known: Array | None = None) -> tuple[Array, Array]:
    """Beliefs in which no class loses more labels than its own noise supports, and the mask (C,) of classes in danger.

    Where the expected number of wrong labels of a class is above that bound, its beliefs are moved back towards the
    labels as given. A rare class is the one in danger: its rows look like errors of the others, more often than the
    noise of all labels supports. But where rows of a large class were given its label by mistake, many of its labels
    are wrong and few of all, so its own noise is the bound.
    Classes in the mask `known` (C,) are left alone: somebody has checked enough of their labels to say.
    """
    belief, in_danger = belief.copy(), np.zeros(belief.shape[1], dtype=bool)
    own_rate = np.maximum(noise.high, noise.by_class)
    for c in np.unique(labels):
        if known is not None and known[c]:
            continue
        rows = np.flatnonzero(labels == c)
        expected = (1 - belief[rows, c]).mean()
        in_danger[c] = expected > _at_most(noise.high, rows.size)
        bound = _at_most(own_rate[c], rows.size)
        if expected > bound:
            belief[rows] *= bound / expected
            belief[rows, c] += 1 - bound / expected
    return belief, in_danger


def _at_most(rate: float, n: int) -> float:
    """Return the share of n labels that may be wrong at this rate, with its uncertainty."""
    return min(1.0, rate + _SUPPORTED_Z * float(np.sqrt(rate * (1 - rate) / n)))
