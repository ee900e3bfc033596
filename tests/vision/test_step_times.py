import pytest
import torch
from step_times import breakdown, convolutions_ms, copy_bandwidth, floor_ms, steps_per_second
from torch import nn

from dips.vision._image_pool import ImagePool

from .examples import CPU, colors, pool, recipe


def test_the_parts_of_a_step_are_timed():
    times_ms = breakdown(pool(), recipe(), n_steps=2)
    assert set(times_ms) == {"step", "augmentation", "network", "optimizer", "rest"}
    assert copy_bandwidth(CPU, 2**16) > 0
    assert steps_per_second(pool(), recipe(), n_runs=2, n_steps=1) > 0


def test_the_floor_counts_what_layers_read_and_write():
    images = ImagePool.of(*colors(), 3, torch.device("cpu"))
    one = floor_ms(images, recipe(), bytes_per_second=1e12)
    assert floor_ms(images, recipe(batch_size=16), bytes_per_second=1e12) == 2 * one
    assert floor_ms(images, recipe(), bytes_per_second=5e11) == 2 * one


def test_the_floor_is_that_of_convolutions_and_of_norms():
    images = ImagePool.of(*colors(), 3, torch.device("cpu"))
    convolutions, norms = (floor_ms(images, recipe(), 1e12, layers=(kind,)) for kind in (nn.Conv2d, nn.BatchNorm2d))
    assert norms > 0
    assert convolutions + norms == pytest.approx(floor_ms(images, recipe(), 1e12))


def test_the_convolutions_alone_are_timed():
    assert convolutions_ms(pool(), recipe(), n_times=2) > 0
