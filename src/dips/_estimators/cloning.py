"""Copies of estimators around a backbone that scikit-learn itself cannot clone."""

from __future__ import annotations

from copy import copy
from typing import Self

from sklearn.base import BaseEstimator

from dips._tools.sklearn_compat import clone_parametrized
from dips.backbones import find_backbone


class ClonesBackbone:
    """Clones the backbone as its family does, where scikit-learn refuses to: CatBoost copies ``cat_features``."""

    estimator: BaseEstimator | None

    def __sklearn_clone__(self) -> Self:
        try:
            return clone_parametrized(self)
        except RuntimeError:
            if self.estimator is None:
                raise
        without = copy(self)
        without.estimator = None
        cloned: Self = clone_parametrized(without)
        cloned.estimator = find_backbone(self.estimator).clone(self.estimator)
        return cloned
