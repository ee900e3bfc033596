"""The network on a table that was prepared as a matrix, as models that are trained take it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dips._data.spans import Spans, merged
from dips._tools.arrays import Array
from dips.network._classifier import PriorFittedClassifier


class PreparedTableClassifier(PriorFittedClassifier):
    """Reads a matrix in which the levels of a category may have a column each, and puts these together again.

    Parameters
    ----------
    spans : which columns of the matrix belong together, and which are categories
    class_frequencies, random_state, n_jobs : as in :class:`PriorFittedClassifier`
    """

    def __init__(
        self, spans: Spans, *, class_frequencies: Any = None, random_state: Any = None, n_jobs: int | None = None
    ) -> None:
        super().__init__(class_frequencies=class_frequencies, random_state=random_state, n_jobs=n_jobs)
        self.spans = spans

    def _fit(self, X: Array, y: Any, verified: Any, y_given: Any) -> PreparedTableClassifier:
        super()._fit(X, y, verified, y_given)
        self.table_ = replace(self.table_, n_features=X.shape[1], starts=self.spans.starts)
        return self

    def predict_proba(self, X: Array) -> Array:
        """Class probabilities (n, C), in the order of ``classes_``."""
        check_is_fitted(self)
        return self.table_.predict_proba(X)

    def _numbers(self, X: Array, learn: bool) -> Array:
        if learn:
            self._categorical = self.spans.is_category
        return merged(np.asarray(X), self.spans.starts)
