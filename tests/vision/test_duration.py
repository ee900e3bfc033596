"""How long a fit takes is known before it starts."""

import warnings

import numpy as np
import pytest
import torch

from dips.curators._image_auto import ImageAuto
from dips.vision import ImageClassifier, _duration
from dips.vision._rounds import CurationPlan, ImageRounds

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
