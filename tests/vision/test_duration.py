"""How long a fit takes is known before it starts."""

import warnings

import numpy as np
import pytest
import torch

from dips._tools.observer import Observer
from dips.curators import CURATORS, Adaptive
from dips.curators._image_auto import ImageAuto
from dips.vision import ImageClassifier, _duration
from dips.vision._rounds import CurationPlan, ImageRounds
from dips.vision._turns import interleave

from .examples import colors, dirty_labels, pool, recipe

PLAN = CurationPlan(warm_up_steps=10, pilot_steps=20)


def expected(**settings):
    run = ImageRounds(pool(), recipe(n_steps=100, **settings), PLAN, ImageAuto())
    return _duration.expected_seconds(run)


def test_parts_take_as_long_as_their_images_need(monkeypatch):
    monkeypatch.setattr(_duration, "_seconds_of_a_step", lambda *_: 1.0)  # of 2 labeled and 4 unlabeled images
    assert expected(pretrain_steps=30) == pytest.approx(
        {
            "pretraining": 30 * (2 * 24 * 3) / 22,
            "pilots": 4 * 20 * 4,
            "pilots without pretraining": 4 * 20 * 4,
            "warm-up": 10 * (8 * 3) / 22,
            "training": 100 * 4,
        }
    )
    assert "pretraining" not in expected()


class Steps(Observer):
    def __init__(self):
        self.part, self.parts = "", {}

    def on_part(self, name):
        self.part = name

    def on_step(self, n_done, n_steps):
        self.parts.setdefault(self.part, []).append((n_done, n_steps))


@pytest.mark.parametrize("curator", [ImageAuto(n_folds=3, least_noise=0), Adaptive(n_folds=3)])
def test_out_of_fold_warm_ups_are_expected_and_shown(monkeypatch, curator):
    told = Steps()
    plan = CurationPlan(warm_up_steps=4, n_rounds=2, n_checkpoints=1)
    run = ImageRounds(pool(), recipe(n_steps=6), plan, curator, observer=told)
    monkeypatch.setattr(_duration, "_seconds_of_a_step", lambda *_: 1.0)
    expected = _duration.expected_seconds(run)
    assert expected["out-of-fold warm-ups"] == 3 * expected["warm-up"]
    interleave([run.proceed()])
    assert list(told.parts) == ["warm-up", "out-of-fold warm-ups", "training"]
    assert told.parts["out-of-fold warm-ups"][-1] == (4 + 3 * 4, 4 + 3 * 4 + 6)


def test_a_curator_of_ones_own_may_ask_for_them_too():
    def ask(evidence):
        return evidence.out_of_fold(2).argmax(axis=1) == evidence.labels

    told = Steps()
    plan = CurationPlan(warm_up_steps=2, n_rounds=1, n_checkpoints=1)
    run = ImageRounds(pool(), recipe(n_steps=3), plan, CURATORS.resolve(ask), observer=told)
    interleave([run.proceed()])
    assert told.parts["training"][-1] == (5, 5)


@pytest.mark.parametrize(("seconds", "timed"), [(0.01, [2, 8]), (1.0, [2])])
def test_where_steps_are_quick_a_whole_one_is_timed(monkeypatch, seconds, timed):
    def noted(pool, how, rows):
        sizes.append(how.batch_size)
        return seconds

    sizes = []
    monkeypatch.setattr(_duration, "_seconds_of_a_step", noted)
    expected()
    assert sizes == timed


def test_a_step_is_timed_and_changes_nothing():
    before = torch.random.get_rng_state()
    assert min(expected(pretrain_steps=30).values()) > 0
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_long_fit_is_warned_of_before_it_starts(monkeypatch):
    class StartedError(Exception):
        pass

    def start(*_):
        raise StartedError

    monkeypatch.setattr(_duration, "_seconds_of_a_step", lambda *_: 1.0)
    monkeypatch.setattr("dips.vision._classifier.complete", start)
    X, y = colors()[0], np.array(dirty_labels())
    with pytest.raises(StartedError), pytest.warns(UserWarning, match=r"takes about \d+ days on this CPU. Use a GPU"):
        ImageClassifier("tiny").fit(X, y)
    with warnings.catch_warnings(action="error"), pytest.raises(StartedError):
        ImageClassifier("tiny", n_steps=2, pilot_steps=1, warm_up_steps=1).fit(X, y)
