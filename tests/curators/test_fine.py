import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine

from dips.curators import FINE
from dips.curators._fine import _alignment, _standardized
from dips.curators._mixture import smaller_group
from dips.datasets import flip_labels, make_quadrants

from .examples import make_evidence, random_labels, random_trajectories


def naive_alignment(features, labels):
    """Standardize, add the constant, sum up outer products a class, take the eigenvector, square the cosine."""
    n, d = len(features), len(features[0])
    Z = []
    for i in range(n):
        z = []
        for j in range(d):
            column = [row[j] for row in features]
            center = sum(column) / n
            spread = math.sqrt(sum((x - center) ** 2 for x in column) / n)
            z.append((features[i][j] - center) / spread if spread > 0 else 0.0)
        Z.append(np.array([*z, math.sqrt(d)]))
    alignment = np.full(n, np.nan)
    for c in set(labels):
        gram = sum(np.outer(Z[i], Z[i]) for i in range(n) if labels[i] == c)
        values, vectors = np.linalg.eigh(gram)
        first = vectors[:, values.argmax()]
        for i in range(n):
            if labels[i] == c:
                alignment[i] = (Z[i] @ first) ** 2 / (Z[i] @ Z[i])
    return alignment


def curate(features, labels):
    n, n_classes = len(labels), int(max(labels)) + 1
    return FINE().curate(make_evidence(random_trajectories(n, n_classes), labels, features=features))


@pytest.fixture
def wine():
    features, truth = load_wine(return_X_y=True)
    labels, flipped = flip_labels(truth, 0.2, random_state=0)
    return features, labels, flipped


def test_alignment_is_with_the_first_eigenvector_of_the_class_s_gram_matrix(wine):
    features, labels, _ = wine
    features, labels = features[::4, :5], labels[::4]
    expected = naive_alignment(features.tolist(), labels.tolist())
    scaled, center = _standardized(features)
    useful = curate(features, labels)
    for c in range(3):
        rows = np.flatnonzero(labels == c)
        np.testing.assert_allclose(_alignment(scaled[rows], center), expected[rows], atol=1e-10)
        assert (useful[rows] == smaller_group(-expected[rows])).all()


def test_flipped_labels_are_out_of_line(wine):
    features, labels, flipped = wine
    useful = curate(features, labels)
    assert useful.mean() > 0.5
    assert flipped[useful].mean() < 0.02


def test_a_row_on_the_other_side_of_the_mean_is_out_of_line():
    """Two quadrants that mirror each other: squares of centered features alone could not tell them apart."""
    features, truth = make_quadrants(200, random_state=0)
    labels, flipped = flip_labels(truth, 0.2, random_state=0)
    assert not flipped[curate(features, labels)].any()


def test_sparse_and_dense_rows_are_judged_alike(wine):
    features, labels, _ = wine
    features = np.where(features < np.median(features, axis=0), 0, features)
    assert (curate(sp.csr_matrix(features), labels) == curate(features, labels)).all()
    assert (curate(sp.coo_matrix(features), labels) == curate(features, labels)).all()


def test_a_missing_value_counts_as_the_column_s_mean(wine):
    features, labels, _ = wine
    gaps = features.copy()
    gaps[np.random.RandomState(0).uniform(size=features.shape) < 0.1] = np.nan
    filled = np.where(np.isnan(gaps), np.nanmean(gaps, axis=0), gaps)
    center, spread = np.nanmean(gaps, axis=0), np.nanstd(gaps, axis=0)
    np.testing.assert_allclose(_standardized(gaps)[0], (filled - center) / spread, atol=1e-9)
    sparse, middle = _standardized(sp.csr_matrix(gaps))
    np.testing.assert_allclose(sparse.toarray() - middle, (filled - center) / spread, atol=1e-9)
    assert (curate(sp.csr_matrix(gaps), labels) == curate(gaps, labels)).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_class_too_small_to_split_is_useful(n, wine):
    features, labels, _ = wine
    labels = np.where(np.arange(labels.size) < n, 3, labels)
    useful = curate(features, labels)
    assert useful[:n].all()
    assert not useful.all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("value", [0.0, 3.0])
def test_constant_features_tell_nothing(kind, value):
    features = np.full((20, 3), value)
    assert curate(kind(features), random_labels(20, 2)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("column", [np.nan, 5.0])
def test_an_empty_or_constant_column_changes_no_verdict_much(column, wine):
    features, labels, flipped = wine
    useful = curate(np.column_stack([features, np.full(labels.size, column)]), labels)
    assert flipped[useful].mean() < 0.03


def test_more_columns_than_rows_are_no_trouble():
    rng = np.random.RandomState(0)
    labels = np.repeat([0, 1], 10)
    features = rng.normal(size=(20, 100)) + 2 * labels[:, None]
    labels[[0, 10]] = [1, 0]
    for table in (features, sp.csr_matrix(features)):
        useful = curate(table, labels)
        assert not useful[[0, 10]].any()


def test_a_frame_with_categories_is_read_as_numbers(wine):
    features, labels, _ = wine
    frame = pd.DataFrame(features).add_prefix("x")
    frame["ward"] = pd.Categorical(np.where(features[:, 0] > 13, "b", "a"))
    numbers = np.column_stack([features, features[:, 0] > 13])
    assert (curate(frame, labels) == curate(numbers, labels)).all()
