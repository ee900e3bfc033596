"""Backbones: one module a family of estimators, found by the type of the estimator."""

from __future__ import annotations

from collections.abc import Iterable

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from dips._tools.plugins import load_plugins
from dips.backbones._base import Backbone, StagedBackbone
from dips.backbones._catboost import CatBoost
from dips.backbones._epochs import Epochs
from dips.backbones._lightgbm import LightGBM
from dips.backbones._pipeline import PipelineBackbone
from dips.backbones._plain import Plain
from dips.backbones._staged import Staged
from dips.backbones._torch import Torch
from dips.backbones._xgboost import XGBoost

__all__ = ["Backbone", "StagedBackbone", "default_estimator", "find_backbone", "register_backbone"]

_FAMILIES: list[type[Backbone]] = [XGBoost, LightGBM, CatBoost, Epochs, Torch]


def register_backbone(family: type[Backbone]) -> type[Backbone]:
    """Add a family of your own, ahead of those that come with the package; usable as a decorator."""
    _FAMILIES.insert(0, family)
    return family


def find_backbone(estimator: BaseEstimator) -> Backbone:
    """Return how to fit and watch this estimator.

    Families are compared by name, so that none of the optional libraries is imported to find out.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> type(find_backbone(HistGradientBoostingClassifier())).__name__
    'Staged'
    """
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return PipelineBackbone(find_backbone(last), name)
    names = {f"{c.__module__.partition('.')[0]}.{c.__name__}" for c in type(estimator).__mro__}
    family = _first_that_handles(names, _FAMILIES)
    family = family or _first_that_handles(names, load_plugins("dips.backbones", Backbone))
    if family is not None:
        return family()
    return Staged() if hasattr(type(estimator), "staged_predict_proba") else Plain()


def _first_that_handles(names: set[str], families: Iterable[type[Backbone]]) -> type[Backbone] | None:
    return next((family for family in families if names.intersection(family.handles)), None)


def default_estimator() -> BaseEstimator:
    """XGBoost with slow, shallow, subsampled trees, which overfit a few hundred rows far less than its defaults do."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=200, learning_rate=0.05, max_depth=3, subsample=0.8)
