"""Candidates made by hand, and the last step of every labeler, written the slow way."""

import numpy as np

from dips.labelers import Candidates, Moments

FEW = 6  # members


def random_members(n=60, n_classes=3, n_models=FEW, random_state=0, spread=0.3):
    """Probabilities (M, n, C) of members that agree on some rows and not on others."""
    rng = np.random.RandomState(random_state)
    center = rng.normal(scale=3, size=(n, n_classes))
    logits = center + rng.uniform(0, 3, size=(1, n, 1)) * spread * rng.normal(size=(n_models, n, n_classes))
    p = np.exp(logits)
    return p / p.sum(axis=2, keepdims=True)


def make_candidates(members, caps=None, frequencies=None, t=1, n_rounds=5, features=None):
    """Candidates whose features, unless given, are the log-probabilities of the first member."""
    n, n_classes = members.shape[1:]
    rows = np.log(members[0] + 1e-3) if features is None else features
    useful_labels = np.repeat(np.arange(n_classes), 5)
    useful_rows = 3 * np.eye(n_classes, rows.shape[1])[useful_labels] + np.linspace(-1, 1, useful_labels.size)[:, None]

    def ensemble(n_models):
        used = members[:n_models]
        return Moments(np.mean(used, axis=0), np.std(used, axis=0, ddof=1), len(used))

    return Candidates(
        probabilities=members[0],
        class_frequencies=np.full(n_classes, 1 / n_classes) if frequencies is None else np.asarray(frequencies),
        round=t,
        n_rounds=n_rounds,
        caps=np.full(n_classes, n) if caps is None else np.asarray(caps),
        ensemble=ensemble,
        checkpoints=ensemble,
        features=lambda: rows,
        map_features=lambda function: function(rows),
        useful_labels=useful_labels,
        useful_is_given=np.ones(useful_labels.size, dtype=bool),
        useful_features=lambda: useful_rows,
    )


def naive_best(labels, scores, eligible, caps):
    taken = []
    for c, cap in enumerate(caps):
        rows = [i for i in range(len(labels)) if eligible[i] and labels[i] == c]
        taken += sorted(rows, key=lambda i: (-scores[i], i))[:cap]
    return sorted(taken)


def as_pairs(proposal):
    rows, labels = proposal
    return sorted(zip(rows.tolist(), labels.tolist(), strict=True))
