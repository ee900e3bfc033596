"""Estimators that are not trained step by step: they can be pseudo-labeled with, but not watched."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from dips._typing import Array
from dips.backbones.base import Backbone, weights
from dips.dynamics import Watch


class Plain(Backbone):
    """Any other classifier with ``predict_proba``."""

    threads = "n_jobs"

    def check(self, estimator: BaseEstimator) -> None:
        """Refuse, and say what to use."""
        raise ValueError(
            f"{type(estimator).__name__} is not trained step by step, so it has no learning dynamics; "
            'use a boosted or a neural backbone, or curator="none".'
        )

    def fit(
        self,
        estimator: BaseEstimator,
        X: Any,
        y: Array,
        sample_weight: Array | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Fit; there is nothing to watch."""
        if watch is not None:
            self.check(estimator)
        estimator.fit(X, y, **weights(estimator, sample_weight))
