import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from dips.labelers import _sinkhorn as module
from dips.labelers._sinkhorn import _potentials, _shared_out, regularization


def sinkhorn(cost, row_mass, column_mass, reg, max_iter=1000):
    """Transport plan (rows, columns) with the given marginals."""
    log_kernel = -cost.T / reg
    potentials = _potentials(lambda: [(log_kernel.copy(), row_mass)], column_mass, max_iter, tol=1e-6)
    return _shared_out(log_kernel, potentials, row_mass).T


def allocate(*problem, **settings):
    """The mass of all rows, (n, C)."""
    return np.concatenate([mass for _, mass in module.allocate(*problem, **settings)])


def random_problem(n=8, m=4, random_state=0):
    rng = np.random.RandomState(random_state)
    rows, columns = rng.uniform(0.5, 2, n), rng.uniform(0.5, 2, m)
    return rng.uniform(size=(n, m)), rows, columns * rows.sum() / columns.sum()


def linear_program(cost, rows, columns):
    n, m = cost.shape
    row_sums, column_sums = np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))
    solved = linprog(cost.ravel(), A_eq=np.vstack([row_sums, column_sums]), b_eq=np.concatenate([rows, columns]))
    return solved.x.reshape(n, m)


@pytest.mark.parametrize("reg", [1.0, 0.1, 0.05])
def test_the_marginals_are_met(reg):
    cost, rows, columns = random_problem()
    plan = sinkhorn(cost, rows, columns, reg, max_iter=10_000)
    np.testing.assert_allclose(plan.sum(axis=1), rows, rtol=1e-6)
    np.testing.assert_allclose(plan.sum(axis=0), columns, atol=1e-6 * columns.sum())


def test_a_small_regularization_gives_the_linear_program_s_plan():
    cost, rows, columns = random_problem()
    plan = sinkhorn(cost, rows, columns, reg=2e-3, max_iter=100_000)
    np.testing.assert_allclose(plan, linear_program(cost, rows, columns), atol=1e-3)


def test_a_tiny_regularization_neither_overflows_nor_vanishes():
    cost, rows, columns = random_problem()
    assert np.exp(-cost / 1e-5).max() == 0  # what an iteration without logarithms would have to work with
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plan = sinkhorn(cost, rows, columns, reg=1e-5, max_iter=2000)
    assert np.isfinite(plan).all()
    np.testing.assert_allclose(plan.sum(axis=1), rows, rtol=1e-6)
    assert (plan * cost).sum() < 1.1 * (linear_program(cost, rows, columns) * cost).sum()


def test_empty_marginals_stay_empty():
    cost, rows, columns = random_problem()
    rows[2] = columns[1] = 0
    columns *= rows.sum() / columns.sum()
    plan = sinkhorn(cost, rows, columns, reg=0.1)
    assert (plan[2] == 0).all()
    assert (plan[:, 1] == 0).all()
    np.testing.assert_allclose(plan.sum(axis=1), rows, atol=1e-6)
    np.testing.assert_allclose(plan.sum(axis=0), columns, atol=1e-6 * columns.sum())


def test_iterations_that_did_not_converge_are_announced():
    cost, rows, columns = random_problem()
    with pytest.warns(ConvergenceWarning, match=r"did not converge in 2 steps: .* of the mass is out of place"):
        sinkhorn(cost, rows, columns, reg=0.01, max_iter=2)


@pytest.mark.parametrize("share", [1.0, 1 / 3])
def test_the_slack_stands_for_bounds_on_the_classes(share, monkeypatch):
    """Each row gives at most 1, a class takes at most 1.1 of its due, all take at least 0.9, at the least cost."""
    p = np.random.RandomState(0).dirichlet([1, 1, 1], size=10)
    frequencies = np.array([0.5, 0.3, 0.2])
    at_most = np.vstack([np.kron(np.eye(10), np.ones(3)), np.kron(np.ones(10), np.eye(3)), -np.ones((1, 30))])
    bounds = np.concatenate([np.ones(10), 1.1 * share * 10 * frequencies, [-0.9 * share * 10]])
    solved = linprog(1 - p.ravel(), A_ub=at_most, b_ub=bounds)
    monkeypatch.setattr(module, "regularization", lambda n, n_classes: 2e-3)
    mass = allocate(p, frequencies, share, max_iter=100_000)
    np.testing.assert_allclose(mass, solved.x.reshape(10, 3), atol=2e-3)


@pytest.mark.parametrize(("n", "n_classes", "share"), [(50, 3, 0.5), (300, 2, 1.0), (1000, 5, 1 / 3)])
def test_an_allocation_is_the_one_that_scaling_the_whole_kernel_gives(n, n_classes, share):
    rng = np.random.RandomState(0)
    p, frequencies = rng.dirichlet(np.full(n_classes, 0.3), size=n), rng.dirichlet(np.full(n_classes, 3.0))
    kernel = np.ones((n + 1, n_classes + 1))  # the last row and column are the slack
    kernel[:n, :n_classes] = np.exp((p - 1) / regularization(n, n_classes))
    rows, columns = np.append(np.ones(n), 0.2 * share * n), n * np.append(1.1 * share * frequencies, 1 - 0.9 * share)
    of_rows = np.ones(n + 1)
    for _ in range(20_000):
        of_columns = columns / (of_rows @ kernel)
        of_rows = rows / (kernel @ of_columns)
    plan = of_rows[:, None] * kernel * of_columns
    np.testing.assert_allclose(allocate(p, frequencies, share, max_iter=20_000), plan[:n, :n_classes], atol=1e-4)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 12), st.integers(2, 6), st.floats(0.05, 1), st.floats(0.05, 20), st.integers(0, 10_000))
def test_an_allocation_keeps_within_its_bounds(n, n_classes, share, concentration, seed):
    rng = np.random.RandomState(seed)
    p = rng.dirichlet(np.full(n_classes, concentration), size=n)
    frequencies = rng.dirichlet(np.full(n_classes, 5.0))
    mass = allocate(p, frequencies, share, max_iter=20_000)
    assert (mass >= 0).all()
    assert (mass.sum(axis=1) <= 1 + 1e-9).all()
    assert (mass.sum(axis=0) <= 1.1 * share * n * frequencies + 1e-5 * n).all()
    assert mass.sum() >= 0.9 * share * n - 1e-5 * n


@pytest.mark.parametrize(
    "p",
    [
        np.full((30, 3), 1 / 3),
        np.tile([0.7, 0.2, 0.1], (30, 1)),
        np.eye(3)[[0, 1, 2] * 10],
        np.eye(3)[[0] * 30],
        np.array([[0.2, 0.3, 0.5]]),
        np.eye(3)[[1]],
        np.random.RandomState(0).dirichlet(np.ones(7), size=3),
    ],
    ids=["uniform", "equal rows", "certain", "one class only", "one row", "one certain row", "more classes than rows"],
)
@pytest.mark.parametrize("reg", [None, 1e-3])
def test_degenerate_probabilities_give_finite_mass(p, reg, monkeypatch):
    if reg is not None:
        monkeypatch.setattr(module, "regularization", lambda n, n_classes: reg)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        mass = allocate(p, np.full(p.shape[1], 1 / p.shape[1]))
    assert np.isfinite(mass).all()
    assert (mass.sum(axis=1) <= 1 + 1e-9).all()


def test_an_allocation_does_not_depend_on_the_blocks_it_is_computed_in(monkeypatch):
    p = np.random.RandomState(0).dirichlet(np.ones(3), size=500)
    frequencies = np.array([0.5, 0.3, 0.2])
    whole = allocate(p, frequencies)
    monkeypatch.setattr(module, "_BLOCK", 7)
    places = [rows for rows, _ in module.allocate(p, frequencies)]
    assert [i for rows in places for i in range(500)[rows]] == list(range(500))
    np.testing.assert_allclose(allocate(p, frequencies), whole, rtol=1e-9)


def test_a_column_that_no_row_would_choose_is_filled_all_the_same():
    cost = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert np.exp(-cost[0, 1] / 1e-3) == 0
    plan = sinkhorn(cost, np.ones(2), np.array([1.5, 0.5]), reg=1e-3)
    np.testing.assert_allclose(plan, [[0.75, 0.25], [0.75, 0.25]], rtol=1e-5)


def test_equal_rows_are_treated_equally():
    mass = allocate(np.tile([0.7, 0.2, 0.1], (30, 1)), np.array([0.2, 0.3, 0.5]))
    np.testing.assert_allclose(mass, np.tile(mass[0], (30, 1)), rtol=1e-12)


def test_a_class_of_frequency_zero_gets_nothing():
    p = np.random.RandomState(0).dirichlet(np.ones(3), size=9)
    mass = allocate(p, np.array([0.5, 0.5, 0.0]))
    assert (mass[:, 2] == 0).all()
    assert np.isfinite(mass).all()


@pytest.mark.parametrize(("n", "expected"), [(400, 0.5), (399, 0.2), (200, 0.2), (199, 0.1), (100, 0.1), (99, 0.05)])
def test_regularization_follows_the_rows_a_class(n, expected):
    assert regularization(n, 2) == expected


def test_memory_grows_with_the_rows_not_their_square():
    peaks = []
    for n in (10_000, 20_000):
        p = np.random.RandomState(0).dirichlet(np.ones(3), size=n)
        tracemalloc.start()
        allocate(p, np.full(3, 1 / 3))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2.2 * peaks[0]
    assert peaks[1] < 10 * p.nbytes
