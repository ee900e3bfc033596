import numpy as np

from dips.curators import Confidence

from .examples import make_evidence, mean, random_labels, random_trajectories


def test_confidence_is_dips_without_its_aleatoric_term():
    trajectories, labels = random_trajectories(), random_labels()
    useful = Confidence(0.6).curate(make_evidence(trajectories, labels))
    assert useful.tolist() == [mean(trajectories[:, i, y]) >= 0.6 for i, y in enumerate(labels)]
    assert 0 < useful.sum() < labels.size


def test_the_threshold_itself_is_enough():
    evidence = make_evidence(np.array([[[0.75, 0.25], [0.25, 0.75]]]), [0, 0])
    assert Confidence(0.75).curate(evidence).tolist() == [True, False]
