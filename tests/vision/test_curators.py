import dataclasses

import numpy as np
import pytest

from dips.curators import CURATORS, Evidence
from dips.vision._auto import ImageAuto
from dips.vision._percentile import Percentile


def evidence(confidence, labels=None, out_of_fold=None, is_given=None, t=0):
    """Two classes; probabilities say what the confidence in the labels implies."""
    confidence = np.asarray(confidence, dtype=float)
    labels = np.arange(confidence.size) % 2 if labels is None else np.asarray(labels)
    p = np.empty((confidence.size, 2))
    p[np.arange(confidence.size), labels], p[np.arange(confidence.size), 1 - labels] = confidence, 1 - confidence
    is_given = np.ones(confidence.size, dtype=bool) if is_given is None else np.asarray(is_given)
    return Evidence(
        labels=labels,
        is_given=is_given,
        n_classes=2,
        round=t,
        statistics={"confidence": confidence, "aleatoric": confidence * (1 - confidence)},
        mean_probabilities=p,
        probabilities=p,
        features=lambda: None,
        out_of_fold=lambda n_folds: p if out_of_fold is None else out_of_fold,
    )


class TestPercentile:
    def test_drops_a_fifth_at_first_then_tenths_of_what_is_left_down_to_half(self):
        curator, ascending = Percentile(), evidence(np.linspace(0.1, 0.9, 100))
        kept = [int(curator.curate(ascending).sum()) for _ in range(8)]
        assert kept == [80, 72, 65, 59, 54, 50, 50, 50]

    def test_drops_the_least_confident(self):
        useful = Percentile(start=0.3).curate(evidence([0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.6, 0.5, 0.55, 0.65]))
        assert np.flatnonzero(~useful).tolist() == [1, 3, 5]

    def test_nothing_returns(self):
        curator = Percentile(start=0.2)
        first = curator.curate(evidence([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]))
        second = curator.curate(evidence([0.9, 0.9, 0.1, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]))
        assert not (second & ~first).any()

    def test_keeps_all_pseudo_labels(self):
        is_given = np.arange(20) < 10
        useful = Percentile().curate(evidence(np.linspace(0.9, 0.1, 20), is_given=is_given))
        assert useful[10:].all()
        assert useful[:10].sum() == 8


class TestImageAuto:
    def test_drops_nothing_where_no_label_looks_wrong(self):
        assert ImageAuto().curate(evidence(np.full(200, 0.9))).all()

    def test_drops_as_many_as_look_wrong_where_labels_are_few(self):
        confidence = np.full(40, 0.9)
        confidence[:8] = 0.05
        useful = ImageAuto().curate(evidence(confidence))
        assert np.flatnonzero(~useful).tolist() == list(range(8))

    def test_drops_more_than_look_wrong_while_enough_are_left(self):
        confidence = np.linspace(0.8, 0.99, 400)
        confidence[:80] = 0.05
        useful = ImageAuto(margin=2, enough=40).curate(evidence(confidence))
        assert (~useful[:80]).all()
        assert (~useful).sum() == 160
        assert ImageAuto(margin=2, enough=150).curate(evidence(confidence)).sum() == 300

    def test_each_class_loses_the_same_share(self):
        labels = (np.arange(300) < 100).astype(int)
        confidence = np.where(labels == 1, 0.6, 0.95) + np.linspace(0, 0.04, 300)
        confidence[::10] = 0.05
        useful = ImageAuto(enough=0).curate(evidence(confidence, labels))
        shares = [(~useful[labels == c]).mean() for c in (0, 1)]
        assert shares[0] == pytest.approx(shares[1], abs=0.02)

    def test_never_drops_more_than_its_limit(self):
        out_of_fold = np.tile([0.5, 0.5], (100, 1))
        out_of_fold[np.arange(100), 1 - np.arange(100) % 2] = 0.99
        useful = ImageAuto(max_drop=0.3).curate(evidence(np.full(100, 0.5), out_of_fold=out_of_fold))
        assert useful.sum() == 70

    def test_the_estimate_is_renewed_so_that_labels_return(self):
        curator, confidence = ImageAuto(), np.full(40, 0.9)
        confidence[:8] = 0.05
        assert (~curator.curate(evidence(confidence))).sum() == 8
        assert curator.curate(evidence(np.full(40, 0.9))).all()
        assert curator.noise_rate_ == 0

    def test_a_pseudo_label_stays_while_the_round_as_a_whole_believes_it(self):
        shown = evidence([0.9] * 10 + [0.9, 0.2], is_given=np.arange(12) < 10)
        assert ImageAuto().curate(shown)[10:].tolist() == [True, False]


@pytest.mark.parametrize("curator", [ImageAuto(), Percentile()], ids=lambda c: type(c).__name__)
def test_settings_are_checked_and_evidence_left_alone(curator):
    assert set(curator._parameter_constraints) == set(curator.get_params())
    resolved = CURATORS.resolve(curator)
    assert resolved is not curator
    shown = evidence(np.linspace(0.1, 0.9, 50))
    before = dataclasses.replace(shown, labels=shown.labels.copy())
    resolved.curate(shown)
    assert (shown.labels == before.labels).all()
    assert "percentile" not in CURATORS.by_name()  # of images alone
