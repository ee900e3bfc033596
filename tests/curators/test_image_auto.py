import numpy as np
import pytest

from dips.curators import ImageAuto

from .examples import evidence_of


def test_drops_nothing_where_no_label_looks_wrong():
    assert ImageAuto().curate(evidence_of(np.full(200, 0.9))).all()


def test_drops_as_many_as_look_wrong_where_labels_are_few():
    confidence = np.full(40, 0.9)
    confidence[:8] = 0.05
    useful = ImageAuto().curate(evidence_of(confidence))
    assert np.flatnonzero(~useful).tolist() == list(range(8))


def test_drops_more_than_look_wrong_while_enough_are_left():
    confidence = np.linspace(0.8, 0.99, 400)
    confidence[:80] = 0.05
    useful = ImageAuto(margin=2, enough=40).curate(evidence_of(confidence))
    assert (~useful[:80]).all()
    assert (~useful).sum() == 160
    assert ImageAuto(margin=2, enough=150).curate(evidence_of(confidence)).sum() == 300


def test_each_class_loses_the_same_share():
    labels = (np.arange(300) < 100).astype(int)
    confidence = np.where(labels == 1, 0.6, 0.95) + np.linspace(0, 0.04, 300)
    confidence[::10] = 0.05
    useful = ImageAuto(enough=0).curate(evidence_of(confidence, labels))
    shares = [(~useful[labels == c]).mean() for c in (0, 1)]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)


def test_never_drops_more_than_its_limit():
    out_of_fold = np.tile([0.5, 0.5], (100, 1))
    out_of_fold[np.arange(100), 1 - np.arange(100) % 2] = 0.99
    useful = ImageAuto(max_drop=0.3).curate(evidence_of(np.full(100, 0.5), out_of_fold=out_of_fold))
    assert useful.sum() == 70


def test_the_estimate_is_renewed_so_that_labels_return():
    curator, confidence = ImageAuto(), np.full(40, 0.9)
    confidence[:8] = 0.05
    assert (~curator.curate(evidence_of(confidence))).sum() == 8
    assert curator.curate(evidence_of(np.full(40, 0.9))).all()
    assert curator.look_wrong_ == 0


def test_a_pseudo_label_stays_while_the_round_as_a_whole_believes_it():
    shown = evidence_of([0.9] * 10 + [0.9, 0.2], is_given=np.arange(12) < 10)
    assert ImageAuto().curate(shown)[10:].tolist() == [True, False]


@pytest.mark.parametrize(
    ("rate", "interval", "n", "share_contradicted", "why"),
    [
        (0.4, (0.3, 0.5), 200, 0.4, ""),
        (0.1, (0.05, 0.2), 200, 0.1, "the estimate is under 15 %"),
        (0.4, (0.3, 0.5), 8, 0.4, "with fewer than 5 labels a class"),
        (0.4, (0.3, 0.5), 40, 0.7, "contradict 70 % of them, and are more likely to be wrong themselves"),
        (0.2, (0.0, 0.5), 200, 0.2, "nearly as well without any that is wrong"),
        (0.4, (0.3, 0.5), 40, 0.4, ""),
    ],
)
def test_it_says_why_all_labels_are_useful(rate, interval, n, share_contradicted, why):
    labels = np.arange(n) % 2
    says = np.where(np.arange(n) // 2 < share_contradicted * n / 2, 1 - labels, labels)
    curator = ImageAuto()
    curator.remember(rate, interval, np.where(says[:, None] == np.arange(2), 0.99, 0.01), labels)
    assert curator.is_open == (not why)
    assert why in curator.why_all_useful_
    assert curator.why_all_useful_.startswith("All are trained on: ") or not why
