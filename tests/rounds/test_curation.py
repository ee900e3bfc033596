import numpy as np
import pytest

from dips._rounds.curation import dynamics_for, gather_evidence, judge
from dips.curators import CURATORS, DIPS

TRAJECTORIES = np.array([[[0.6, 0.4], [0.2, 0.8], [0.5, 0.5]], [[0.8, 0.2], [0.4, 0.6], [0.9, 0.1]]])  # (E, n, C)


def watched(curator="none"):
    dynamics = dynamics_for(CURATORS.resolve(curator), 3, 2)
    dynamics.begin(len(TRAJECTORIES))
    for p in TRAJECTORIES:
        dynamics.update(p)
    dynamics.finish()
    return dynamics


def evidence(labels, is_given, at=None, dynamics=None):
    return gather_evidence(
        watched() if dynamics is None else dynamics,
        np.array(labels),
        np.array(is_given),
        1,
        features=lambda: "rows",
        out_of_fold=lambda n_folds: np.full((sum(is_given), 2), 1 / n_folds),
        at=at,
    )


def test_the_account_and_the_curator_get_the_statistics_they_read():
    assert watched().statistics == ("confidence", "aleatoric")
    assert "loss" in watched("small_loss").statistics
    assert dynamics_for(DIPS(window=(0.5, 1.0)), 3, 2).window == (0.5, 1.0)


def test_statistics_are_read_at_the_labels_of_the_rows_to_be_judged():
    judged = evidence([1, 0], [True, True], at=np.array([1, 2]))
    np.testing.assert_allclose(judged.confidence, [0.7, 0.7], rtol=1e-6)
    np.testing.assert_allclose(judged.mean_probabilities, [[0.3, 0.7], [0.7, 0.3]], rtol=1e-6)
    np.testing.assert_allclose(judged.probabilities, [[0.4, 0.6], [0.9, 0.1]], rtol=1e-6)
    assert (judged.n_classes, judged.round, judged.features()) == (2, 1, "rows")


def test_out_of_fold_probabilities_are_missing_for_pseudo_labels():
    p = evidence([0, 1, 0], [True, False, True]).out_of_fold(4)
    np.testing.assert_array_equal(p, [[0.25, 0.25], [np.nan, np.nan], [0.25, 0.25]])


def test_every_class_keeps_a_row():
    curator = CURATORS.resolve(lambda shown: shown.labels == 0)
    with pytest.warns(UserWarning, match="would have left 1 of 2 classes with no useful row"):
        assert judge(curator, evidence([0, 1, 0], [True] * 3)).tolist() == [True, True, True]
