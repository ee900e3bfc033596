"""XGBoost, the default backbone: a checkpoint is a boosting round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dips._dynamics import Watch
from dips._forest import Forest, ubjson
from dips._tools.arrays import Array
from dips.backbones._base import StagedBackbone, TableBatches, probabilities, random_tree_parameters
from dips.backbones._boosting import size_for
from dips.backbones._registry import register_backbone
from dips.backbones._stored_xgboost import check_xgboost
from dips.backbones._xgboost_categories import with_known_categories
from dips.exceptions import InputError

_MISSING = "dips_missing"  # an attribute of a stored booster
_OBJECTIVES = ("binary:logistic", "multi:softprob", "multi:softmax")


@register_backbone
class XGBoost(StagedBackbone):
    """``XGBClassifier`` with tree boosters."""

    handles = ("xgboost.XGBClassifier",)
    name = "xgboost"
    libraries = ("xgboost",)
    file_name = "backbone.ubj"
    threads = "n_jobs"

    @staticmethod
    def default(n_labels: int = 0) -> BaseEstimator:
        """Slow, shallow, subsampled trees; for thousands of labels, a larger model."""
        from xgboost import XGBClassifier

        size = size_for(n_labels)
        return XGBClassifier(
            n_estimators=size.n_trees, learning_rate=size.learning_rate, max_depth=size.depth, subsample=0.8
        )

    def check(self, estimator: BaseEstimator) -> None:
        """Refuse settings without a sequence of checkpoints or without probabilities."""
        params, name = estimator.get_params(), type(estimator).__name__
        if params["booster"] == "gblinear":
            raise InputError(
                f'{name}(booster="gblinear") cannot be replayed round by round, so it has no learning dynamics; '
                'use booster="gbtree", or curator="auto".'
            )
        if (stopping := _early_stopping(params)) is not None:
            raise InputError(
                f"{name}({stopping}) grows rounds that its predictions leave out, so it has no learning dynamics; "
                'choose n_estimators instead, or curator="auto".'
            )
        if any(c.__name__ == "XGBRFClassifier" for c in type(estimator).__mro__):
            raise InputError(
                f"{name} is a random forest, not trained step by step, so it has no learning dynamics; "
                'use XGBClassifier, or curator="auto".'
            )
        objective = params["objective"]
        if isinstance(objective, str) and objective not in _OBJECTIVES:
            raise InputError(
                f"{name}(objective={objective!r}) gives no probabilities; use one of {', '.join(_OBJECTIVES)}."
            )

    def fit(
        self,
        estimator: BaseEstimator,
        X: Any,
        y: Array,
        sample_weight: Array | None = None,
        watch: Watch | None = None,
        fit_params: dict[str, Any] | None = None,
    ) -> None:
        """Fit the estimator; numbers too large for it are told in a sentence, not in a trace of its C++."""
        rounds = estimator.get_params().get("early_stopping_rounds")
        if rounds is not None and not (fit_params or {}).get("eval_set"):
            raise InputError(
                f"{type(estimator).__name__}(early_stopping_rounds={rounds}) needs a validation set: pass eval_set to "
                "fit, by scikit-learn's metadata routing, or leave it out and choose n_estimators."
            )
        with _large_numbers_told():
            super().fit(estimator, X, y, sample_weight, watch, fit_params)

    def takes_batches(self, estimator: BaseEstimator) -> bool:
        """Only histograms are built from batches; what a ``fit`` adds to them is left to it."""
        params = estimator.get_params()
        added = ("early_stopping_rounds", "callbacks", "eval_metric", "feature_types")
        return (
            type(estimator).__name__ == "XGBClassifier"
            and params["booster"] in (None, "gbtree")
            and params["tree_method"] in (None, "auto", "hist")
            and (params["objective"] is None or params["objective"] in _OBJECTIVES)
            and not params["enable_categorical"]
            and all(params[name] is None for name in added)
        )

    def fit_batches(
        self, estimator: BaseEstimator, batches: Callable[[], TableBatches], y: Array, sample_weight: Array | None
    ) -> None:
        """Bin a batch after another: one byte a value is kept of it."""
        import xgboost

        class Batches(xgboost.DataIter):
            def next(self, input_data: Any) -> bool:
                place, X = next(self.parts, (None, None))
                if place is None:
                    return False
                input_data(data=X, label=y[place], weight=None if sample_weight is None else sample_weight[place])
                return True

            def reset(self) -> None:
                self.parts = batches()

        params, n_classes = estimator.get_xgb_params(), int(y.max()) + 1
        if n_classes > 2:
            softmax = params["objective"] == "multi:softmax"
            params |= {"objective": "multi:softmax" if softmax else "multi:softprob", "num_class": n_classes}
        with _large_numbers_told():
            rows = xgboost.QuantileDMatrix(
                Batches(), missing=estimator.missing, nthread=estimator.n_jobs, max_bin=estimator.max_bin
            )
        booster = xgboost.train(params, rows, estimator.get_num_boosting_rounds())
        estimator.load_model(booster.save_raw("ubj"))

    def predict_proba(self, estimator: BaseEstimator, X: Any) -> Array:
        """Class probabilities (n, C); categories that the training did not have are missing."""
        return super().predict_proba(estimator, with_known_categories(estimator, X))

    def n_checkpoints(self, estimator: BaseEstimator, X: Any) -> int:
        """Count boosting rounds, not trees: one round grows a tree per class."""
        return int(estimator.get_booster().num_boosted_rounds())

    def stages(self, estimator: BaseEstimator, X: Any) -> Iterator[Array]:
        """Replay the rounds in order on one DMatrix, whose prediction cache then adds one tree per step."""
        import xgboost

        params = estimator.get_params()
        rows = xgboost.DMatrix(
            with_known_categories(estimator, X),
            missing=params["missing"],
            enable_categorical=bool(params["enable_categorical"]),
            nthread=params["n_jobs"],
        )
        booster = estimator.get_booster()
        for e in range(1, self.n_checkpoints(estimator, X) + 1):
            yield probabilities(booster.predict(rows, iteration_range=(0, e), output_margin=True))

    def forest(self, estimator: BaseEstimator, X: Any) -> Forest | None:
        """Read the trees from the model's own binary form."""
        if not Forest.reads(X) or not np.isnan(estimator.get_params()["missing"]):
            return None
        booster = estimator.get_booster()
        try:
            forest = _read(ubjson.loads(booster.save_raw("ubj"))["learner"])
        except (KeyError, ValueError):  # a release that writes its models in another way
            return None
        return forest and forest.calibrated(X, lambda probes: estimator.predict(probes, output_margin=True))

    def use_threads(self, fitted: BaseEstimator, n_threads: int | None) -> None:
        """Set it in the estimator and its booster; set_params would pass on all other parameters as well."""
        fitted.n_jobs = n_threads
        fitted.get_booster().set_param("nthread", fitted.n_jobs or 0)  # 0 means all

    def reads_frames(self, estimator: BaseEstimator) -> bool:
        """Native categories need the frame's dtypes, and constraints may name its columns."""
        params = estimator.get_params()
        names_columns = isinstance(params["monotone_constraints"], dict) or (
            not isinstance(params["interaction_constraints"], str | None)  # a string means positions
        )
        return bool(params["enable_categorical"]) or names_columns

    def vary(self, estimator: BaseEstimator, rng: np.random.RandomState) -> dict[str, Any]:
        """Draw depth, rate, length and shares."""
        drawn = random_tree_parameters(rng)
        drawn["subsample"] = drawn.pop("row_share")
        drawn["colsample_bytree"] = drawn.pop("column_share")
        return drawn

    def save(self, fitted: BaseEstimator, path: Path) -> None:
        """Write XGBoost's own binary form, and with it which value is missing, which the form does not say."""
        booster, missing = fitted.get_booster(), float(fitted.missing)
        booster.set_attr(**{_MISSING: None if np.isnan(missing) else repr(missing)})
        fitted.save_model(path)
        booster.set_attr(**{_MISSING: None})

    def check_file(self, path: Path, n_features: int | None, n_classes: int) -> None:
        """Look at every tree."""
        check_xgboost(path, n_features, n_classes)

    def load(self, path: Path, unfitted: BaseEstimator | None = None) -> BaseEstimator:
        """Read it into the given classifier or a new one."""
        from xgboost import XGBClassifier

        model = XGBClassifier() if unfitted is None else unfitted
        model.load_model(path)
        missing = model.get_booster().attr(_MISSING)
        if missing is not None:
            model.missing = float(missing)
        return model


def _early_stopping(params: dict[str, Any]) -> str | None:
    """Return the setting because of which predictions leave out the last rounds; None where they use all."""
    if params["early_stopping_rounds"] is not None:
        return f"early_stopping_rounds={params['early_stopping_rounds']}"
    callbacks = [c for c in params["callbacks"] or () if type(c).__name__ == "EarlyStopping"]
    return "callbacks=[EarlyStopping(...)]" if any(not c.save_best for c in callbacks) else None


@contextmanager
def _large_numbers_told() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        if "value too large" not in str(error) or type(error).__name__ != "XGBoostError":
            raise
        raise InputError(
            "X holds numbers beyond 3.4e38, the largest that XGBoost computes with; scale them."
        ) from error


def _read(learner: dict[str, Any]) -> Forest | None:
    booster = learner["gradient_booster"]
    model = booster.get("gbtree", booster)["model"]  # dart keeps its trees one level deeper, with a weight for each
    trees = model["trees"]
    sizes = [tree["left_children"].size for tree in trees]
    n_outputs = max(1, int(learner["learner_model_param"]["num_class"]))

    def column(name: str) -> Array:
        return np.concatenate([tree[name] for tree in trees])

    has_categories = column("split_type").any()
    has_vectors = any(tree["tree_param"]["size_leaf_vector"] not in ("0", "1") for tree in trees)
    if has_categories or has_vectors:
        return None
    condition = column("split_conditions").astype(np.float32)
    weight = np.asarray(booster.get("weight_drop", np.ones(len(trees))), dtype=np.float32)
    return Forest.of(
        left=column("left_children"),
        right=column("right_children"),
        feature=column("split_indices"),
        threshold=np.nextafter(condition, np.float32(-np.inf)),  # left if strictly below
        value=condition * np.repeat(weight, sizes),
        missing_left=column("default_left"),
        sizes=sizes,
        outputs=model["tree_info"],
        rounds=model["iteration_indptr"],
        n_outputs=n_outputs,
    )
