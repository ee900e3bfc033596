import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dips._data.folds import training_and_test

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=2, max_size=40)


@given(ROWS, st.integers(2, 5), st.booleans(), st.integers(0, 1000))
def test_every_training_part_has_every_class_and_every_row_is_tested_once(rows, n_folds, is_grouped, seed):
    labels, groups = np.array(rows).T
    order = np.random.RandomState(seed).permutation(labels.size)
    folds = list(training_and_test(labels, n_folds, order, groups if is_grouped else None))
    assert (np.sum([test for _, test in folds], axis=0) == 1).all()
    for train, test in folds:
        assert set(labels[train]) == set(labels)
        assert not np.isin(labels[train & test], labels[~test]).any()  # on both sides only what must be
        if is_grouped:
            assert not np.isin(groups[test], groups[~test]).any()


def test_a_class_whose_groups_are_all_in_one_fold_is_known_to_every_model():
    labels, groups = np.array([0, 1, 2, 0, 0, 2, 1]), np.array([1, 1, 2, 2, 2, 3, 3])
    for train, _ in training_and_test(labels, 2, np.arange(7), groups):
        assert set(labels[train]) == {0, 1, 2}
