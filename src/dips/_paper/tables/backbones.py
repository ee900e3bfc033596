"""The backbones that are compared: the paper's, and sensible ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

from dips._tools.arrays import Array
from dips.backbones import default_estimator, find_backbone
from dips.exceptions import InputError

BACKBONES = ("xgboost paper", "xgboost sensible", "xgboost tuned", "histgb", "catboost", "mlp")
_GRID = {"max_depth": [2, 4], "learning_rate": [0.03, 0.1]}


def make_backbone(name: str, X: Array, y: Array, seed: int) -> BaseEstimator:
    """Return an unfitted classifier; the tuned one is chosen by cross-validation on the labeled rows as they are."""
    if name == "xgboost paper":
        return XGBClassifier(n_jobs=1)
    if name == "xgboost sensible":
        return _slow_trees()
    if name == "xgboost tuned":
        return _tuned(X, y, seed)
    if name == "histgb":
        return HistGradientBoostingClassifier()
    if name == "catboost":
        return default_estimator("catboost").set_params(thread_count=1)
    if name == "mlp":
        return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), MLPClassifier(max_iter=60))
    raise InputError(f"No backbone is called {name!r}; choose among {', '.join(BACKBONES)}.")


def seeded(estimator: BaseEstimator, seed: int) -> BaseEstimator:
    """Seed an estimator that is not fitted by dips."""
    names = find_backbone(estimator).seed_parameters(estimator)
    return estimator.set_params(**dict.fromkeys(names, seed % 2**31))


def _slow_trees(**settings: Any) -> XGBClassifier:
    return default_estimator("xgboost").set_params(n_jobs=1, **settings)


def _tuned(X: Array, y: Array, seed: int) -> XGBClassifier:
    """Depth and learning rate by three folds; where a class has too few rows for them, the sensible trees."""
    if np.bincount(y).min() < 3:
        return _slow_trees()
    folds = StratifiedKFold(3, shuffle=True, random_state=seed % 2**32)
    search = GridSearchCV(_slow_trees(random_state=0), _GRID, cv=folds, refit=False)
    return _slow_trees(**search.fit(X, y).best_params_)
