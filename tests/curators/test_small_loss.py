import math

import numpy as np
import pytest

from dips.curators import SmallLoss
from dips.curators._mixture import smaller_group

from .examples import make_evidence, mean, random_labels, random_trajectories


def naive_losses(trajectories, labels):
    return [mean([-math.log(p) for p in trajectories[:, i, y]]) for i, y in enumerate(labels)]


@pytest.mark.parametrize("drop", [0, 0.01, 0.1, 0.25, 0.99])
def test_the_share_with_the_largest_mean_loss_is_suspect(drop):
    trajectories, labels = random_trajectories(), random_labels()
    worst_first = sorted(range(60), key=lambda i: -naive_losses(trajectories, labels)[i])
    suspects = set(worst_first[: math.floor(drop * 60)])
    useful = SmallLoss(drop).curate(make_evidence(trajectories, labels))
    assert useful.tolist() == [i not in suspects for i in range(60)]


def test_the_mixture_says_where_large_losses_begin():
    rng = np.random.RandomState(0)
    right = np.concatenate([rng.uniform(0.8, 0.95, 40), rng.uniform(0.05, 0.2, 12)])
    trajectories = np.tile(np.column_stack([right, 1 - right]), (5, 1, 1))
    useful = SmallLoss().curate(make_evidence(trajectories, np.zeros(52, dtype=int)))
    assert useful.tolist() == [True] * 40 + [False] * 12


def test_the_mixture_is_of_all_mean_losses():
    trajectories, labels = random_trajectories(), random_labels()
    expected = smaller_group(np.array(naive_losses(trajectories, labels)))
    assert (SmallLoss("mixture").curate(make_evidence(trajectories, labels)) == expected).all()


def test_equal_losses_are_all_small():
    assert SmallLoss().curate(make_evidence(np.full((3, 5, 2), 0.5), [0, 1, 0, 1, 0])).all()
