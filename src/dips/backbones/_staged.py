"""scikit-learn's boosting, and anything else with ``staged_predict_proba``: a checkpoint is a stage."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dips._data.containers import take
from dips._forest import Forest
from dips._tools.arrays import Array
from dips.backbones._base import StagedBackbone, random_tree_parameters


class Staged(StagedBackbone):
    """Any estimator that can replay its own stages; found by that method, not by name."""

    def prepare(self, estimator: BaseEstimator, X: Any, y: Array) -> tuple[Any, Array]:
        """Make columns constant that have no value in any training row."""
        return _without_empty_columns(X), y

    def n_checkpoints(self, estimator: BaseEstimator, X: Any) -> int:
        """Count the stages that were grown, by replaying one row if the estimator has no count."""
        for name in ("n_iter_", "n_estimators_"):
            if isinstance(count := getattr(estimator, name, None), Integral):
                return int(count)
        return sum(1 for _ in self.stages(estimator, take(X, np.array([0]))))

    def stages(self, estimator: BaseEstimator, X: Any) -> Iterator[Array]:
        """Replay the stages."""
        yield from estimator.staged_predict_proba(X)

    def forest(self, estimator: BaseEstimator, X: Any) -> Forest | None:
        """Read the trees of a HistGradientBoostingClassifier, if its private attribute is there."""
        grown = getattr(estimator, "_predictors", None)
        if not grown or not Forest.reads(X) or getattr(estimator, "is_categorical_", None) is not None:
            return None
        try:
            forest = _read([[tree.nodes for tree in stage] for stage in grown])
        except (AttributeError, ValueError):  # a release that keeps its trees in another way
            return None
        return forest.calibrated(X, estimator.decision_function)

    def reads_frames(self, estimator: BaseEstimator) -> bool:
        """HistGradientBoosting's categorical or monotonic columns may be given by name."""
        params = estimator.get_params()
        if isinstance(params.get("monotonic_cst"), dict):
            return True
        columns = params.get("categorical_features")
        return columns is not None and not isinstance(columns, str) and any(isinstance(c, str) for c in columns)

    def vary(self, estimator: BaseEstimator, rng: np.random.RandomState) -> dict[str, Any]:
        """Draw depth, rate, length and shares, as far as the estimator has them."""
        drawn = random_tree_parameters(rng)
        drawn["max_iter"] = drawn["n_estimators"]
        drawn["subsample"] = drawn.pop("row_share")
        drawn["max_features"] = drawn.pop("column_share")
        given = estimator.get_params()
        return {name: value for name, value in drawn.items() if name in given}


def _read(stages: list[list[Array]]) -> Forest:
    trees = [nodes for stage in stages for nodes in stage]
    nodes, n_outputs = np.concatenate(trees), len(stages[0])
    is_leaf = nodes["is_leaf"] == 1
    return Forest.of(
        left=np.where(is_leaf, -1, nodes["left"].astype(np.int64)),
        right=np.where(is_leaf, -1, nodes["right"].astype(np.int64)),
        feature=nodes["feature_idx"],
        threshold=nodes["num_threshold"].astype(np.float64),
        value=nodes["value"],
        missing_left=nodes["missing_go_to_left"],
        sizes=[tree.size for tree in trees],
        outputs=np.arange(len(trees)) % n_outputs,
        rounds=np.arange(0, len(trees) + 1, n_outputs),
        n_outputs=n_outputs,
    )


def _without_empty_columns(X: Any) -> Any:
    """Fill columns that are all missing, as can happen in a fold: HistGradientBoosting cannot bin them.

    No tree splits on a constant, so the value put there does not matter.
    """
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f":
        return X
    empty = np.isnan(X).all(axis=0)
    return np.where(empty, 0.0, X) if empty.any() else X
