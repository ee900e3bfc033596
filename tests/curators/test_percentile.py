import numpy as np

from dips.curators import Percentile

from .examples import evidence_of


def test_drops_a_fifth_at_first_then_tenths_of_what_is_left_down_to_half():
    curator, ascending = Percentile(), evidence_of(np.linspace(0.1, 0.9, 100))
    kept = [int(curator.curate(ascending).sum()) for _ in range(8)]
    assert kept == [80, 72, 65, 59, 54, 50, 50, 50]


def test_drops_the_least_confident():
    useful = Percentile(start=0.3).curate(evidence_of([0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.6, 0.5, 0.55, 0.65]))
    assert np.flatnonzero(~useful).tolist() == [1, 3, 5]


def test_a_suspect_stays_one():
    curator = Percentile(start=0.2)
    first = curator.curate(evidence_of([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]))
    second = curator.curate(evidence_of([0.9, 0.9, 0.1, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]))
    assert not (second & ~first).any()


def test_keeps_all_pseudo_labels():
    is_given = np.arange(20) < 10
    useful = Percentile().curate(evidence_of(np.linspace(0.9, 0.1, 20), is_given=is_given))
    assert useful[10:].all()
    assert useful[:10].sum() == 8
