import numpy as np
import pytest
from scipy.optimize import minimize

from dips._beliefs.newton import minimize_in_box


@pytest.mark.parametrize("high", [5.0, 0.3])
def test_it_ends_where_scipy_ends(high):
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(50, 3)), rng.choice([-1.0, 1.0], 50)

    def look(w):
        s = 1 / (1 + np.exp(y * (X @ w)))
        return float(-np.log(1 - s).sum()), -X.T @ (y * s), (X.T * (s * (1 - s))) @ X + 1e-9 * np.eye(3)

    low, top = np.full(3, -high), np.full(3, high)
    best = minimize(lambda w: look(w)[:2], np.zeros(3), jac=True, bounds=list(zip(low, top, strict=True)))
    np.testing.assert_allclose(minimize_in_box(look, np.zeros(3), low, top), best.x, atol=2e-3)


def test_a_step_that_goes_too_far_is_halved():
    seen = []

    def look(x):
        seen.append(float(x[0]))
        return float(np.abs(x[0] - 1)), np.sign(x - 1), np.eye(1) / 3  # a step of 3

    best = minimize_in_box(look, np.zeros(1), np.full(1, -9.0), np.full(1, 9.0))
    assert best[0] == pytest.approx(1, abs=1e-2)
    assert 3.0 in seen
