"""Images that are streamed to the training: the same results as from memory, and nothing waits needlessly."""

import numpy as np
import pytest
import torch

from dips.vision import ImageClassifier
from dips.vision import _image_pool as pools
from dips.vision._feed import _STEPS_AHEAD, Feed, drawn_rows
from dips.vision._image_pool import ImagePool
from dips.vision._method import Supervised
from dips.vision._training import Training

from .examples import CPU, N_CLASSES, colors, dirty_labels, recipe, weights


@pytest.fixture
def mapped(tmp_path):
    """The images of a file, as they come from a folder that is too large for the memory."""
    np.save(tmp_path / "images.npy", colors()[0])
    return np.load(tmp_path / "images.npy", mmap_mode="r")


def training(images, stream, seed=0, **settings):
    pool = ImagePool.of(images, dirty_labels(), N_CLASSES, CPU, stream)
    return Training(pool, recipe(**settings), pool.labeled_rows, seed)


@pytest.mark.parametrize("method", [None, Supervised()])
def test_a_streamed_training_is_the_one_from_memory_bit_for_bit(mapped, method):
    streamed, in_memory = (training(mapped, stream, method=method) for stream in (True, False))
    for rows in (streamed.pool.labeled_rows, np.array([3, 5, 8])):
        for one in (streamed, in_memory):
            one.use(rows)
            for _ in range(_STEPS_AHEAD + 2):
                one.step()
        assert torch.equal(weights(streamed.network), weights(in_memory.network))
        np.testing.assert_array_equal(streamed.probabilities(), in_memory.probabilities())
        np.testing.assert_array_equal(streamed.probabilities(rows=rows), in_memory.probabilities(rows=rows))


def test_a_stored_streamed_training_goes_on_as_if_it_had_never_stopped(mapped):
    through, stopped, continued = (training(mapped, True, seed) for seed in (0, 0, 9))
    for one, n_steps in ((through, 6), (stopped, 3)):
        for _ in range(n_steps):
            one.step()
    continued.step()  # leaves steps of its own ahead
    continued.restore(stopped.state())
    for _ in range(3):
        continued.step()
    assert torch.equal(weights(through.network), weights(continued.network))


def test_steps_are_gathered_ahead_and_dropped_where_the_rows_change(mapped):
    pool = ImagePool.of(mapped, dirty_labels(), N_CLASSES, CPU, stream=True)
    feed = Feed(pool, (4, 0), 1, torch.Generator().manual_seed(0))
    for rows in (np.arange(30), np.array([7])):
        feed.use(rows)
        feed.load()
        assert len(feed._pending) == _STEPS_AHEAD - 1
        assert set(feed.now.rows.tolist()) <= set(rows.tolist())
        np.testing.assert_array_equal(feed.now.images.numpy(), mapped[feed.now.rows.numpy()])


def test_a_file_that_cannot_be_read_any_more_ends_the_training(mapped):
    one = training(mapped, True)

    def unreadable(k, u):
        raise OSError("the disk is gone")

    one._feed._gather = unreadable
    with pytest.raises(OSError, match="the disk is gone"):
        one.step()


def test_rows_are_drawn_from_all_even_where_a_number_rounds_to_one():
    u = torch.tensor([[1 - 2**-24], [0.0]])
    labeled, unlabeled = drawn_rows(u.flip(0), torch.arange(5), 5, 2**25, (1, 1))
    assert labeled.tolist() == [0]
    assert unlabeled.item() < 2**25


def test_the_memory_decides_unless_it_is_said(mapped, monkeypatch):
    def is_streamed(stream):
        return ImagePool.of(mapped, dirty_labels(), N_CLASSES, CPU, stream).is_streamed

    assert [is_streamed(stream) for stream in (None, True, False)] == [False, True, False]
    monkeypatch.setattr(pools, "_SHARE_OF_MEMORY", 0.0)
    assert [is_streamed(stream) for stream in (None, True, False)] == [True, True, False]


def test_a_classifier_streams_to_the_same_account(mapped):
    settings = {"n_steps": 12, "n_rounds": 2, "warm_up_steps": 6, "batch_size": 8, "random_state": 0}
    fitted = [
        ImageClassifier("tiny", stream=stream, **settings).fit(mapped, dirty_labels()) for stream in (True, False)
    ]
    assert fitted[0].samples_.equals(fitted[1].samples_)
    np.testing.assert_array_equal(fitted[0].predict_proba(mapped), fitted[1].predict_proba(mapped))
