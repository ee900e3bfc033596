"""What the estimators share: tables in, predictions out, and the attributes that a fit leaves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from dips._data.arrow import as_array, as_pandas
from dips._data.categories import Categories, common_categories, with_categories
from dips._data.containers import as_rows, check_columns, row_names, stack
from dips._data.encoder import TableEncoder
from dips._data.known import Known
from dips._data.labels import Labels, true_label_table, true_labels
from dips._data.parquet import ParquetPool
from dips._data.pool import NumberedPool, StackedPool, TablePool
from dips._estimators.class_summary import class_summary, warn_of_classes_in_danger
from dips._estimators.parameters import BackboneParameters
from dips._estimators.routing import make_fit_params, router_of
from dips._estimators.samples import by_target, samples_of_rounds
from dips._estimators.validation import code_class_weights, or_default
from dips._rounds.state import RoundsState
from dips._rounds.training import Trainer
from dips._spark.executors import task_cpus
from dips._spark.pool import check_types, is_spark_frame
from dips._spark.predictions import predicted_frame
from dips._tools.arrays import Array
from dips.backbones import find_backbone
from dips.curators import Curator
from dips.exceptions import InputError, InputTypeError


class CuratingClassifier(BackboneParameters, ClassifierMixin, BaseEstimator):
    """Base of the estimators that curate. A subclass writes ``fit``, with these helpers:

    ``_make_pool`` puts all rows into one pool, ``_make_trainer`` makes what trains on it, and ``_keep`` sets the
    learned attributes that all these estimators have. ``_tell`` is for studies, which know more than ``fit`` is given.
    """

    estimator: BaseEstimator | None
    curator: str | Curator | Callable[..., Any]
    random_state: Any
    n_jobs: int | None
    _told: Known | None = None

    def _tell(self, known: Known | None) -> Self:
        """Say what is known of the errors in all labels, of which the next fits may see a part, such as a fold.

        So it is not checked against their labels, as what the curator says is: whoever tells it has checked it. A
        clone does not know it.
        """
        self._told = known
        return self

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C), in the order of ``classes_``; for multi-label, (n, L) of each label."""
        check_is_fitted(self)
        X = self._table(X, learn=False)
        if not self.multilabel_:
            return _probabilities(self.estimator_, X)
        return np.column_stack([_probabilities(fitted, X)[:, 1] for fitted in self.estimators_])

    def predict_frame(self, df: Any, key: str | None = None) -> Any:
        """Return a Spark DataFrame with predicted_label, probability and a probability per class for every row of `df`.

        Beside them stands the key, or every column of `df` if none is named. Spark computes it when it is used; the
        encoder and the model are sent, nothing else.
        """
        check_is_fitted(self)
        if self.multilabel_:
            raise InputError("predict_frame works with one label column; fit one classifier for each column of y.")
        if not is_spark_frame(df):
            raise InputTypeError(f"predict_frame takes a Spark DataFrame; got {type(df).__name__}. Use predict for it.")
        backbone = find_backbone(self.estimator_)
        predict = partial(backbone.predict_proba, backbone.on_threads(self.estimator_, task_cpus(df.sparkSession)))
        names = getattr(self, "feature_names_in_", None)
        columns = [c for c in df.columns if c != key] if names is None else list(names)
        check_types(dict(df.dtypes), columns)
        convert = as_array if names is None else as_pandas
        kept = None if key is None else [key]
        return predicted_frame(df, kept, columns, convert, partial(_encoded, self.encoder_), predict, self.classes_)

    def predict(self, X: Any) -> Array:
        """Most probable class; for multi-label, a 0/1 matrix."""
        p = self.predict_proba(X)
        return (p > 0.5).astype(np.int64) if self.multilabel_ else self.classes_[p.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy (for multi-label, of whole rows); refused where a row has no label to compare with."""
        check_is_fitted(self)
        truth = true_label_table(y, self.classes_) if self.multilabel_ else true_labels(y, self.classes_)
        return float(accuracy_score(truth, self.predict(X), sample_weight=sample_weight))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what ``fit`` takes itself, and what it passes on to the backbone's own ``fit``."""
        return router_of(self, or_default(self.estimator))

    def _make_pool(
        self, estimator: BaseEstimator, X: Any, X_unlabeled: Any = None
    ) -> tuple[NumberedPool, pd.Index | None]:
        """Return all rows as the backbone wants them, the unlabeled last, and their names where they have any."""
        self.encoder_ = _make_encoder(estimator, X)
        if X_unlabeled is None:
            return TablePool(self._table(X, learn=True)), row_names(X)
        if isinstance(X_unlabeled, ParquetPool):
            files, encode = self._encode_pool(estimator, X, X_unlabeled)
            for _ in files.batches():  # refuse what cannot be read before any work is done
                pass
            return StackedPool([TablePool(encode(X)), files]), None
        if _are_numbers(X, X_unlabeled):  # no need to copy them into one table
            self._table(X, learn=True)
            parts = [TablePool(self._table(part, learn=False)) for part in (X, X_unlabeled)]
            return StackedPool(parts), None
        both = stack(X, X_unlabeled)
        return TablePool(self._table(both, learn=True)), row_names(both)

    def _encode_pool(self, estimator: BaseEstimator, X: Any, pool: Any) -> tuple[Any, Callable[[Any], Any]]:
        """Learn columns and categories from labeled rows and a pool; return the pool encoded, and the function for it.

        The function holds the encoder and nothing else of this classifier, so it can be sent to where the rows are.
        """
        self.encoder_ = _make_encoder(estimator, X)
        pool = pool.like(X)
        vocabulary = pool.vocabulary()
        categories = common_categories(X, vocabulary, ordered_only=self.encoder_ is not None)
        self._table(stack(X, with_categories(vocabulary, categories)), learn=True)
        encode = partial(_encoded_alike, self.encoder_, categories)
        return pool.transformed(encode), encode

    def _make_trainer(
        self,
        estimator: BaseEstimator,
        pool: NumberedPool,
        labels: Labels,
        weights: Array | None,
        fit_params: dict[str, Any],
        groups: Array | None,
        n_unlabeled: int = 0,
        rng: np.random.RandomState | None = None,
    ) -> Trainer:
        """Return what trains clones of the estimator on rows of the pool, the last `n_unlabeled` being X_unlabeled.

        Each of these is a group of its own.
        """
        encode = partial(self._table, learn=False)
        names = () if self.encoder_ is None else getattr(self, "feature_names_in_", ())
        n = pool.n_rows - n_unlabeled
        passed_on = make_fit_params(fit_params, estimator, n, n_unlabeled, labels, encode, names)
        estimator = code_class_weights(estimator, labels.classes)
        rng = check_random_state(self.random_state) if rng is None else rng
        if groups is not None:
            groups = np.append(groups, groups.max() + 1 + np.arange(n_unlabeled))
        return Trainer(estimator, pool, labels.classes.size, weights, rng, self.n_jobs, passed_on, groups)

    def _keep(
        self,
        targets: list[Labels],
        curators: list[Curator],
        results: list[RoundsState],
        pool: NumberedPool,
        index: pd.Index | None,
    ) -> None:
        """Set the learned attributes; those of a multi-label fit name the label each line is about."""
        self.multilabel_ = len(targets) > 1
        self.class_summary_ = class_summary(targets, results)
        warn_of_classes_in_danger(self.class_summary_)
        histories = [pd.DataFrame(state.history) for state in results]
        samples = [samples_of_rounds(s, labels, pool, index) for s, labels in zip(results, targets, strict=True)]
        if not self.multilabel_:
            self.classes_, self.estimator_, self.curator_ = targets[0].classes, results[0].estimator, curators[0]
            self.history_, self.samples_ = histories[0], samples[0]
            return
        names = [labels.name for labels in targets]
        self.classes_ = np.asarray(names)
        self.estimators_, self.curators_ = [state.estimator for state in results], curators
        self.history_, self.samples_ = by_target(histories, names), by_target(samples, names)

    def _table(self, X: Any, learn: bool) -> Any:
        """Return the table as the backbone wants it: as it is for pipelines, as numbers for others."""
        check_columns(self, X, reset=learn)
        return _encoded(self.encoder_, X, learn)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "samples_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        backbone = get_tags(or_default(self.estimator))
        tags.input_tags.sparse = backbone.input_tags.sparse
        tags.input_tags.allow_nan = backbone.input_tags.allow_nan
        tags.classifier_tags.multi_label = True
        return tags


def one_or_list(values: list[Any], multilabel: bool) -> Any:
    """Return the one value of a plain fit, or the list of a multi-label fit."""
    return values if multilabel else values[0]


def _make_encoder(estimator: BaseEstimator, X: Any) -> TableEncoder | None:
    """Return a new encoder, or None where the backbone takes the table as it is."""
    is_no_table = getattr(X, "ndim", 2) > 2  # images and the like
    return None if is_no_table or find_backbone(estimator).reads_frames(estimator) else TableEncoder()


def _encoded(encoder: TableEncoder | None, X: Any, learn: bool = False) -> Any:
    return as_rows(X) if encoder is None else encoder.encode(X, learn)


def _encoded_alike(encoder: TableEncoder | None, categories: Categories, X: Any) -> Any:
    return _encoded(encoder, with_categories(X, categories))


def _are_numbers(X: Any, other: Any) -> bool:
    """Whether both are arrays of numbers with the same columns."""
    arrays = [t for t in (X, other) if isinstance(t, np.ndarray) and t.ndim == 2 and t.dtype.kind in "fiub"]
    return len(arrays) == 2 and X.shape[1] == other.shape[1]


def _probabilities(fitted: BaseEstimator, X: Any) -> Array:
    return find_backbone(fitted).predict_proba(fitted, X)
