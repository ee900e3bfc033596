"""Estimators that are not trained step by step: they can make pseudo-labels, but cannot be watched."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from dips.backbones._base import Backbone
from dips.exceptions import InputError

_CROSS_VALIDATED = ("SVC", "NuSVC", "CalibratedClassifierCV", "LogisticRegressionCV", "StackingClassifier")


class Plain(Backbone):
    """Any other classifier with ``predict_proba``."""

    threads = "n_jobs"
    one_thread_by_default = True

    def use_threads(self, fitted: BaseEstimator, n_threads: int | None) -> None:
        """Set it where the estimator has such a parameter."""
        if self.takes_threads(fitted):
            fitted.set_params(**{self.threads: n_threads})

    def takes_beliefs(self, estimator: BaseEstimator) -> bool:
        """Not where something is cross-validated inside: the folds would part a row from its other labels."""
        return self.takes_weights(estimator) and type(estimator).__name__ not in _CROSS_VALIDATED

    def check(self, estimator: BaseEstimator) -> None:
        """Refuse, and say what to use."""
        raise InputError(
            f"{type(estimator).__name__} is not trained step by step, so it has no learning dynamics; "
            'use a boosted or a neural backbone, or curator="auto".'
        )
