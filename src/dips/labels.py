"""Labels as people have them, to codes 0..C-1 with -1 for unlabeled, and back."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.multiclass import check_classification_targets

from dips._typing import Array

UNLABELED = -1


@dataclass(frozen=True)
class Labels:
    """One label column: codes (n,), the classes they index, and how an unlabeled row is written in the input."""

    codes: Array
    classes: Array
    mark: Any

    @property
    def is_labeled(self) -> Array:
        """Mask of the labeled rows."""
        return self.codes != UNLABELED

    def decode(self, codes: Array) -> Array:
        """Codes back to labels; -1 to the input's own mark."""
        if (codes != UNLABELED).all():
            return self.classes[codes]
        decoded = np.full(codes.shape, self.mark, dtype=self.classes.dtype if self.mark == UNLABELED else object)
        known = codes != UNLABELED
        decoded[known] = self.classes[codes[known]]
        return decoded


def is_multilabel(y: Any) -> bool:
    """Whether `y` is a table of labels, one column each."""
    return len(getattr(y, "shape", ())) == 2 and y.shape[1] > 1


def encode_labels(y: Any, *, all_labeled: bool = False) -> Labels:
    """Find the classes and the unlabeled rows of one label column.

    A row is unlabeled if its label is missing (None, NaN, pd.NA). Where no label is missing, -1 means unlabeled, as in
    scikit-learn; where some are, -1 is a class like any other. With `all_labeled`, every row must have a label and -1
    is a class.

    Examples
    --------
    >>> encode_labels(["ill", None, "well"]).codes
    array([ 0, -1,  1])
    >>> encode_labels([0, 1, -1]).codes
    array([ 0,  1, -1])
    """
    values = _as_objects(y)
    missing = pd.isna(values)
    if all_labeled and missing.any():
        raise ValueError(
            f"Input y contains NaN: {missing.sum()} of {len(values)} rows have no label, and here every row needs one; "
            "leave them out, or use PseudoLabelClassifier, which puts them to use."
        )
    labels = _plain(values[~missing])
    mark: Any = None
    if not missing.any() and not all_labeled:
        minus_one = _is_minus_one(values)
        if minus_one.any() and not _is_fully_labeled_sign(values):
            missing = minus_one
            labels = _plain(values[~missing])
            mark = UNLABELED if labels.dtype.kind in "iu" else None
        elif labels.dtype.kind in "iu":
            mark = UNLABELED
    if labels.size == 0:
        raise ValueError(
            f"No labeled row: all {len(values)} labels are missing or -1. At least one labeled row of two classes is "
            "needed."
        )
    check_classification_targets(labels)
    try:
        classes, known = np.unique(labels, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(v).__name__ for v in labels})
        raise ValueError(f"The labels mix types that cannot be ordered ({', '.join(kinds)}); use one type.") from error
    if classes.size < 2:
        raise ValueError(
            f"Only one class is labeled ({classes[0]!r}, {labels.size} rows); a classifier needs at least two classes."
        )
    codes = np.full(len(values), UNLABELED, dtype=np.intp)
    codes[~missing] = known
    return Labels(codes, classes, mark)


def _as_objects(y: Any) -> Array:
    if hasattr(y, "to_list"):  # pandas and polars series
        y = y.to_list()
    elif hasattr(y, "columns") and hasattr(y, "to_numpy"):
        y = y.to_numpy()
    array = np.asarray(y)
    if array.dtype.kind not in "OUSTiufb":
        raise ValueError(f"Unknown label type: {array.dtype}; labels are numbers, strings or booleans.")
    if array.dtype.kind != "O":
        array = np.asarray(y, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; it is used as one column of labels.",
            DataConversionWarning,
            stacklevel=2,
        )
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
    return array


def _plain(values: Array) -> Array:
    """Objects to the simplest dtype that holds them; labels 0.0 and 1.0 come from a column with gaps and mean 0, 1."""
    array = np.array(values.tolist()) if values.size else values
    if array.dtype.kind in "US" and not all(isinstance(v, str) for v in values):
        return values  # NumPy would write 1 and "a" as two strings
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
        if (array == np.round(array)).all():
            return array.astype(np.int64)
    if array.dtype.kind == "U":
        return array.astype(object)
    return array


def _is_minus_one(values: Array) -> Array:
    """-1 as a number; the string "-1" is a class."""
    return np.array([not isinstance(v, str | bool) and v == UNLABELED for v in values], dtype=bool)


def _is_fully_labeled_sign(values: Array) -> bool:
    """-1 and 1 alone: read as two classes, for otherwise there would be only one."""
    if set(values) != {-1, 1}:
        return False
    warnings.warn(
        "y holds only -1 and 1, and no missing label: they are taken as two classes, every row labeled. "
        "If -1 marks unlabeled rows here, only one class is labeled, which is not enough.",
        stacklevel=3,
    )
    return True
