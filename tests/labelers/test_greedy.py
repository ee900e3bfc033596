import numpy as np
import pytest

from dips.labelers import Greedy

from .examples import as_pairs, make_candidates, naive_best, random_members


@pytest.mark.parametrize("caps", [None, [2, 3, 1]])
def test_greedy_is_the_paper_s_definition(caps):
    candidates = make_candidates(random_members(), caps)
    p = candidates.probabilities
    labels = [max(range(3), key=lambda c: row[c]) for row in p]
    best = [max(row) for row in p]
    rows = naive_best(labels, best, [b >= 0.8 for b in best], candidates.caps)
    assert as_pairs(Greedy().propose(candidates)) == [(i, labels[i]) for i in rows]
    assert rows


def test_the_threshold_itself_is_enough():
    members = np.array([[[0.8, 0.2], [0.7999, 0.2001], [0.3, 0.7]]])
    assert as_pairs(Greedy(threshold=0.8).propose(make_candidates(members))) == [(0, 0)]


def test_nothing_confident_nothing_proposed():
    assert as_pairs(Greedy().propose(make_candidates(np.full((1, 4, 2), 0.5)))) == []
