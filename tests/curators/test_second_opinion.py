import numpy as np
import scipy.sparse as sp
from sklearn.datasets import make_classification

from dips.curators._second_opinion import linear_out_of_fold


def table(n=200, n_classes=3):
    return make_classification(n, 6, n_informative=4, n_classes=n_classes, random_state=0)


def test_every_row_is_judged_by_a_model_that_did_not_see_it():
    rng = np.random.RandomState(0)
    X, coins = rng.normal(size=(400, 80)), rng.randint(0, 2, 400)
    p = linear_out_of_fold(X, coins, 2, 5)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p.argmax(axis=1) == coins).mean() < 0.6  # fitted on its own row it would know the coin
    X, y = table()
    assert (linear_out_of_fold(X, y, 3, 5).argmax(axis=1) == y).mean() > 0.6


def test_missing_values_empty_columns_and_sparse_rows_are_read():
    X, y = table()
    X[::7, 0], X[:, 1] = np.nan, np.nan
    assert np.isfinite(linear_out_of_fold(X, y, 3, 5)).all()
    p = linear_out_of_fold(sp.csr_matrix(np.nan_to_num(X)), y, 3, 5)
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_a_class_with_one_row_and_a_table_with_two_are_no_obstacle():
    X, y = table(n_classes=2)
    y[0] = 2
    assert (linear_out_of_fold(X, y, 3, 5)[:, 2] > 0).all()  # every model knows the class
    np.testing.assert_allclose(linear_out_of_fold(X[:2], np.array([0, 1]), 2, 5).sum(axis=1), 1)


def test_rows_count_as_much_as_they_weigh():
    X, y = table(n_classes=2)
    flipped = np.arange(y.size) % 3 == 0
    dirty, light = np.where(flipped, 1 - y, y), np.where(flipped, 1e-6, 1.0)
    weighted = linear_out_of_fold(X, dirty, 2, 5, weights=light)[np.arange(y.size), y]
    assert weighted.mean() > linear_out_of_fold(X, dirty, 2, 5)[np.arange(y.size), y].mean() + 0.04


def test_only_the_proportions_of_weights_count():
    X, y = table()
    p = linear_out_of_fold(X, y, 3, 5)
    for scale in (1e-4, 1.0, 300.0):
        np.testing.assert_allclose(linear_out_of_fold(X, y, 3, 5, weights=np.full(y.size, scale)), p)


def test_every_model_has_rows_of_each_class_that_weigh_something():
    X, y = table(n_classes=2)
    weights = np.where(y == 0, 1.0, 0.0)
    weights[np.flatnonzero(y == 1)[:2]] = 1.0  # in one fold, the other would be trained on no such row
    p = linear_out_of_fold(X, y, 2, 2, weights=weights)
    assert (p[:, 1] > 1e-6).all()
