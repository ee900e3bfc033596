"""Parameters of estimators around a backbone, where scikit-learn cannot copy them, or cannot say what is wrong."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

from sklearn.base import BaseEstimator

from dips._tools.sklearn_compat import clone_parametrized
from dips.backbones import find_backbone
from dips.exceptions import InputError


class BackboneParameters:
    """Refuses in words what cannot be set, and clones the backbone as its family does: CatBoost copies its lists."""

    estimator: BaseEstimator | None

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the backbone as ``estimator__max_depth``; refused where None or a name has none."""
        own: dict[str, Any] = self.get_params(deep=False) | params  # type: ignore[attr-defined]
        for name, _, inner in (key.partition("__") for key in params):
            if inner and name in own and not hasattr(own[name], "set_params"):
                such_as = ", such as dips.backbones.default_estimator()" if own[name] is None else ""
                raise InputError(
                    f"{name}__{inner} cannot be set, because {name} is {own[name]!r}; pass an object{such_as}."
                )
        return super().set_params(**params)  # type: ignore[misc]

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
