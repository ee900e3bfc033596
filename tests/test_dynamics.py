from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from dips._dynamics import STATISTICS, Dynamics, check_window
from dips.exceptions import InputError

ORDER_MATTERS = {"fluctuation"}
assert_close = partial(assert_allclose, rtol=1e-5, atol=2e-6)  # statistics are kept in single precision


def naive(p):
    """Every statistic from all checkpoints (n, E, C) at once, as the definitions are written."""
    n, E, C = p.shape
    eps = np.finfo(np.float64).eps
    confidence = sum(p[:, e] for e in range(E)) / E  # Definition 4.1
    aleatoric = sum(p[:, e] * (1 - p[:, e]) for e in range(E)) / E  # Definition 4.2
    wins = np.zeros((n, C))
    falls = np.zeros((n, C))
    for i in range(n):
        for e in range(E):
            wins[i, np.argmax(p[i, e])] += 1
            if e > 0:
                falls[i] += (p[i, e - 1] > 0.5) & (p[i, e] < 0.5)
    p_or_1 = np.where(p > 0, p, 1)
    return {
        "confidence": confidence,
        "aleatoric": aleatoric,
        "variability": p.std(axis=1),
        "correctness": wins / E,
        "loss": -np.log(np.maximum(p, eps)).mean(axis=1),
        "fluctuation": falls,
        "entropy": -(p * np.log(p_or_1)).sum(axis=2).mean(axis=1),
    }


def watched(p, **asked):
    """Dynamics that were shown the checkpoints of `p` (n, E, C) one after another."""
    dynamics = Dynamics(p.shape[0], p.shape[2], asked.pop("statistics", STATISTICS), **asked)
    dynamics.begin(p.shape[1])
    for e in range(p.shape[1]):
        dynamics.update(p[:, e])
    dynamics.finish()
    return dynamics


def random_checkpoints(n=50, E=12, C=3, seed=0):
    return np.random.RandomState(seed).dirichlet(np.full(C, 0.5), size=(n, E))


@st.composite
def checkpoints(draw):
    """Any class probabilities (n, E, C), zeros and ones and ties among them."""
    shape = tuple(draw(st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(2, 4))))
    counts = draw(arrays(np.int64, shape, elements=st.integers(0, 9)))
    counts[..., draw(st.integers(0, shape[2] - 1))] += 1
    return counts / counts.sum(axis=2, keepdims=True)


# The definitions


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize(("E", "C"), [(1, 2), (12, 2), (12, 3), (100, 5)])
def test_a_running_statistic_equals_its_definition(statistic, E, C):
    p = random_checkpoints(E=E, C=C)
    assert_close(watched(p)[statistic], naive(p)[statistic])


@given(checkpoints())
@settings(deadline=None, max_examples=60)
def test_running_statistics_equal_their_definitions_on_any_probabilities(p):
    dynamics, expected = watched(p), naive(p)
    for statistic in STATISTICS:
        assert_close(dynamics[statistic], expected[statistic])


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_statistic_asked_for_alone_is_the_same(statistic):
    p = random_checkpoints()
    assert_array_equal(watched(p, statistics=[statistic])[statistic], watched(p)[statistic])


def test_single_precision_probabilities_lose_nothing():
    p = random_checkpoints().astype(np.float32)
    for statistic, expected in naive(p.astype(np.float64)).items():
        assert_close(watched(p)[statistic], expected)


def test_a_probability_that_never_moves_has_no_variability():
    p = np.repeat(random_checkpoints(E=1).astype(np.float32), 20, axis=1)
    assert_close(watched(p)["variability"], 0)


def test_a_probability_of_zero_has_a_finite_loss():
    p = np.tile([0.0, 1.0], (1, 3, 1))
    assert_close(watched(p)["loss"], [[-np.log(np.finfo(np.float64).eps), 0]])


def test_one_half_is_neither_above_nor_below():
    p = np.array([0.9, 0.5, 0.1, 0.9, 0.1])
    assert_array_equal(watched(np.stack([p, 1 - p], axis=1)[None])["fluctuation"], [[1, 1]])


# What must hold of any probabilities


@given(checkpoints())
@settings(deadline=None, max_examples=60)
def test_statistics_keep_within_their_bounds(p):
    dynamics = watched(p)
    confidence, aleatoric, variability = (dynamics[s] for s in ("confidence", "aleatoric", "variability"))
    assert ((confidence >= -1e-6) & (confidence <= 1 + 1e-6)).all()
    assert_close(confidence.sum(axis=1), 1)
    assert ((aleatoric >= -1e-6) & (aleatoric <= 0.25 + 1e-6)).all()
    assert (variability**2 <= confidence * (1 - confidence) + 1e-6).all()
    assert_close(dynamics["correctness"].sum(axis=1), 1)
    assert (dynamics["loss"] >= 0).all()
    assert (dynamics["entropy"] <= np.log(p.shape[2]) + 1e-6).all()
    assert (dynamics["fluctuation"] <= p.shape[1] // 2).all()


@given(checkpoints(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_the_order_of_the_checkpoints_does_not_matter_to_an_average(p, random):
    order = list(range(p.shape[1]))
    random.shuffle(order)
    there, back = watched(p), watched(p[:, order])
    for statistic in set(STATISTICS) - ORDER_MATTERS:
        assert_close(there[statistic], back[statistic])


def test_the_order_of_the_checkpoints_matters_to_fluctuation():
    p = np.array([[[0.9, 0.1], [0.1, 0.9]]])
    assert_array_equal(watched(p)["fluctuation"], [[1, 0]])
    assert_array_equal(watched(p[:, ::-1])["fluctuation"], [[0, 1]])


@given(checkpoints(), st.data())
@settings(deadline=None, max_examples=40)
def test_rows_watched_in_parts_equal_rows_watched_together(p, data):
    cut = data.draw(st.integers(0, p.shape[0]))
    whole, head, tail = watched(p), watched(p[:cut]), watched(p[cut:])
    for statistic in STATISTICS:
        assert_array_equal(whole[statistic], np.concatenate([head[statistic], tail[statistic]]))


@given(checkpoints(), st.data())
@settings(deadline=None, max_examples=40)
def test_classes_in_another_order_give_the_same_columns_in_that_order(p, data):
    order = data.draw(st.permutations(range(p.shape[2])))
    ours, theirs = watched(p), watched(p[:, :, order])
    for statistic in set(STATISTICS) - {"entropy", "correctness"}:  # of two equal classes the first is right
        assert_close(ours[statistic][:, order], theirs[statistic], atol=1e-6)


# Reading


def test_statistics_are_read_at_a_label_a_row():
    p = random_checkpoints(n=6)
    labels = np.array([0, 1, 2, 2, 1, 0])
    expected = naive(p)
    read = watched(p).at(labels)
    assert list(read) == list(STATISTICS)
    for statistic, values in read.items():
        at_label = expected[statistic] if statistic == "entropy" else expected[statistic][np.arange(6), labels]
        assert_close(values, at_label)


def test_statistics_are_read_at_the_labels_of_some_rows():
    dynamics = watched(random_checkpoints(n=6))
    some = dynamics.at(np.array([2, 0]), rows=np.array([4, 1]))
    assert_array_equal(some["confidence"], dynamics["confidence"][[4, 1], [2, 0]])
    assert_array_equal(some["entropy"], dynamics["entropy"][[4, 1]])


def test_the_last_checkpoint_is_at_hand():
    p = random_checkpoints()
    dynamics = watched(p)
    assert_close(dynamics.probabilities, p[:, -1])
    assert dynamics.n_checkpoints == p.shape[1]


def test_a_statistic_that_was_not_kept_is_refused():
    dynamics = watched(random_checkpoints(), statistics=["confidence", "loss"])
    with pytest.raises(KeyError, match="'entropy' was not asked for; kept are confidence, loss"):
        dynamics["entropy"]


def test_a_curator_is_told_how_to_get_a_statistic_that_was_not_kept():
    read = watched(random_checkpoints(), statistics=["confidence"]).at(np.zeros(50, dtype=int))
    with pytest.raises(InputError, match="'loss' was not kept; list it in the curator's statistics"):
        read["loss"]
    with pytest.raises(InputError, match="'los' was not kept; there are confidence, aleatoric, variability"):
        read["los"]


def test_unknown_statistics_are_refused():
    with pytest.raises(ValueError, match=r"Unknown statistics \['confidense'\]; choose one of confidence, aleatoric"):
        Dynamics(3, 2, ["confidense", "loss"])


def test_probabilities_of_another_shape_are_refused():
    dynamics = Dynamics(4, 2)
    dynamics.begin(1)
    with pytest.raises(ValueError, match=r"shape \(4, 3\) for 4 rows and 2 classes"):
        dynamics.update(np.full((4, 3), 1 / 3))


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([-1.0, 2.0], "from -1 to 2 .*end in a softmax"),
        ([0.7, 0.7], "off 1 by up to 0.4"),
        ([np.nan, 1.0], "missing or infinite; .*imputer"),
    ],
)
def test_what_is_no_probability_is_refused_at_the_first_and_the_last_checkpoint(p, message):
    fine, wrong = np.full((4, 2), 0.5), np.tile(p, (4, 1))
    dynamics = Dynamics(4, 2)
    with pytest.raises(ValueError, match=message):
        dynamics.update(wrong)
    dynamics.update(fine)
    dynamics.update(wrong)
    with pytest.raises(ValueError, match=message):
        dynamics.finish()


def test_rounding_is_forgiven():
    watched(random_checkpoints() + 1e-5)


# Windows


@pytest.mark.parametrize(
    ("window", "E", "counted"),
    [
        ((0, 1), 10, range(10)),
        ((0.5, 1), 10, range(5, 10)),
        ((0, 0.5), 10, range(5)),
        ((0.2, 0.4), 10, range(2, 4)),
        ((0.25, 0.75), 6, range(1, 5)),  # a checkpoint partly inside counts
        ((0, 0.07), 100, range(7)),  # 0.07 * 100 > 7 in floating point
        ((0.29, 1), 100, range(29, 100)),  # 0.29 * 100 < 29 in floating point
        ((0, 0.01), 10, range(1)),
        ((0.99, 1), 10, range(9, 10)),
        ((0.5, 1), 1, range(1)),
    ],
)
def test_only_checkpoints_in_the_window_count(window, E, counted):
    p = random_checkpoints(E=E)
    dynamics, expected = watched(p, window=window), naive(p[:, list(counted)])
    for statistic in STATISTICS:
        assert_close(dynamics[statistic], expected[statistic])
    assert_close(dynamics.probabilities, p[:, -1])


@pytest.mark.parametrize(
    "window", [(0.5, 0.5), (0.6, 0.4), (-0.1, 1), (0, 1.1), (0, float("nan")), (0,), (0, 0.5, 1), 0.5, None, "ab"]
)
def test_a_window_must_be_two_growing_fractions(window):
    with pytest.raises(ValueError, match=r"two fractions of the training, 0 <= start < end <= 1, .*; got"):
        check_window(window)
    with pytest.raises(ValueError, match="two fractions"):
        Dynamics(3, 2, window=window)


def test_a_training_that_stops_early_is_averaged_over_what_it_showed():
    p = random_checkpoints(E=7)
    dynamics = Dynamics(p.shape[0], p.shape[2])
    dynamics.begin(n_checkpoints=10)
    for e in range(7):
        dynamics.update(p[:, e])
    dynamics.finish()
    assert_close(dynamics["confidence"], p.mean(axis=1))


def test_a_training_that_stops_before_its_window_is_judged_by_its_last_checkpoint():
    p = random_checkpoints(E=3)
    dynamics = Dynamics(p.shape[0], p.shape[2], window=(0.5, 1))
    dynamics.begin(n_checkpoints=10)
    for e in range(3):
        dynamics.update(p[:, e])
    with pytest.warns(UserWarning, match=r"stopped after 3 checkpoints, before the window \(0.5, 1\) began"):
        dynamics.finish()
    assert_close(dynamics["confidence"], p[:, -1])


def test_a_training_without_checkpoints_is_an_error():
    dynamics = Dynamics(3, 2)
    dynamics.begin(10)
    with pytest.raises(RuntimeError, match="showed no checkpoint"):
        dynamics.finish()


# Trajectories


def test_tracked_rows_keep_their_whole_trajectory():
    p = random_checkpoints()
    dynamics = watched(p, track=[7, 2], window=(0.5, 1))
    assert_array_equal(dynamics.trajectories, p[[7, 2]])


def test_trajectories_are_copies():
    buffer = np.array([[0.4, 0.6]])
    dynamics = Dynamics(1, 2, track=[0])
    dynamics.begin(2)
    dynamics.update(buffer)
    buffer[:] = [[0.1, 0.9]]
    dynamics.update(buffer)
    assert_array_equal(dynamics.trajectories, [[[0.4, 0.6], [0.1, 0.9]]])


def test_without_tracked_rows_no_trajectory_is_kept():
    assert watched(random_checkpoints()).trajectories.shape[0] == 0


def test_too_many_tracked_rows_are_refused():
    with pytest.raises(ValueError, match="asked for 10001 rows; at most 10000 are kept"):
        Dynamics(20_000, 2, track=range(10_001))
    assert Dynamics(20_000, 2, track=range(10_000)).track.size == 10_000
