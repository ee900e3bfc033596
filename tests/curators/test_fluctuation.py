import numpy as np
import pytest

from dips.curators import Fluctuation

from .examples import count_falls, make_evidence, mean, random_labels, random_trajectories


def trajectory(*right):
    return np.array([[p, 1 - p] for p in right])


@pytest.mark.parametrize("threshold", [0.5, 0.8, 1.5])
def test_falls_and_doubt_add_up_to_the_score(threshold):
    trajectories, labels = random_trajectories(n_classes=2), random_labels(n_classes=2)
    expected = []
    for i, y in enumerate(labels):
        p = trajectories[:, i, y]
        expected.append(count_falls(p) + 1 - mean(p) <= threshold)
    useful = Fluctuation(threshold).curate(make_evidence(trajectories, labels))
    assert useful.tolist() == expected
    assert 0 < useful.sum() < labels.size


def test_a_row_that_falls_from_right_to_wrong_is_harmful():
    rows = [(0.6, 0.7, 0.8, 0.9), (0.9, 0.9, 0.4, 0.9), (0.3, 0.6, 0.8, 0.9), (0.2, 0.1, 0.1, 0.1)]
    trajectories = np.stack([trajectory(*row) for row in rows], axis=1)
    evidence = make_evidence(trajectories, [0, 0, 0, 0])
    assert evidence.statistics["fluctuation"].tolist() == [0, 1, 0, 0]
    assert Fluctuation().curate(evidence).tolist() == [True, False, True, False]
    assert Fluctuation(1.5).curate(evidence).tolist() == [True, True, True, True]


def test_any_two_checkpoints_show_a_fall_if_and_only_if_two_neighbors_do():
    trajectories, labels = random_trajectories(n_classes=2), random_labels(n_classes=2)
    for i, y in enumerate(labels):
        p = trajectories[:, i, y]
        any_two = any(p[a] > 0.5 and p[b] < 0.5 for a in range(len(p)) for b in range(a + 1, len(p)))
        assert any_two == (count_falls(p) > 0)
