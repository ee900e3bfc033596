"""The last step of every labeler, written the slow way."""

from dips.testing import make_candidates, random_members
from dips.testing._labelers import N_MODELS as FEW

__all__ = ["FEW", "as_pairs", "make_candidates", "naive_best", "random_members"]


def naive_best(labels, scores, eligible, caps):
    taken = []
    for c, cap in enumerate(caps):
        rows = [i for i in range(len(labels)) if eligible[i] and labels[i] == c]
        taken += sorted(rows, key=lambda i: (-scores[i], i))[:cap]
    return sorted(taken)


def as_pairs(proposal):
    rows, labels = proposal
    return sorted(zip(rows.tolist(), labels.tolist(), strict=True))
