"""Label noise: as much as was asked for, where it was asked for, and the mask says where."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification

from dips.datasets import flip_labels, flip_labels_by_class, flip_labels_by_instance

X, clean = make_classification(600, 6, n_informative=4, n_classes=3, random_state=0)
animals = np.array(["cat", "dog", "wolf"], dtype=object)[clean]


def symmetric(y, seed=0):
    return flip_labels(y, 0.25, random_state=seed)


def by_class(y, seed=0):
    return flip_labels_by_class(y, {np.unique(y[y != -1])[0]: 0.5}, random_state=seed)


def by_instance(y, seed=0):
    return flip_labels_by_instance(X[: len(y)], y, 0.25, random_state=seed)


MAKERS = [symmetric, by_class, by_instance]


@pytest.mark.parametrize("maker", MAKERS)
def test_the_mask_says_exactly_where_labels_changed(maker):
    noisy, flipped = maker(clean)
    assert_array_equal(noisy != clean, flipped)
    assert set(noisy) == {0, 1, 2}


@pytest.mark.parametrize("maker", MAKERS)
def test_one_seed_gives_one_noise(maker):
    for a, b in zip(maker(clean, seed=1), maker(clean, seed=1), strict=True):
        assert_array_equal(a, b)
    assert (maker(clean, seed=1)[1] != maker(clean, seed=2)[1]).any()


@pytest.mark.parametrize("maker", MAKERS)
def test_rows_without_a_label_are_never_touched(maker):
    y = clean.copy()
    y[::3] = -1
    noisy, flipped = maker(y)
    assert (noisy[::3] == -1).all()
    assert not flipped[::3].any()
    assert (noisy[flipped] != -1).all()


@pytest.mark.parametrize("maker", MAKERS)
def test_the_input_stays_as_it_is(maker):
    y = clean.copy()
    maker(y)
    assert_array_equal(y, clean)


@pytest.mark.parametrize("maker", MAKERS)
def test_strings_change_as_their_codes_do(maker):
    noisy, flipped = maker(clean)
    noisy_animals, flipped_animals = maker(animals)
    assert_array_equal(flipped, flipped_animals)
    assert_array_equal(animals[flipped], np.array(["cat", "dog", "wolf"], dtype=object)[clean][flipped])
    assert_array_equal(noisy_animals, np.array(["cat", "dog", "wolf"], dtype=object)[noisy])


@pytest.mark.parametrize(("rate", "n"), [(0.0, 0), (0.1, 60), (0.333, 199), (1.0, 600)])
def test_symmetric_noise_has_an_exact_count(rate, n):
    assert flip_labels(clean, rate, random_state=0)[1].sum() == n


def test_symmetric_noise_counts_labeled_rows_only():
    y = np.append(clean, np.full(400, -1))
    assert flip_labels(y, 0.1, random_state=0)[1].sum() == 60


def test_symmetric_noise_goes_to_every_other_class_alike():
    y = np.repeat([0, 1, 2], 3000)
    noisy, _ = flip_labels(y, 0.5, random_state=0)
    confusion = pd.crosstab(y, noisy).to_numpy()
    off_diagonal = confusion[~np.eye(3, dtype=bool)]
    assert off_diagonal.sum() == 4500
    assert np.abs(off_diagonal - 750).max() < 100


def test_class_conditional_noise_has_an_exact_count_a_class():
    noisy, flipped = flip_labels_by_class(animals, {"cat": 0.5, "dog": 0.1}, random_state=0)
    for name, rate in {"cat": 0.5, "dog": 0.1, "wolf": 0.0}.items():
        of_class = animals == name
        assert flipped[of_class].sum() == int(rate * of_class.sum())
    assert set(noisy[(animals == "cat") & flipped]) == {"dog", "wolf"}


def test_class_conditional_noise_may_name_what_a_class_is_mistaken_for():
    noisy, flipped = flip_labels_by_class(animals, {"wolf": {"dog": 0.3, "cat": 0.1}}, random_state=0)
    wolves = animals == "wolf"
    assert (noisy[wolves] == "dog").sum() == int(0.3 * wolves.sum())
    assert (noisy[wolves] == "cat").sum() == int(0.1 * wolves.sum())
    assert not flipped[~wolves].any()


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.4, 1.0])
def test_instance_dependent_noise_meets_its_rate_on_average(rate):
    rates = [flip_labels_by_instance(X, clean, rate, random_state=seed)[1].mean() for seed in range(20)]
    assert np.mean(rates) == pytest.approx(rate, abs=0.02)


def test_instance_dependent_noise_depends_on_the_features():
    X = np.random.RandomState(0).normal(size=(4000, 2))
    noisy, flipped = flip_labels_by_instance(X, np.arange(4000) % 3, 0.5, random_state=0)
    of_class = flipped & (np.arange(4000) % 3 == 0)
    means = [X[of_class & (noisy == c)].mean(axis=0) for c in (1, 2)]
    assert np.abs(means[0] - means[1]).max() > 0.3  # symmetric noise would leave them equal


def test_with_two_classes_too_some_rows_are_mistaken_more_easily_than_others():
    X = np.random.RandomState(0).normal(size=(8000, 4))
    _, flipped = flip_labels_by_instance(X, np.arange(8000) % 2, 0.3, random_state=0)
    direction = X[flipped].mean(axis=0) - X[~flipped].mean(axis=0)
    assert np.linalg.norm(direction) > 0.5  # symmetric noise would leave them at the same place
    hardness = X @ direction
    hard, easy = hardness > np.quantile(hardness, 0.8), hardness < np.quantile(hardness, 0.2)
    assert flipped[hard].mean() > 3 * flipped[easy].mean()
    assert flipped.mean() == pytest.approx(0.3, abs=0.02)


def test_rows_that_are_all_alike_are_equally_hard():
    flipped = flip_labels_by_instance(np.ones((2000, 2)), np.arange(2000) % 2, 0.25, random_state=0)[1]
    assert flipped.mean() == pytest.approx(0.25, abs=0.03)


def test_instance_dependent_noise_reads_any_table():
    table = pd.DataFrame(X, columns=list("abcdef")).assign(animal=animals)
    table.loc[::7, "a"] = np.nan
    for features in (table, sp.csr_array(X)):
        _, flipped = flip_labels_by_instance(features, animals, 0.3, random_state=0)
        assert 0.2 < flipped.mean() < 0.4


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: flip_labels(clean, 1.5), "between 0 and 1; got 1.5"),
        (lambda: flip_labels_by_class(clean, {0: -0.1}), "between 0 and 1; got -0.1"),
        (lambda: flip_labels_by_class(clean, {0: {1: 0.6, 2: 0.6}}), "between 0 and 1; got 1.2"),
        (lambda: flip_labels_by_class(animals, {"cow": 0.1}), r"classes \['cow'\], which y does not have"),
        (lambda: flip_labels_by_class(animals, {"cat": {"cow": 0.1}}), r"classes \['cow'\], which y does not have"),
        (lambda: flip_labels_by_instance(X, clean, 2), "between 0 and 1; got 2"),
        (lambda: flip_labels_by_instance(X[:10], clean, 0.1), "10 rows, y has 600"),
    ],
)
def test_noise_that_cannot_be_made_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
