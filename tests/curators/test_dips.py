import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xgboost import XGBClassifier

from dips import CuratedClassifier
from dips.curators import CURATORS, DIPS
from dips.datasets import flip_labels, make_quadrants

from .examples import make_evidence, mean, random_labels, random_trajectories


def naive_dips(trajectories, labels, conf, tau_al=None):
    rows = [trajectories[:, i, y] for i, y in enumerate(labels)]
    confidence = [mean(p) for p in rows]
    aleatoric = [mean(p * (1 - p)) for p in rows]
    if tau_al is None:
        tau_al = 0.75 * (max(aleatoric) - min(aleatoric))
    return [c >= conf and v < tau_al for c, v in zip(confidence, aleatoric, strict=True)]


@pytest.mark.parametrize("conf", [0.5, 0.8])
@pytest.mark.parametrize("tau_al", [None, 0.1, 0.25])
def test_useful_rows_are_confident_and_certain(conf, tau_al):
    trajectories, labels = random_trajectories(), random_labels()
    curator = DIPS(conf, "adaptive" if tau_al is None else tau_al)
    useful = curator.curate(make_evidence(trajectories, labels))
    assert useful.tolist() == naive_dips(trajectories, labels, conf, tau_al)
    assert 0 < useful.sum() < labels.size


def test_the_confidence_threshold_itself_is_enough_and_the_aleatoric_one_is_not():
    trajectories = np.array([[[0.75, 0.25], [0.5, 0.5]]])
    evidence = make_evidence(trajectories, [0, 0])
    assert DIPS(conf=0.75, aleatoric=0.25).curate(evidence).tolist() == [True, False]
    assert DIPS(conf=0.5, aleatoric=0.1875).curate(evidence).tolist() == [False, False]


def test_the_adaptive_threshold_is_three_quarters_of_the_range():
    evidence = make_evidence(random_trajectories(), random_labels())
    curator = DIPS()
    curator.curate(evidence)
    v = evidence.aleatoric
    assert curator.aleatoric_ == pytest.approx(0.75 * (max(v) - min(v)))


@pytest.mark.parametrize("frozen", [False, True])
def test_the_adaptive_threshold_is_frozen_or_renewed_each_round(frozen):
    first, second = (make_evidence(random_trajectories(random_state=s), random_labels(), t=s) for s in (0, 1))
    curator = DIPS(conf=0.5, frozen=frozen)
    curator.curate(first)
    at_first = curator.aleatoric_
    useful = curator.curate(second)
    v = second.aleatoric
    expected = at_first if frozen else 0.75 * (v.max() - v.min())
    assert curator.aleatoric_ == pytest.approx(expected)
    assert (useful == ((second.confidence >= 0.5) & (v < expected))).all()


def test_a_clean_model_that_is_equally_certain_of_every_row_keeps_the_frozen_threshold():
    first = make_evidence(random_trajectories(), random_labels())
    certain = np.tile([0.9, 0.05, 0.05], (8, 60, 1))
    second = make_evidence(certain, np.zeros(60, dtype=int), t=1)
    kept, renewed = DIPS(), DIPS(frozen=False)
    for curator in (kept, renewed):
        curator.curate(first)
    assert kept.curate(second).all()
    assert not renewed.curate(second).any()


def test_a_fixed_threshold_is_never_adapted():
    curator = DIPS(aleatoric=0.2)
    for seed in (0, 1):
        curator.curate(make_evidence(random_trajectories(random_state=seed), random_labels()))
        assert curator.aleatoric_ == 0.2


def test_rows_that_are_all_equally_uncertain_leave_nothing_useful():
    evidence = make_evidence(np.full((3, 5, 2), 0.5), [0, 1, 0, 1, 0])
    assert not DIPS(conf=0).curate(evidence).any()


@given(st.floats(0, 1), st.floats(0, 1))
def test_asking_for_more_confidence_never_adds_a_row(low, high):
    low, high = sorted((low, high))
    evidence = make_evidence(random_trajectories(n=20), random_labels(n=20))
    assert (DIPS(high).curate(evidence) <= DIPS(low).curate(evidence)).all()


@given(st.floats(0, 0.25), st.floats(0, 0.25))
def test_allowing_more_uncertainty_never_drops_a_row(low, high):
    low, high = sorted((low, high))
    evidence = make_evidence(random_trajectories(n=20), random_labels(n=20))
    assert (DIPS(0.3, low).curate(evidence) <= DIPS(0.3, high).curate(evidence)).all()


@pytest.mark.parametrize(("window", "counted"), [((0, 1), (0, 12)), ((0.25, 1), (3, 12)), ((0, 0.5), (0, 6))])
def test_only_the_checkpoints_of_the_window_count(window, counted):
    X, y = make_quadrants(120, random_state=0)
    y, _ = flip_labels(y, 0.2, random_state=0)
    backbone = XGBClassifier(n_estimators=12, max_depth=3, random_state=0, n_jobs=1)
    curated = CuratedClassifier(backbone, curator=DIPS(0.6, aleatoric=0.2, window=window)).fit(X, y)
    backbone.fit(X, y)
    trajectories = np.array([backbone.predict_proba(X, iteration_range=(0, e)) for e in range(1, 13)], dtype=float)
    assert curated.samples_["useful"].tolist() == naive_dips(trajectories[slice(*counted)], y, 0.6, 0.2)
    assert 0 < curated.samples_["useful"].sum() < 120


@pytest.mark.parametrize("window", [(0.5, 0.5), (0.6, 0.2), (-0.1, 1), (0, 1.1), (0,), ("a", "b")])
def test_a_window_that_is_none_is_refused(window):
    with pytest.raises(ValueError, match=r"window must be two fractions of the training, 0 <= start < end <= 1"):
        CURATORS.resolve(DIPS(window=window))
