"""LightGBM: a checkpoint is a boosting round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dips._typing import Array
from dips.backbones.base import StagedBackbone, normalized, probabilities, random_tree_parameters

_OBJECTIVES = (None, "binary", "multiclass", "softmax")
_ONE_AGAINST_THE_REST = ("multiclassova", "multiclass_ova", "ova", "ovr")


class LightGBM(StagedBackbone):
    """``LGBMClassifier`` with additive boosters."""

    handles = ("lightgbm.LGBMClassifier",)
    threads = "n_jobs"

    def check(self, estimator: BaseEstimator) -> None:
        """Refuse the booster that averages trees grown side by side, and scores that are no log-odds."""
        params = estimator.get_params()
        if params["boosting_type"] == "rf":
            raise ValueError(
                'LGBMClassifier(boosting_type="rf") is a random forest, not trained step by step, so it has no '
                'learning dynamics; use boosting_type="gbdt", or curator="none".'
            )
        if params["objective"] not in _OBJECTIVES or params.get("sigmoid", 1) != 1:
            raise ValueError(
                "LGBMClassifier with an objective or a sigmoid of its own does not add up to class probabilities round "
                'by round; use objective="binary" or "multiclass" with sigmoid=1, or curator="none".'
            )

    def n_checkpoints(self, estimator: BaseEstimator, X: Any) -> int:
        """Count the rounds really grown; LightGBM stops when no split helps."""
        return max(int(estimator.booster_.current_iteration()), 1)

    def stages(self, estimator: BaseEstimator, X: Any) -> Iterator[Array]:
        """Add up the raw scores of one round after another."""
        margin: Array | float = 0.0
        for e in range(self.n_checkpoints(estimator, X)):
            # Asked through the estimator, which minds its n_jobs; the booster alone would take every core.
            margin = margin + estimator.predict_proba(X, raw_score=True, start_iteration=e, num_iteration=1)
            yield probabilities(np.asarray(margin))

    def predict_proba(self, estimator: BaseEstimator, X: Any) -> Array:
        """Those of one class against the rest do not add up to 1 by themselves."""
        p = super().predict_proba(estimator, X)
        return normalized(p) if estimator.get_params()["objective"] in _ONE_AGAINST_THE_REST else p

    def release_threads(self, fitted: BaseEstimator, original: BaseEstimator) -> None:
        """Threads of a prediction are read when it is made."""
        fitted.set_params(n_jobs=original.get_params()["n_jobs"])

    def quiet_parameters(self, estimator: BaseEstimator) -> dict[str, Any]:
        """By default LightGBM prints what it finds in the data."""
        return {} if {"verbose", "verbosity"} & set(estimator.get_params()) else {"verbosity": -1}

    def vary(self, estimator: BaseEstimator, rng: np.random.RandomState) -> dict[str, Any]:
        """Draw depth, rate, length and shares."""
        drawn = random_tree_parameters(rng)
        drawn["subsample"] = drawn.pop("row_share")
        drawn["subsample_freq"] = 1  # without it LightGBM ignores subsample
        drawn["colsample_bytree"] = drawn.pop("column_share")
        return drawn
