"""The backbones that are compared: the paper's, and sensible ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

from dips._tools.arrays import Array
from dips.backbones import default_estimator, find_backbone
from dips.exceptions import InputError

WITH_CHECKPOINTS = ("xgboost paper", "xgboost sensible", "xgboost tuned", "histgb", "catboost", "mlp", "lightgbm")
BACKBONES = (*WITH_CHECKPOINTS, "logistic regression", "random forest")
_DEPTH_AND_RATE: dict[str, list[Any]] = {"max_depth": [2, 4], "learning_rate": [0.03, 0.1]}
_GRIDS: dict[str, dict[str, list[Any]]] = {  # of the tuned model
    "xgboost paper": _DEPTH_AND_RATE,
    "xgboost sensible": _DEPTH_AND_RATE,
    "histgb": _DEPTH_AND_RATE,
    "lightgbm": _DEPTH_AND_RATE,
    "catboost": {"depth": [2, 4], "learning_rate": [0.03, 0.1]},
    "mlp": {"mlpclassifier__alpha": [1e-4, 1.0], "mlpclassifier__learning_rate_init": [1e-3, 1e-2]},
    "logistic regression": {"logisticregression__C": [0.01, 0.1, 1.0, 10.0]},
    "random forest": {"min_samples_leaf": [1, 3, 10]},
}
_N_FOLDS = 3


def make_backbone(name: str, X: Array, y: Array, seed: int) -> BaseEstimator:
    """Return an unfitted classifier; the tuned one is chosen by cross-validation on the labeled rows as they are."""
    if name == "xgboost paper":
        return XGBClassifier(n_jobs=1)
    if name == "xgboost sensible":
        return _slow_trees()
    if name == "xgboost tuned":
        return _tuned_trees(X, y, seed)
    if name == "histgb":
        return HistGradientBoostingClassifier()
    if name in ("catboost", "lightgbm"):
        return default_estimator(name).set_params(**{"thread_count" if name == "catboost" else "n_jobs": 1})
    if name == "mlp":
        return _scaled(MLPClassifier(max_iter=60))
    if name == "logistic regression":
        return _scaled(LogisticRegression(max_iter=300))
    if name == "random forest":
        return RandomForestClassifier(n_jobs=1)
    raise InputError(f"No backbone is called {name!r}; choose among {', '.join(BACKBONES)}.")


def tuned(name: str, backbone: BaseEstimator, X: Array, y: Array, seed: int) -> BaseEstimator:
    """The backbone with the settings of least log loss in three folds; as it is, where a class is too small for them.

    Folds have the labels as they are, wrong ones included: nobody knows better.
    """
    within = folds(y, seed)
    if name not in _GRIDS or within is None:
        return backbone
    search = GridSearchCV(seeded(backbone, seed), _GRIDS[name], scoring="neg_log_loss", cv=within, refit=False)
    return backbone.set_params(**search.fit(X, y).best_params_)


def folds(y: Array, seed: int) -> StratifiedKFold | None:
    """Three folds with all classes in each; None where a class has too few rows for them."""
    if np.bincount(y).min() < _N_FOLDS:
        return None
    return StratifiedKFold(_N_FOLDS, shuffle=True, random_state=seed % 2**32)


def seeded(estimator: BaseEstimator, seed: int) -> BaseEstimator:
    """Seed an estimator that is not fitted by dips."""
    names = find_backbone(estimator).seed_parameters(estimator)
    return estimator.set_params(**dict.fromkeys(names, seed % 2**31))


def _slow_trees(**settings: Any) -> XGBClassifier:
    return default_estimator("xgboost").set_params(n_jobs=1, **settings)


def _scaled(classifier: BaseEstimator) -> BaseEstimator:
    return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), classifier)


def _tuned_trees(X: Array, y: Array, seed: int) -> XGBClassifier:
    """Depth and learning rate by accuracy in three folds; where a class has too few rows, the sensible trees."""
    within = folds(y, seed)
    if within is None:
        return _slow_trees()
    search = GridSearchCV(_slow_trees(random_state=0), _DEPTH_AND_RATE, cv=within, refit=False)
    return _slow_trees(**search.fit(X, y).best_params_)
