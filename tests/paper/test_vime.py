"""VIME: how rows are corrupted, and what is learned from them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from sklearn.datasets import make_classification  # noqa: E402

from dips._paper.tables.vime_network import VIME  # noqa: E402


@pytest.fixture(scope="module")
def parts():
    X, y = make_classification(1200, n_features=10, n_informative=4, class_sep=1.5, random_state=0)
    return X[:100], y[:100], X[100:600], X[600:], y[600:]


def fitted(parts, **settings):
    X, y, unlabeled, _, _ = parts
    return VIME(n_epochs=3, n_steps=300, **settings).fit(X, y, unlabeled)


@pytest.mark.parametrize("consistency", [False, True])
def test_both_variants_learn_and_do_so_again_with_the_same_seed(parts, consistency):
    first, again = (fitted(parts, consistency=consistency, random_state=3).predict(parts[3]) for _ in range(2))
    assert (first == parts[4]).mean() > 0.8
    assert np.array_equal(first, again)


def test_a_fit_leaves_the_random_numbers_of_others_alone(parts):
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    fitted(parts)
    assert torch.equal(torch.rand(3), expected)


def test_corrupted_entries_are_values_of_their_own_column(parts):
    model = fitted(parts, corruption=0.5)
    pool = torch.arange(40.0).reshape(20, 2)  # even numbers in one column, odd ones in the other
    corrupted, mask = model._corrupt(pool, pool)
    assert torch.equal(corrupted % 2, pool % 2)
    assert torch.equal(mask.bool(), corrupted != pool)
    assert 0.2 < mask.mean() < 0.7


def test_missing_values_and_unseen_ranges_are_taken(parts):
    X = parts[3][:5].copy()
    X[0, 0], X[1, 1] = np.nan, 1e6
    assert fitted(parts).predict(X).shape == (5,)
