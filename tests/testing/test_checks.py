"""The checks that are shipped: they pass what keeps the contract and name what does not."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from dips.curators import Curator
from dips.labelers import Greedy, Labeler
from dips.testing import check_backbone, check_curator, check_labeler, make_evidence, random_trajectories
from dips.testing._curators import random_labels

from ..curators import examples


class Undocumented(Labeler):
    def choose(self, candidates):
        best = candidates.probabilities.max(axis=1)
        return candidates.probabilities.argmax(axis=1), best, best > 0.9


class Forgetful(Undocumented):
    """Has a setting that nobody checks."""

    def __init__(self, threshold=0.9):
        self.threshold = threshold


class Gambler(Undocumented):
    """Adds noise to the scores."""

    def choose(self, candidates):
        labels, scores, eligible = super().choose(candidates)
        return labels, scores + np.random.uniform(size=scores.size), eligible


class Greedier(Undocumented):
    """Ignores the caps."""

    def propose(self, candidates):
        labels = candidates.probabilities.argmax(axis=1)
        return np.arange(labels.size), labels


@pytest.mark.parametrize(
    ("labeler", "words"),
    [
        (Undocumented, "Undocumented has no docstring"),
        (Forgetful(), r"_parameter_constraints and the settings differ in \['threshold'\]"),
        (Gambler, "random numbers were drawn"),
        (Greedier, "and the caps are"),
    ],
)
def test_a_labeler_that_breaks_the_contract_is_told_how(labeler, words):
    with pytest.raises(AssertionError, match=words):
        check_labeler(labeler)


def test_a_labeler_of_any_settings_can_be_checked():
    check_labeler(Greedy)
    check_labeler(Greedy(threshold=0.7))


class FirstRows(Curator):
    """Keeps the first half, whatever it is."""

    def curate(self, evidence):
        return np.arange(evidence.labels.size) < evidence.labels.size / 2


class Shouter(Curator):
    """Answers with numbers."""

    def curate(self, evidence):
        return evidence.confidence


def test_a_curator_that_breaks_the_contract_is_told_how():
    with pytest.raises(AssertionError, match="the answer depends on the order of the rows"):
        check_curator(FirstRows)
    with pytest.raises(ValueError, match="must return a boolean mask"):
        check_curator(Shouter())


def test_a_backbone_that_cannot_be_watched_is_told_why():
    check_backbone(HistGradientBoostingClassifier(max_iter=3))
    with pytest.raises(AssertionError, match="RandomForestClassifier is not trained step by step"):
        check_backbone(RandomForestClassifier())


def test_evidence_is_that_computed_the_slow_way():
    trajectories, labels = random_trajectories(), random_labels()
    quick, slow = make_evidence(trajectories, labels), examples.make_evidence(trajectories, labels)
    for name, values in slow.statistics.items():
        np.testing.assert_allclose(quick.statistics[name], values, atol=1e-5, err_msg=name)
