"""Cross-validation that never tests on a row without a label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from dips._data.labels import encode_targets
from dips._tools.arrays import Rows
from dips.exceptions import InputError


class SemiSupervisedKFold(StratifiedKFold):
    """Stratified folds of the labeled rows; unlabeled rows are in every training set and in no test set.

    With several labels per row, only rows whose labels are all known are tested on, and folds are not stratified.

    With ``groups``, such as patients, none is divided; unlabeled rows of the groups in a test set are in neither set.

    Parameters
    ----------
    n_splits : int, default=5
    shuffle : bool, default=False
    random_state : int, RandomState or None, default=None

    Examples
    --------
    >>> X, y = np.zeros((6, 1)), np.array([0, 1, 0, 1, -1, -1])
    >>> for train, test in SemiSupervisedKFold(n_splits=2).split(X, y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 4 5] [2 3]
    """

    __metadata_request__split = {"groups": True}

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the positions of the training rows and of the test rows."""
        if y is None:
            raise InputError("SemiSupervisedKFold needs y, to tell labeled rows from unlabeled ones.")
        targets = encode_targets(y)
        is_labeled = np.all([labels.is_labeled for labels in targets], axis=0)
        labeled, n = np.flatnonzero(is_labeled), is_labeled.size
        strata = targets[0].codes[labeled] if len(targets) == 1 else np.zeros(labeled.size)
        if groups is None:
            for _, test in super().split(np.zeros((labeled.size, 1)), strata):
                yield np.delete(np.arange(n), labeled[test]), labeled[test]
            return
        group = np.unique(groups, return_inverse=True)[1]
        if group.shape != (n,):
            raise InputError(f"groups must name the group of every row, {n} of them; got {group.size}.")
        whole = StratifiedGroupKFold(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)
        for _, test in whole.split(np.zeros((labeled.size, 1)), strata, group[labeled]):
            yield np.flatnonzero(~np.isin(group, group[labeled[test]])), labeled[test]
