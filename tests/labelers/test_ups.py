import numpy as np
import pytest

from dips.labelers import UPS

from .examples import FEW, as_pairs, make_candidates, naive_best, random_members


@pytest.mark.parametrize("caps", [None, [2, 3, 1]])
@pytest.mark.parametrize("kappa", [0.05, 0.2])
def test_ups_wants_a_mean_above_tau_and_a_spread_under_kappa(caps, kappa):
    members = random_members(spread=0.6)
    candidates = make_candidates(members, caps)
    labels, scores, eligible = [], [], []
    for i in range(members.shape[1]):
        mean = [np.mean(members[:, i, c]) for c in range(3)]
        c = int(np.argmax(mean))
        labels.append(c)
        scores.append(mean[c])
        eligible.append(mean[c] > 0.8 and np.std(members[:, i, c], ddof=1) < kappa)
    rows = naive_best(labels, scores, eligible, candidates.caps)
    assert as_pairs(UPS(kappa=kappa, n_models=FEW).propose(candidates)) == [(i, labels[i]) for i in rows]
    assert 0 < len(rows) < members.shape[1]


def test_members_that_disagree_are_not_followed():
    agreeing, quarreling = [[0.9, 0.1]] * 4, [[1.0, 0.0]] * 3 + [[0.45, 0.55]]
    members = np.array([agreeing, quarreling]).transpose(1, 0, 2)
    assert members[:, 1, 0].mean() > 0.8
    assert as_pairs(UPS(n_models=4).propose(make_candidates(members))) == [(0, 0)]


def test_both_thresholds_are_strict():
    members = np.array([[[0.75, 0.25]], [[0.75, 0.25]]])
    assert as_pairs(UPS(threshold=0.75, n_models=2).propose(make_candidates(members))) == []
    members = np.array([[[1.0, 0.0]], [[0.75, 0.25]]])
    spread = float(np.std([1.0, 0.75], ddof=1))
    assert as_pairs(UPS(kappa=spread, n_models=2).propose(make_candidates(members))) == []
