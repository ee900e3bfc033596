"""LightGBM: a checkpoint is a boosting round."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dips._forest import Forest
from dips._tools.arrays import Array
from dips.backbones._base import StagedBackbone, normalized, probabilities, random_tree_parameters
from dips.backbones._boosting import size_for
from dips.backbones._registry import register_backbone
from dips.backbones._stored_lightgbm import check_lightgbm
from dips.exceptions import InputError

_OBJECTIVES = (None, "binary", "multiclass", "softmax")
_ONE_AGAINST_THE_REST = ("multiclassova", "multiclass_ova", "ova", "ovr")


class LoadedBooster:
    """A LightGBM booster read from a file; it predicts as its classifier did."""

    def __init__(self, booster: Any, n_jobs: int | None = None) -> None:
        self.booster_, self.n_jobs = booster, n_jobs

    def set_params(self, n_jobs: int | None) -> None:
        """Set on how many threads it predicts."""
        self.n_jobs = n_jobs

    def predict_proba(self, X: Any, raw_score: bool = False, **rounds: int) -> Array:
        """Class probabilities (n, C), or the raw scores, of all or some of the boosting rounds."""
        p = np.asarray(self.booster_.predict(X, raw_score=raw_score, num_threads=self.n_jobs or 0, **rounds))
        return np.column_stack([1 - p, p]) if p.ndim == 1 and not raw_score else p


@register_backbone
class LightGBM(StagedBackbone):
    """``LGBMClassifier`` with additive boosters."""

    handles = ("lightgbm.LGBMClassifier", "dips.LoadedBooster")
    name = "lightgbm"
    libraries = ("lightgbm",)
    file_name = "backbone.txt"
    threads = "n_jobs"

    @staticmethod
    def default(n_labels: int = 0) -> BaseEstimator:
        """Slow, small, subsampled trees; for thousands of labels, a larger model."""
        from lightgbm import LGBMClassifier

        size = size_for(n_labels)
        return LGBMClassifier(
            n_estimators=size.n_trees,
            learning_rate=size.learning_rate,
            num_leaves=2 ** (size.depth + 1) - 1,
            subsample=0.8,
            subsample_freq=1,
            verbosity=-1,
        )

    def check(self, estimator: BaseEstimator) -> None:
        """Refuse random forests, and scores that are not log-odds."""
        params = estimator.get_params()
        if params["boosting_type"] == "rf":
            raise InputError(
                'LGBMClassifier(boosting_type="rf") is a random forest, not trained step by step, so it has no '
                'learning dynamics; use boosting_type="gbdt", or curator="auto".'
            )
        if params["objective"] not in _OBJECTIVES or params.get("sigmoid", 1) != 1:
            raise InputError(
                "LGBMClassifier with an objective or a sigmoid of its own does not add up to class probabilities round "
                'by round; use objective="binary" or "multiclass" with sigmoid=1, or curator="auto".'
            )

    def n_checkpoints(self, estimator: BaseEstimator, X: Any) -> int:
        """Count the rounds that were grown; LightGBM stops when no split helps."""
        return max(int(estimator.booster_.current_iteration()), 1)

    def stages(self, estimator: BaseEstimator, X: Any) -> Iterator[Array]:
        """Add up the raw scores of one round after another."""
        margin: Array | float = 0.0
        for e in range(self.n_checkpoints(estimator, X)):
            # The estimator respects its n_jobs; the booster alone would use every core.
            margin = margin + estimator.predict_proba(X, raw_score=True, start_iteration=e, num_iteration=1)
            yield probabilities(np.asarray(margin))

    def forest(self, estimator: BaseEstimator, X: Any) -> Forest | None:
        """Read the trees from the model's own text."""
        if not Forest.reads(X):
            return None
        n_outputs = int(estimator.booster_.num_model_per_iteration())
        try:
            forest = _read(estimator.booster_.model_to_string(), n_outputs)
        except ValueError:  # a release that writes its models in another way
            return None
        return forest and forest.calibrated(X, lambda probes: estimator.predict_proba(probes, raw_score=True))

    def predict_proba(self, estimator: BaseEstimator, X: Any) -> Array:
        """Class probabilities (n, C); those of one class against the rest must be made to add up to 1."""
        p = super().predict_proba(estimator, X)
        return normalized(p) if estimator.booster_.params.get("objective") in _ONE_AGAINST_THE_REST else p

    def use_threads(self, fitted: BaseEstimator, n_threads: int | None) -> None:
        """Set the parameter; LightGBM reads it at each prediction."""
        fitted.set_params(n_jobs=n_threads)

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

    def save(self, fitted: BaseEstimator, path: Path) -> None:
        """Write LightGBM's own text."""
        path.write_text(fitted.booster_.model_to_string(), encoding="utf-8")

    def check_file(self, path: Path, n_features: int | None, n_classes: int) -> None:
        """Look at every tree."""
        check_lightgbm(path, n_features, n_classes)

    def load(self, path: Path, unfitted: BaseEstimator | None = None) -> BaseEstimator:
        """Read the booster; LightGBM cannot turn it back into a classifier."""
        from lightgbm import Booster

        n_jobs = None if unfitted is None else unfitted.get_params()["n_jobs"]
        return LoadedBooster(Booster(model_str=path.read_text(encoding="utf-8")), n_jobs)


_CATEGORICAL, _DEFAULT_LEFT, _ZERO_IS_MISSING, _NAN_IS_MISSING = 1, 2, 4, 8  # bits of decision_type


def _read(model: str, n_outputs: int) -> Forest | None:
    """Lay out the trees, each with its inner nodes first and then its leaves, which the text numbers separately."""

    def column(name: str, dtype: type) -> list[Array]:
        return [np.array(line.split(), dtype=dtype) for line in re.findall(rf"^{name}=(.*)$", model, re.MULTILINE)]

    decisions = np.concatenate(column("decision_type", int))
    is_linear = any(flag.any() for flag in column("is_linear", int))
    if is_linear or (decisions & (_CATEGORICAL | _ZERO_IS_MISSING)).any():
        return None
    leaves = column("leaf_value", float)
    n_leaves = [leaf.size for leaf in leaves]

    def nodes(inner: list[Array], of_leaves: list[Array] | int) -> Array:
        """Join the values of inner nodes and leaves, tree by tree."""
        if isinstance(of_leaves, int):
            of_leaves = [np.full(n, of_leaves) for n in n_leaves]
        return np.concatenate([part for pair in zip(inner, of_leaves, strict=True) for part in pair])

    def children(name: str) -> list[Array]:
        return [np.where(c < 0, n - 1 + ~c, c) for c, n in zip(column(name, int), n_leaves, strict=True)]

    threshold = column("threshold", float)
    missing_left = [
        np.where(d & _NAN_IS_MISSING, d & _DEFAULT_LEFT, t >= 0)  # if none was missing in training, NaN counts as 0
        for d, t in zip(column("decision_type", int), threshold, strict=True)
    ]
    n_trees = len(leaves)
    return Forest.of(
        left=nodes(children("left_child"), -1),
        right=nodes(children("right_child"), -1),
        feature=nodes(column("split_feature", int), 0),
        threshold=nodes(threshold, 0).astype(np.float64),
        value=nodes([np.zeros(n - 1) for n in n_leaves], leaves),
        missing_left=nodes(missing_left, 0) > 0,
        sizes=[2 * n - 1 for n in n_leaves],
        outputs=np.arange(n_trees) % n_outputs,
        rounds=np.arange(0, n_trees + 1, n_outputs),
        n_outputs=n_outputs,
    )
