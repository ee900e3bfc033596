import numpy as np
import pytest

from dips.labelers import SLA
from dips.labelers._sinkhorn import regularization

from .examples import FEW, as_pairs, make_candidates, naive_best, random_members


def naive_allocation(p, frequencies, share):
    """Scale the kernel's rows and columns in turn, slack and all, without logarithms."""
    n, n_classes = p.shape
    kernel = np.ones((n + 1, n_classes + 1))
    for i in range(n):
        for c in range(n_classes):
            kernel[i, c] = np.exp(-(1 - p[i, c]) / regularization(n, n_classes))
    rows = np.array([1.0] * n + [n * share * (1.1 - 0.9)])
    columns = np.array([n * share * 1.1 * f for f in frequencies] + [n * (1 - share * 0.9)])
    u = np.ones(n + 1)
    for _ in range(5000):
        v = columns / (kernel.T @ u)
        u = rows / (kernel @ v)
    return (u[:, None] * kernel * v)[:n, :n_classes]


def naive_sla(members, candidates, threshold, entering):
    mean = np.mean(members, axis=0)
    share = 2 * (candidates.n_rounds - candidates.round + 1) / (candidates.n_rounds * (candidates.n_rounds + 1))
    mass = np.zeros_like(mean)
    mass[entering] = naive_allocation(mean[entering], candidates.class_frequencies, share)
    labels = [int(np.argmax(row)) for row in mass]
    eligible = [i in entering and mean[i, labels[i]] > threshold for i in range(len(mean))]
    return [(i, labels[i]) for i in naive_best(labels, mass.max(axis=1), eligible, candidates.caps)]


@pytest.mark.parametrize("caps", [None, [2, 3, 1]])
@pytest.mark.parametrize("frequencies", [[1 / 3, 1 / 3, 1 / 3], [0.6, 0.3, 0.1]])
@pytest.mark.parametrize("t", [1, 4])
def test_sla_allocates_everybody_and_takes_the_most_mass(caps, frequencies, t):
    members = random_members()
    candidates = make_candidates(members, caps, frequencies, t)
    expected = naive_sla(members, candidates, 0.8, list(range(members.shape[1])))
    assert as_pairs(SLA(n_models=FEW).propose(candidates)) == expected
    assert expected


def test_more_than_one_row_is_assigned_in_a_round():
    rows, _ = SLA(n_models=FEW).propose(make_candidates(random_members()))
    assert rows.size > 10


def test_the_allocation_bends_to_the_class_frequencies():
    members = np.repeat(np.column_stack([np.linspace(0.4, 0.6, 20)] * 2)[None], FEW, axis=0)
    members[..., 1] = 1 - members[..., 0]
    few_zeros = SLA(threshold=0, n_models=FEW).propose(make_candidates(members, frequencies=[0.1, 0.9], n_rounds=1))
    many_zeros = SLA(threshold=0, n_models=FEW).propose(make_candidates(members, frequencies=[0.9, 0.1], n_rounds=1))
    assert (few_zeros[1] == 0).sum() < (many_zeros[1] == 0).sum()
