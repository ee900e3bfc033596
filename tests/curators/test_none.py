from dips.curators import KeepAll

from .examples import make_evidence, random_labels, random_trajectories


def test_everything_is_useful_and_nothing_needs_to_be_watched():
    assert KeepAll().curate(make_evidence(random_trajectories(), random_labels())).all()
    assert KeepAll.statistics == ()
