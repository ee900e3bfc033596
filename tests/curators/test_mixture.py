import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

from dips.curators._mixture import _two_means, smaller_group


def two_groups(n_low=80, n_high=30, low=1.0, high=4.0, seed=0):
    rng = np.random.RandomState(seed)
    return np.concatenate([rng.normal(low, 0.5, n_low), rng.normal(high, 0.7, n_high)])


@pytest.mark.parametrize("seed", range(5))
def test_the_groups_are_those_of_the_likeliest_mixture(seed):
    scores = two_groups(seed=seed)
    reference = GaussianMixture(2, n_init=20, tol=1e-6, max_iter=1000, random_state=0).fit(scores[:, None])
    expected = reference.predict(scores[:, None]) == reference.means_.argmin()
    assert (smaller_group(scores) == expected).mean() > 0.98


def test_shift_and_scale_do_not_matter():
    scores = two_groups()
    for scale in (1e-9, 1e9):
        assert (smaller_group(scale * (scores - 7)) == smaller_group(scores)).all()


def test_the_very_smallest_scores_are_in_the_smaller_group():
    """A narrow lower group inside a wide upper one: the mixture alone would give the wide one both ends."""
    rng = np.random.RandomState(0)
    scores = np.concatenate([[-2.0, -1.5], rng.normal(0, 0.1, 100), rng.normal(3, 2, 100)])
    assert smaller_group(scores)[:102].all()


def test_a_few_that_stand_apart_from_many_equal_ones_are_found():
    scores = np.array([0.0] * 95 + [1.0] * 5)
    assert (smaller_group(scores) == (scores == 0)).all()
    assert (smaller_group(-scores) == (scores == 1)).all()


@pytest.mark.parametrize("scores", [[0.3], [0.3] * 5, [1e-320, 0.0]])
def test_without_a_difference_there_is_one_group(scores):
    assert smaller_group(np.array(scores)).all()


@pytest.mark.filterwarnings("error")
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_one_threshold_parts_the_groups(scores):
    scores = np.array(scores)
    smaller = smaller_group(scores)
    assert smaller.any()
    if not smaller.all():
        assert scores[smaller].max() < scores[~smaller].min()


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=15).filter(lambda values: len(set(values)) > 1))
def test_the_start_is_the_best_of_all_cuts(values):
    ordered = np.sort(np.array(values, dtype=float))

    def within(k):
        return sum(((part - part.mean()) ** 2).sum() for part in (ordered[:k], ordered[k:]))

    lower, upper = _two_means(ordered)
    assert np.concatenate([lower, upper]).tolist() == ordered.tolist()
    assert lower[-1] < upper[0]
    assert within(lower.size) == pytest.approx(min(within(k) for k in range(1, ordered.size)), abs=1e-9)
