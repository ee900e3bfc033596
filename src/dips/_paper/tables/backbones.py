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
        from catboost import CatBoostClassifier

        return CatBoostClassifier(
            iterations=200, learning_rate=0.05, depth=4, thread_count=1, allow_writing_files=False, verbose=False
        )
    if name == "mlp":
        return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), MLPClassifier(max_iter=60))
    raise InputError(f"No backbone is called {name!r}; choose among {', '.join(BACKBONES)}.")


def seeded(estimator: BaseEstimator, seed: int) -> BaseEstimator:
    """Set whatever seeds an estimator has, for those that are not fitted by dips."""
    seeds: dict[str, Any] = {p: seed % 2**31 for p in estimator.get_params() if p.endswith("random_state")}
    if type(estimator).__name__ == "CatBoostClassifier":
        seeds = {"random_seed": seed % 2**31}
    return estimator.set_params(**seeds)


def _slow_trees(**settings: Any) -> XGBClassifier:
    common = {"n_estimators": 200, "learning_rate": 0.05, "max_depth": 3, "subsample": 0.8, "n_jobs": 1}
    return XGBClassifier(**common | settings)


def _tuned(X: Array, y: Array, seed: int) -> XGBClassifier:
    """Depth and learning rate by three folds; where a class has too few rows for them, the sensible trees."""
    if np.bincount(y).min() < 3:
        return _slow_trees()
    folds = StratifiedKFold(3, shuffle=True, random_state=seed % 2**32)
    search = GridSearchCV(_slow_trees(random_state=0), _GRID, cv=folds, refit=False)
    return _slow_trees(**search.fit(X, y).best_params_)
