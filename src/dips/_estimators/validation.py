"""What a fit checks before any work is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from dips._data.containers import n_rows, row_names
from dips._data.grouped_folds import group_codes
from dips._data.labels import (
    UNLABELED,
    Labels,
    encode_targets,
    refuse_no_labels,
    refuse_other_length,
)
from dips._data.verified import Verified
from dips._tools.arrays import Array
from dips._tools.sklearn_compat import check_sample_weight
from dips._tools.warnings import warn
from dips._tools.wording import counted
from dips.backbones import default_estimator, find_backbone
from dips.exceptions import InputError, InputTypeError


def or_default(estimator: BaseEstimator | None, n_labels: int = 0) -> BaseEstimator:
    """Return the estimator that a user gave, or the default one for so many labels if that is None."""
    return default_estimator(n_labels=n_labels) if estimator is None else estimator


def check_estimator_parameter(estimator: BaseEstimator | None, targets: list[Labels]) -> BaseEstimator:
    """Return the estimator to clone and fit on these targets; refuse one without probabilities."""
    estimator = or_default(estimator, min(int(labels.is_labeled.sum()) for labels in targets))
    if isinstance(estimator, type):
        raise InputTypeError(
            f"estimator must be an object; got the class {estimator.__name__}. Write {estimator.__name__}()."
        )
    if not hasattr(estimator, "predict_proba"):
        raise InputError(
            f"{type(estimator).__name__} gives no class probabilities, which pseudo-labels and curation are made of; "
            'choose a classifier with predict_proba, or a setting that has it (loss="log_loss" for SGDClassifier, a '
            "final_estimator for StackingClassifier, CalibratedClassifierCV around SVC)."
        )
    return estimator


def check_targets(model: BaseEstimator, X: Any, y: Any, *, all_labeled: bool = False) -> list[Labels]:
    """Return the labels as codes: one column, or one per label where y is multi-label."""
    refuse_no_labels(model, y)
    targets = encode_targets(y, all_labeled=all_labeled)
    refuse_other_length(targets[0], n_rows(X))
    _warn_of_other_order(row_names(X), row_names(y))
    return targets


def check_weights(sample_weight: Any, targets: list[Labels]) -> Array | None:
    """Return one weight per row, refused where all labeled rows of a class would weigh nothing."""
    if sample_weight is None:
        return None
    n = targets[0].codes.size
    weights = check_sample_weight(sample_weight, np.empty((n, 1)), ensure_non_negative=True)
    for labels in targets:
        weighed = np.unique(labels.codes[labels.is_labeled & (weights > 0)])
        if weighed.size < labels.classes.size:
            without = np.delete(labels.classes, weighed).tolist()
            of_label = "" if labels.name is None else f" of label {labels.name!r}"
            raise InputError(
                f"sample_weight is 0 for every labeled row of class {without[0]!r}{of_label}; give at least one a "
                "positive weight."
            )
    return weights


def check_groups(groups: Any, n: int) -> Array | None:
    """Return the group of every row of X as codes (n,), where there are groups; a missing one is a group of its own."""
    if groups is None:
        return None
    if np.shape(groups) != (n,):
        raise InputError(f"groups must hold the group of every row of X, {n} of them; got {np.shape(groups)}.")
    codes = group_codes(groups)
    if not codes.any():
        raise InputError(f"groups has one value in all rows, {np.asarray(groups)[0]!s}; give what tells groups apart.")
    return codes


def append_unlabeled(
    targets: list[Labels], weights: Array | None, verified: list[Verified], n_unlabeled: int
) -> tuple[list[Labels], Array | None, list[Verified]]:
    """Return labels, weights and verified masks with `n_unlabeled` more rows: no label, and the mean weight."""
    _warn_of_minus_one(targets)
    targets = [labels.followed_by_unlabeled(n_unlabeled) for labels in targets]
    weights = None if weights is None else np.append(weights, np.full(n_unlabeled, weights.mean()))
    return targets, weights, [v.followed_by(n_unlabeled) for v in verified]


def code_class_weights(estimator: BaseEstimator, classes: Array) -> BaseEstimator:
    """Return the estimator, which is trained on codes, with the class weights that its user gave by label."""
    names, settings = classes.tolist(), {}
    for parameter, weights in estimator.get_params().items():
        if parameter.rpartition("__")[2] in ("class_weight", "class_weights") and isinstance(weights, Mapping):
            unknown = [c for c in weights if c not in names]
            if unknown:
                raise InputError(f"{parameter} names {unknown}, but the classes of y are {names}; name these.")
            # All classes and in order, because CatBoost takes the classes from here.
            settings[parameter] = {code: weights.get(c, 1.0) for code, c in enumerate(names)}
    return find_backbone(estimator).clone(estimator).set_params(**settings) if settings else estimator


def _warn_of_other_order(X: pd.Index | None, y: pd.Index | None) -> None:
    """Say that names of rows are not looked at, where they are the same and only their order differs."""
    if X is None or y is None or X.equals(y) or not (X.is_unique and y.is_unique and X.isin(y).all()):
        return
    warn(
        "X and y name the same rows in different orders, and rows are matched by position, as in scikit-learn. If the "
        "names are right, pass y.loc[X.index]."
    )


def _warn_of_minus_one(targets: list[Labels]) -> None:
    labels = targets[0]
    n_unlabeled = (~labels.is_labeled).sum()
    if len(targets) == 1 and n_unlabeled and labels.mark == UNLABELED and labels.classes.dtype.kind in "iu":
        warn(
            f"-1 in y is read as unlabeled ({counted(n_unlabeled, 'row')}), besides the rows of X_unlabeled; if it is "
            "a class, write it another way."
        )
