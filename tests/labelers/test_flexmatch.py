import numpy as np
import pytest

from dips.labelers import FlexMatch

from .examples import as_pairs, make_candidates, naive_best, random_members


@pytest.mark.parametrize("caps", [None, [2, 3, 1]])
@pytest.mark.parametrize("threshold", [0.8, 0.9, 0.99])
def test_a_class_s_threshold_follows_how_much_of_it_is_learned(caps, threshold):
    candidates = make_candidates(random_members(), caps)
    p = candidates.probabilities
    labels = [int(np.argmax(row)) for row in p]
    best = [max(row) for row in p]
    count = [sum(labels[i] == c and best[i] > threshold for i in range(len(p))) for c in range(3)]
    thresholds = [threshold * count[c] / max(count) for c in range(3)]
    rows = naive_best(labels, best, [best[i] > thresholds[labels[i]] for i in range(len(p))], candidates.caps)
    assert as_pairs(FlexMatch(threshold).propose(candidates)) == [(i, labels[i]) for i in rows]
    assert len(set(count)) > 1


def test_a_class_never_learned_takes_whatever_is_predicted():
    members = np.array([[[0.95, 0.05], [0.4, 0.6]]])
    assert as_pairs(FlexMatch().propose(make_candidates(members))) == [(0, 0), (1, 1)]


def test_where_nothing_is_learned_nothing_is_proposed():
    members = np.array([[[0.6, 0.4], [0.4, 0.6]]])
    assert as_pairs(FlexMatch().propose(make_candidates(members))) == []
