"""Easy tables first."""

import itertools
from dataclasses import replace

import pytest

from dips.network._curriculum import prior_at, progress_at, shapes_prior
from dips.network._settings import NetworkSettings, PriorSettings

FULL = PriorSettings()
RAMPED = NetworkSettings(
    training=replace(NetworkSettings().training, curriculum_steps=4_000, shapes_in_deck=10, passes_of_deck=5)
)


def test_without_a_curriculum_the_prior_is_full_from_the_first_step():
    assert progress_at(0, NetworkSettings()) == 1
    assert prior_at(1.0, FULL) is FULL


def test_the_ramp_goes_by_steps_and_ends():
    assert progress_at(0, RAMPED) == 0
    assert progress_at(250, RAMPED) == 0.5
    assert progress_at(10_000, RAMPED) == 1


def test_the_first_tables_are_easy():
    first = prior_at(0.0, FULL)
    assert set(first.labeled) == {64, 96, 128, 192, 256, 400}
    assert set(first.unlabeled) == {0, 48, 96, 192}
    assert set(first.classes) == {2, 3}
    assert (first.clean, first.max_noise, first.max_noise_many) == (0.6, 0.3, 0.4)
    assert first.columns == FULL.columns


def test_everything_widens_on_the_way():
    way = [prior_at(progress, FULL) for progress in (0.0, 0.3, 0.6, 0.9, 1.0)]
    for one, other in itertools.pairwise(way):
        for shapes in ("labeled", "unlabeled", "classes"):
            assert set(getattr(one, shapes)) <= set(getattr(other, shapes))
        assert one.max_noise < other.max_noise
        assert one.clean > other.clean


def test_a_prior_that_is_easier_still_stays_so():
    easy = replace(FULL, clean=0.8, max_noise=0.1, labeled=(16,))
    first = prior_at(0.0, easy)
    assert (first.clean, first.max_noise, first.labeled) == (0.8, 0.1, (16,))


def test_the_shapes_of_a_deck_stay_while_it_is_used():
    priors = [shapes_prior(draw, RAMPED) for draw in range(100)]
    assert len(set(priors[:50])) == 1
    assert priors[49] != priors[50]


def test_shapes_follow_the_ramp():
    pytest.importorskip("torch")
    from dips.network._training import draw_shape

    first = [draw_shape(1, draw, RAMPED)[0] for draw in range(50)]
    assert {shape.classes for shape in first} <= {2, 3}
    assert min(shape.labeled for shape in first) >= 64
    assert max(draw_shape(1, draw, RAMPED)[0].classes for draw in range(600, 700)) > 3
