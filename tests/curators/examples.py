"""Evidence made by hand, from whole trajectories, with every statistic computed the slow way."""

import itertools
import math

import numpy as np

from dips.curators import Evidence


def random_trajectories(n=60, n_classes=3, n_checkpoints=8, random_state=0):
    """Class probabilities (E, n, C) that drift and tremble."""
    rng = np.random.RandomState(random_state)
    start, end = rng.normal(size=(2, n, n_classes))
    e = np.linspace(0, 1, n_checkpoints)[:, None, None]
    logits = (1 - e) * start + 4 * e * end + 0.5 * rng.normal(size=(n_checkpoints, n, n_classes))
    p = np.exp(logits)
    return p / p.sum(axis=2, keepdims=True)


def random_labels(n=60, n_classes=3, random_state=0):
    rng = np.random.RandomState(random_state)
    return np.concatenate([np.arange(n_classes), rng.randint(0, n_classes, n - n_classes)])


def make_evidence(trajectories, labels, is_given=None, features=None, t=0):
    n, n_classes = trajectories.shape[1:]
    rows = [[float(p) for p in trajectories[:, i, y]] for i, y in enumerate(labels)]
    statistics = {
        "confidence": [mean(row) for row in rows],
        "aleatoric": [mean([p * (1 - p) for p in row]) for row in rows],
        "variability": [math.sqrt(mean([(p - mean(row)) ** 2 for p in row])) for row in rows],
        "correctness": [mean(trajectories[:, i].argmax(axis=1) == y) for i, y in enumerate(labels)],
        "loss": [mean([-math.log(p) for p in row]) for row in rows],
        "fluctuation": [count_falls(row) for row in rows],
        "entropy": [mean(-(trajectories[:, i] * np.log(trajectories[:, i])).sum(axis=1)) for i in range(n)],
    }
    return Evidence(
        labels=np.asarray(labels),
        is_given=np.ones(n, dtype=bool) if is_given is None else is_given,
        n_classes=n_classes,
        round=t,
        statistics={name: np.array(values, dtype=float) for name, values in statistics.items()},
        mean_probabilities=trajectories.mean(axis=0),
        probabilities=trajectories[-1],
        features=lambda: np.random.RandomState(0).normal(size=(n, 4)) if features is None else features,
        out_of_fold=lambda *args, **kwargs: trajectories[0],
    )


def mean(values):
    return sum(values) / len(values)


def count_falls(row):
    """How often the label was right at one checkpoint and wrong at the next."""
    return sum(before > 0.5 and after < 0.5 for before, after in itertools.pairwise(row))


def evidence_of(confidence, labels=None, out_of_fold=None, is_given=None, t=0):
    """Two classes; probabilities say what the confidence in the labels implies."""
    confidence = np.asarray(confidence, dtype=float)
    labels = np.arange(confidence.size) % 2 if labels is None else np.asarray(labels)
    p = np.empty((confidence.size, 2))
    p[np.arange(confidence.size), labels], p[np.arange(confidence.size), 1 - labels] = confidence, 1 - confidence
    is_given = np.ones(confidence.size, dtype=bool) if is_given is None else np.asarray(is_given)
    return Evidence(
        labels=labels,
        is_given=is_given,
        n_classes=2,
        round=t,
        statistics={"confidence": confidence, "aleatoric": confidence * (1 - confidence)},
        mean_probabilities=p,
        probabilities=p,
        features=lambda: None,
        out_of_fold=lambda n_folds: p if out_of_fold is None else out_of_fold,
    )
