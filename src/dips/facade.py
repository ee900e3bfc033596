"""What the estimators share: tables and labels in, probabilities and an account of every row out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from dips._typing import Array
from dips.backbones import default_estimator, find_backbone
from dips.labels import UNLABELED, Labels, encode_labels, is_multilabel
from dips.rounds import Run
from dips.tables import TableEncoder, is_frame, n_rows, take


class CuratingClassifier(ClassifierMixin, BaseEstimator):
    """Base of the estimators that curate; subclasses implement ``_fit_labels``."""

    estimator: BaseEstimator | None

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C), in the order of ``classes_``; for multi-label, (n, L) of each label."""
        check_is_fitted(self)
        if self._is_multilabel():
            return np.column_stack([fitted.predict_proba(X)[:, 1] for fitted in self.estimators_])
        X = self._features_in(X, reset=False)
        return find_backbone(self.estimator_).predict_proba(self.estimator_, X)

    def predict(self, X: Any) -> Array:
        """Most probable class; for multi-label, a 0/1 matrix."""
        p = self.predict_proba(X)
        if self._is_multilabel():
            return (p > 0.5).astype(np.int64)
        return self.classes_[p.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; refused where some of the rows have no label to be compared with."""
        check_is_fitted(self)
        if not self._is_multilabel():
            values = pd.Series(np.asarray(y, dtype=object).ravel())
            unlabeled = values.isna() | ((values == UNLABELED) & (UNLABELED not in self.classes_.tolist()))
            if unlabeled.any():
                raise ValueError(
                    f"{unlabeled.sum()} of the {len(values)} rows to score on are unlabeled; score on labeled rows "
                    "only. In cross-validation, SemiSupervisedKFold keeps unlabeled rows out of the test folds."
                )
        return float(super().score(X, y, sample_weight))

    def _fit_table(self, X: Any, y: Any, sample_weight: Any, X_unlabeled: Any = None) -> None:
        """Validate everything before any work, then hand clean arrays to ``_fit_labels``."""
        raise NotImplementedError

    def _fit_each_label(self, X: Any, y: Any, **fit_params: Any) -> None:
        """Multi-label: every label is a binary problem of its own, with its own rounds, curator and account.

        A (row, label) pair is useful or not by itself, as the paper's selector is defined coordinate by coordinate.
        """
        names = [str(c) for c in y.columns] if is_frame(y) else list(range(y.shape[1]))
        columns = [_binary_column(y, j, name) for j, name in enumerate(names)]
        self.classes_ = np.asarray(names)
        self.estimators_ = [clone(self).fit(X, column, **fit_params) for column in columns]
        self.samples_ = pd.concat(
            [e.samples_.assign(target=n) for e, n in zip(self.estimators_, names, strict=True)],
            ignore_index=False,
        )
        self.history_ = pd.concat([e.history_.assign(target=n) for e, n in zip(self.estimators_, names, strict=True)])
        first = self.estimators_[0]
        self.n_features_in_ = first.n_features_in_
        if hasattr(first, "feature_names_in_"):
            self.feature_names_in_ = first.feature_names_in_

    def _is_multilabel(self) -> bool:
        return hasattr(self, "estimators_")

    def _backbone_estimator(self) -> BaseEstimator:
        return default_estimator() if self.estimator is None else self.estimator

    def _check_xy(self, X: Any, y: Any, sample_weight: Any, all_labeled: bool) -> tuple[Labels, Array | None]:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        labels = encode_labels(y, all_labeled=all_labeled)
        if n_rows(X) != labels.codes.size:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {n_rows(X)} rows, "
                f"y has {labels.codes.size}."
            )
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, np.empty((n_rows(X), 1)), ensure_non_negative=True)
        return labels, sample_weight

    def _features_in(self, X: Any, reset: bool) -> Any:
        """The table as the backbone wants it: as it is for pipelines, as numbers for others."""
        if is_frame(X) or np.ndim(X) != 1:  # a list of texts has no columns to count
            validate_data(self, X, reset=reset, skip_check_array=True)
        if reset:
            estimator = self._backbone_estimator()
            as_is = find_backbone(estimator).reads_frames(estimator)
            self.encoder_ = None if as_is else TableEncoder().set_output(transform="default")
            if self.encoder_ is not None:
                return self.encoder_.fit_transform(X)
        if self.encoder_ is not None:
            return self.encoder_.transform(X)
        if getattr(getattr(X, "dtype", None), "kind", "O") in "fiub":
            return check_array(X, accept_sparse="csr", ensure_all_finite="allow-nan")
        return X

    def _account(self, run: Run, labels: Labels, X: Any, encoded: Any) -> pd.DataFrame:
        """One row a row of the input: where its label came from, what became of it, and why."""
        distrusted = np.flatnonzero(run.is_given & ~run.useful)
        suggested = np.full(run.given.size, UNLABELED)
        if distrusted.size:
            # The model was not trained on these rows, so what it says of them is not what it was told.
            p = find_backbone(run.estimator).predict_proba(run.estimator, take(encoded, distrusted))
            best = p.argmax(axis=1)
            differs = best != run.given[distrusted]
            suggested[distrusted[differs]] = best[differs]
        source = np.where(run.is_given, "given", np.where(run.labels != UNLABELED, "pseudo", "unlabeled"))
        return pd.DataFrame(
            {
                "source": source,
                "given_label": _decode_or_none(labels, run.given),
                "final_label": _decode_or_none(labels, run.labels),
                "round": run.round,
                "confidence": run.confidence,
                "aleatoric": run.aleatoric,
                "useful": run.useful,
                "suggested_label": _decode_or_none(labels, suggested),
            },
            index=X.index if isinstance(X, pd.DataFrame | pd.Series) else None,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        backbone = get_tags(self._backbone_estimator())
        tags.input_tags.sparse = backbone.input_tags.sparse
        tags.input_tags.allow_nan = backbone.input_tags.allow_nan
        tags.classifier_tags.multi_label = True
        return tags


def is_label_table(y: Any) -> bool:
    """Whether `y` is multi-label."""
    return y is not None and is_multilabel(y)


def _binary_column(y: Any, j: int, name: Any) -> Array:
    """Return one label of a multi-label table as 0, 1 or None."""
    column = np.array(y.iloc[:, j] if hasattr(y, "iloc") else y[:, j], dtype=object)
    missing = pd.isna(column) | (column == UNLABELED)
    strange = set(column[~missing].tolist()) - {0, 1}
    if strange:
        raise ValueError(f"Multi-label y must hold 0, 1 or a missing value; label {name!r} holds {sorted(strange)}.")
    known = set(column[~missing].tolist())
    if len(known) < 2:
        raise ValueError(
            f"Label {name!r} needs at least one labeled 0 and one labeled 1; found only {sorted(known) or 'no'} class."
        )
    column[missing] = None
    return column


def _decode_or_none(labels: Labels, codes: Array) -> Array:
    decoded = np.full(codes.shape, None, dtype=object)
    known = codes != UNLABELED
    decoded[known] = labels.classes[codes[known]]
    return decoded
