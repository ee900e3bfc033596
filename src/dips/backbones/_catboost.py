"""CatBoost: a checkpoint is a boosting round."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dips._dynamics import Watch
from dips._forest import Leaves
from dips._tools.arrays import Array
from dips.backbones._base import StagedBackbone, normalized, random_tree_parameters
from dips.backbones._boosting import size_for
from dips.backbones._catboost_tables import as_catboost_reads
from dips.backbones._registry import register_backbone
from dips.backbones._stored_catboost import check_catboost
from dips.exceptions import InputError

_UNCHECKED = ("text_features", "embedding_features")
_MAX_DEPTH = 8  # CatBoost's trees are full: depth 16 has 65,536 leaves


@register_backbone
class CatBoost(StagedBackbone):
    """``CatBoostClassifier``, which can replay its own rounds."""

    handles = ("catboost.CatBoostClassifier",)
    name = "catboost"
    libraries = ("catboost",)
    file_name = "backbone.cbm"
    threads = "thread_count"

    @staticmethod
    def default(n_labels: int = 0) -> BaseEstimator:
        """Slow, shallow trees; for thousands of labels, a larger model."""
        from catboost import CatBoostClassifier

        size = size_for(n_labels)
        return CatBoostClassifier(
            iterations=size.n_trees,
            learning_rate=size.learning_rate,
            depth=size.depth + 1,  # its trees are symmetric
            allow_writing_files=False,
            verbose=False,
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
        """Fit the estimator, on tables that it can read."""
        given = dict(fit_params or {})
        if given.get("eval_set") is not None:
            given["eval_set"] = [(as_catboost_reads(estimator, table), labels) for table, labels in given["eval_set"]]
        with _constant_columns_told():
            super().fit(estimator, as_catboost_reads(estimator, X), y, sample_weight, watch, given)

    def takes_beliefs(self, estimator: BaseEstimator) -> bool:
        """Not with declared columns: their statistics are counts of labels, in which every class of a row is one."""
        return not self.reads_frames(estimator)

    def n_checkpoints(self, estimator: BaseEstimator, X: Any) -> int:
        """Count the trees that were kept."""
        return int(estimator.tree_count_)

    def stages(self, estimator: BaseEstimator, X: Any) -> Iterator[Array]:
        """Replay the rounds."""
        X, threads = as_catboost_reads(estimator, X), self._thread_count(estimator)
        yield from map(normalized, estimator.staged_predict_proba(X, thread_count=threads))

    def forest(self, estimator: BaseEstimator, X: Any) -> Leaves | None:
        """CatBoost itself finds the leaf of a row, so any kind of column and any shape of tree works."""
        if estimator.get_all_params().get("loss_function") == "MultiClassOneVsAll":
            return None  # its probabilities are not a softmax
        threads = self.n_threads(estimator)
        return Leaves.calibrated(
            lambda table: estimator.calc_leaf_indexes(as_catboost_reads(estimator, table), thread_count=1),
            estimator.get_leaf_values(),
            np.asarray(estimator.get_tree_leaf_counts()),
            X,
            lambda probes: estimator.predict(
                as_catboost_reads(estimator, probes), prediction_type="RawFormulaVal", thread_count=threads
            ),
        )

    def predict_proba(self, estimator: BaseEstimator, X: Any) -> Array:
        """Class probabilities (n, C); those of ``MultiClassOneVsAll`` must be made to add up to 1."""
        X = as_catboost_reads(estimator, X)
        return normalized(estimator.predict_proba(X, thread_count=self._thread_count(estimator)))

    def takes_threads(self, estimator: BaseEstimator) -> bool:
        """Every one does: CatBoost's ``get_params`` lists only the parameters that were set."""
        return True

    def use_threads(self, fitted: BaseEstimator, n_threads: int | None) -> None:
        """Note it as a state, because CatBoost refuses to set parameters of a fitted model."""
        fitted.__setstate__({self.threads: -1 if n_threads is None else n_threads})

    def _thread_count(self, estimator: BaseEstimator) -> int:
        """Return the user's own setting: CatBoost predicts on all cores unless every call says otherwise."""
        return int(estimator.get_params().get(self.threads) or -1)

    def reads_frames(self, estimator: BaseEstimator) -> bool:
        """CatBoost wants columns that are declared categorical, text or embedding unchanged."""
        params = estimator.get_params()
        return any(params.get(kind) is not None for kind in ("cat_features", *_UNCHECKED))

    def clone(self, estimator: BaseEstimator) -> BaseEstimator:
        """Build a new one: scikit-learn's clone refuses that CatBoost copies lists such as ``cat_features``."""
        return type(estimator)(**deepcopy(estimator.get_params()))

    def seed_parameters(self, estimator: BaseEstimator) -> list[str]:
        """Name the seed: CatBoost's ``get_params`` lists only the parameters that were set."""
        return ["random_state" if "random_state" in estimator.get_params() else "random_seed"]

    def quiet_parameters(self, estimator: BaseEstimator) -> dict[str, Any]:
        """By default CatBoost prints every round and writes a folder where it runs."""
        given = estimator.get_params()
        quiet: dict[str, Any] = {} if "allow_writing_files" in given else {"allow_writing_files": False}
        if not {"verbose", "silent", "logging_level", "verbose_eval"} & set(given):
            quiet["verbose"] = False
        return quiet

    def vary(self, estimator: BaseEstimator, rng: np.random.RandomState) -> dict[str, Any]:
        """Draw depth, rate, length and shares, under the aliases that the user chose."""
        drawn = random_tree_parameters(rng)
        given = estimator.get_params()
        names = {
            "max_depth": ("depth", "max_depth"),
            "learning_rate": ("learning_rate", "eta"),
            "n_estimators": ("iterations", "n_estimators", "num_boost_round", "num_trees"),
            "column_share": ("rsm", "colsample_bylevel"),
        }
        drawn["max_depth"] = min(drawn["max_depth"], _MAX_DEPTH)
        return {next((n for n in aliases if n in given), aliases[0]): drawn[k] for k, aliases in names.items()}

    def save(self, fitted: BaseEstimator, path: Path) -> None:
        """Write CatBoost's own binary form, unless its tables could not be checked when it is loaded."""
        if any(fitted.get_params().get(kind) is not None for kind in _UNCHECKED):
            raise InputError(
                "CatBoost keeps what it learned of texts and embeddings in tables that dips cannot check when they are "
                "loaded, so this model is not saved here; use its own save_model, or leave those columns out."
            )
        fitted.save_model(str(path), format="cbm")

    def check_file(self, path: Path, n_features: int | None, n_classes: int) -> None:
        """Look at every tree."""
        check_catboost(path, n_features, n_classes)

    def load(self, path: Path, unfitted: BaseEstimator | None = None) -> BaseEstimator:
        """Read it into the given classifier or a new one."""
        from catboost import CatBoostClassifier

        model = CatBoostClassifier() if unfitted is None else unfitted
        return model.load_model(str(path), format="cbm")


@contextmanager
def _constant_columns_told() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if "constant or ignored" not in str(error) or type(error).__name__ != "CatBoostError":
            raise
        raise InputError(
            "No column varies among the rows of a training, and CatBoost learns nothing from such rows; choose another "
            "backbone, or give it columns that vary."
        ) from error
