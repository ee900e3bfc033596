"""The paper's two quadrants."""

import numpy as np
from numpy.testing import assert_array_equal

from dips.datasets import make_quadrants


def test_each_class_fills_its_quadrant():
    X, y = make_quadrants(2000, random_state=0)
    assert_array_equal(y, X[:, 0] > 0)
    assert_array_equal(X[:, 1] < 0, X[:, 0] > 0)
    assert np.abs(X).max() <= 1
    assert 0.45 < y.mean() < 0.55


def test_one_seed_gives_one_table():
    assert_array_equal(make_quadrants(50, random_state=3)[0], make_quadrants(50, random_state=3)[0])
