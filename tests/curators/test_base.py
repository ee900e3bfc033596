import numpy as np
import pytest

from dips._dynamics import STATISTICS
from dips.curators import Curator, Evidence, FunctionCurator
from dips.curators._base import checked_mask, keep_every_class

from .examples import make_evidence, random_labels, random_trajectories


def evidence_with(labels, confidence, n_classes=3, **statistics):
    labels = np.asarray(labels)
    return Evidence(
        labels=labels,
        is_given=np.ones(labels.size, dtype=bool),
        n_classes=n_classes,
        round=0,
        statistics={} if confidence is None else {"confidence": np.asarray(confidence), **statistics},
        mean_probabilities=None,
        probabilities=None,
        features=lambda: None,
        out_of_fold=lambda n_folds: None,
    )


def test_a_class_that_would_vanish_keeps_its_most_confident_tenth():
    labels = np.repeat([0, 1], [5, 30])
    confidence = np.concatenate([np.full(5, 0.9), np.linspace(0, 0.5, 30)])
    useful = labels == 0
    with pytest.warns(UserWarning, match="would have left 1 of 2 classes with no useful row; the most confident rows"):
        kept = keep_every_class(useful, evidence_with(labels, confidence, 2))
    assert np.flatnonzero(kept).tolist() == [0, 1, 2, 3, 4, 32, 33, 34]
    assert useful.sum() == 5  # what the curator said is not written over


def test_a_class_of_one_row_keeps_it():
    with pytest.warns(UserWarning, match="1 of 3 classes"):
        kept = keep_every_class(np.array([True, False, False, True]), evidence_with([0, 1, 2, 2], [1, 0, 0, 1]))
    assert kept.tolist() == [True, True, False, True]


def test_two_lost_classes_are_both_kept():
    with pytest.warns(UserWarning, match="2 of 3 classes"):
        kept = keep_every_class(np.array([True, False, False]), evidence_with([0, 1, 2], [1.0, 0.0, 0.0]))
    assert kept.all()


def test_rows_that_weigh_nothing_cannot_keep_a_class():
    evidence = evidence_with([0, 0, 1, 1, 1], [0.9, 0.9, 0.9, 0.2, 0.1])
    with pytest.warns(UserWarning, match="1 of 3 classes"):
        kept = keep_every_class(np.array([True, True, True, False, False]), evidence, np.array([1, 1, 0, 1, 1]) > 0)
    assert kept.tolist() == [True, True, True, True, False]


def test_where_nothing_is_useful_everything_stays():
    with pytest.warns(UserWarning, match='found no useful row, so every row is taken as useful.*try curator="auto"'):
        kept = keep_every_class(np.zeros(3, dtype=bool), evidence_with([0, 1, 2], [0.1, 0.1, 0.1]))
    assert kept.all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("useful", [[True, False, True, True], [True, True, True, True]])
def test_nothing_is_said_where_every_class_has_a_row(useful):
    evidence = evidence_with([0, 0, 1, 2], [0.5] * 4)
    assert keep_every_class(np.array(useful), evidence).tolist() == useful


@pytest.mark.filterwarnings("error")
def test_a_class_without_a_label_cannot_be_lost():
    assert keep_every_class(np.array([True, False]), evidence_with([0, 0], [0.5, 0.5])).tolist() == [True, False]


def test_a_curator_must_say_how_it_curates():
    with pytest.raises(NotImplementedError):
        Curator().curate(make_evidence(random_trajectories(), random_labels()))


def test_a_function_is_a_curator_and_sees_every_statistic():
    evidence = make_evidence(random_trajectories(), random_labels())
    curator = FunctionCurator(lambda shown: shown.statistics["loss"] < 1)
    assert set(curator.statistics) == set(STATISTICS)
    assert (curator.curate(evidence) == (evidence.statistics["loss"] < 1)).all()


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, r"object of shape \(\)"),
        ([True], r"bool of shape \(1,\)"),
        (np.ones(60), r"float64 of shape \(60,\)"),
        (np.arange(60), r"int64 of shape \(60,\)"),
    ],
)
def test_what_a_curator_returns_is_checked(returned, message):
    class Fixed(Curator):
        def curate(self, evidence):
            return returned

    evidence = make_evidence(random_trajectories(), random_labels())
    for curator in (FunctionCurator(lambda shown: returned), Fixed()):
        with pytest.raises(ValueError, match=rf"must return a boolean mask of shape \(60,\); got {message}\."):
            checked_mask(curator, evidence)


def test_evidence_names_the_two_statistics_of_the_paper():
    evidence = make_evidence(random_trajectories(), random_labels())
    assert evidence.confidence is evidence.statistics["confidence"]
    assert evidence.aleatoric is evidence.statistics["aleatoric"]
