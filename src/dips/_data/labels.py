"""Labels as people have them, to codes 0..C-1 with -1 for unlabeled, and back.

The one reader of labels: what is missing and what is a class is decided here, for tables in memory and for files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from dips._data.containers import is_frame
from dips._tools.arrays import Array
from dips._tools.warnings import warn
from dips._tools.wording import counted
from dips.exceptions import InputError

UNLABELED = -1
_MISSING_AS_TEXT = ("", "nan", "None", "NaT", "<NA>")


@dataclass(frozen=True)
class Labels:
    """One label column.

    Attributes
    ----------
    codes : (n,) positions among the classes, -1 where unlabeled
    classes : (C,) in ascending order
    mark : how an unlabeled row is written in the input: -1, NaN or None
    name : of the column, where there are several (multi-label)
    """

    codes: Array
    classes: Array
    mark: Any
    name: Any = None

    @property
    def is_labeled(self) -> Array:
        """Mask of the labeled rows."""
        return self.codes != UNLABELED

    @property
    def counts(self) -> Array:
        """How many labels each class has, (C,)."""
        return np.bincount(self.codes[self.is_labeled], minlength=self.classes.size)

    def decode(self, codes: Array) -> Array:
        """Codes back to labels; -1 to the input's own mark."""
        known = codes != UNLABELED
        if known.all():
            return self.classes[codes]
        is_number = self.mark is not None and self.classes.dtype.kind in "iuf"
        dtype = np.result_type(self.classes, np.min_scalar_type(self.mark)) if is_number else object
        decoded = np.full(codes.shape, self.mark, dtype=dtype)
        decoded[known] = self.classes[codes[known]]
        return decoded

    def decode_or_none(self, codes: Array) -> Array:
        """Codes back to labels as objects; -1 to None."""
        return replace(self, mark=None).decode(codes).astype(object)

    def renamed(self, classes: Sequence[Any] | Array) -> Labels:
        """Return the same labels under other names, one for each class, in the ascending order of these."""
        ordered, ranks = _in_order(np.asarray(classes))
        return replace(self, codes=np.append(ranks, UNLABELED)[self.codes], classes=ordered)

    def followed_by_unlabeled(self, n_rows: int) -> Labels:
        """Return the same labels followed by `n_rows` unlabeled rows."""
        return replace(self, codes=np.append(self.codes, np.full(n_rows, UNLABELED, dtype=self.codes.dtype)))


def is_multilabel(y: Any) -> bool:
    """Whether `y` is a table of labels, one column each."""
    if isinstance(y, list | tuple):
        return len(y) > 0 and np.ndim(y[0]) == 1 and len(y[0]) > 1
    return len(getattr(y, "shape", ())) == 2 and y.shape[1] > 1


def encode_targets(y: Any, *, all_labeled: bool = False) -> list[Labels]:
    """Encode one label column, or each column of a multi-label table of 0, 1 and missing values.

    Examples
    --------
    >>> [labels.codes.tolist() for labels in encode_targets([[0, 1], [1, 0], [None, 1]])]
    [[0, 1, -1], [1, 0, 1]]
    """
    if not is_multilabel(y):
        return [encode_labels(y, all_labeled=all_labeled)]
    return [_encode_binary(column, name, all_labeled) for name, column in _columns(y).items()]


def encode_labels(y: Any, *, all_labeled: bool = False) -> Labels:
    """Find the classes and the unlabeled rows of one label column.

    A row is unlabeled if its label is missing (None, NaN, pd.NA), or -1, as in scikit-learn; both marks together are
    refused. Labels that are -1 and 1 alone are two classes. With `all_labeled`, every row must have a label and -1 is a
    class.

    Examples
    --------
    >>> encode_labels(["ill", None, "well"]).codes
    array([ 0, -1,  1])
    >>> encode_labels([0, 1, -1]).codes
    array([ 0,  1, -1])
    """
    column = _as_column(y)
    positions, distinct = _factorize(column)
    has_missing = bool((positions == UNLABELED).any())
    if all_labeled:
        _refuse_missing(positions == UNLABELED)
    is_class = np.ones(distinct.size, dtype=bool)
    if not (all_labeled or _are_signs(distinct, has_missing)):
        is_class = np.asarray(distinct != UNLABELED, dtype=bool)
        _refuse_two_marks(has_missing and not is_class.all())
    if not is_class.any():
        raise InputError(
            f"No labeled row: all {positions.size} labels are missing or -1. At least one labeled row of each of two "
            "classes is needed."
        )
    codes, classes = _coded(positions, distinct, is_class)
    _refuse_missing_as_text(classes)
    if classes.size < 2:
        rows = counted(int((codes == 0).sum()), "row")
        raise InputError(
            f"Only one class is labeled ({classes.tolist()[0]!r}, {rows}); a classifier needs at least two classes."
        )
    if all_labeled and classes.size > 2 and classes[0] == UNLABELED:
        warn(
            "y holds -1 besides other classes: here every row has a label, so -1 is taken as a class. If it marks "
            "unlabeled rows, leave them out, or use PseudoLabelClassifier, which puts them to use."
        )
    return Labels(codes, classes, _mark(column, classes, has_missing, all_are_classes=bool(is_class.all())))


def labels_of_rows(model: object, y: Any, n_rows: int, unit: str = "rows") -> Labels:
    """Return one label per row as codes; refuse none at all, and any other number of them."""
    refuse_no_labels(model, y)
    labels = encode_labels(y)
    refuse_other_length(labels, n_rows, unit)
    return labels


def refuse_no_labels(model: object, y: Any) -> None:
    """Say that a fit needs labels, in the words that scikit-learn's checks look for."""
    if y is None:
        raise InputError(f"This {type(model).__name__} estimator requires y to be passed, but the target y is None.")


def refuse_other_length(labels: Labels, n_rows: int, unit: str = "rows") -> None:
    """Say that X and y differ in length, in the words that scikit-learn's checks look for."""
    if labels.codes.size != n_rows:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} {unit}, y has "
            f"{labels.codes.size}."
        )


def encode_values(y: Any) -> Labels:
    """Take every value that is not missing as a class, -1 too; however many classes there are, or none.

    For callers with rules of their own about what is unlabeled, such as the readers of files.

    Examples
    --------
    >>> encode_values(["ill", None, "well"]).codes
    array([ 0, -1,  1])
    """
    positions, distinct = _factorize(_as_column(y))
    codes, classes = _coded(positions, distinct, np.ones(distinct.size, dtype=bool))
    return Labels(codes, classes, None)


def true_labels(y: Any, classes: Array) -> Array:
    """Labels to score against, as they are in ``classes``; refused where a row has none.

    Examples
    --------
    >>> true_labels(pd.Series([1, 0], dtype="Int64"), np.array([0, 1]))
    array([1, 0])
    """
    positions, distinct = _factorize(_as_column(y))
    plain = _plain(distinct)
    unlabeled = positions == UNLABELED
    if UNLABELED not in classes.tolist():
        unlabeled |= np.append(np.asarray(plain == UNLABELED, dtype=bool), True)[positions]
    _refuse_to_score(unlabeled)
    return plain[positions]


def true_label_table(y: Any, names: Array) -> Array:
    """0/1 matrix to score multi-label predictions against, columns in the order of `names`.

    Refused where a row lacks a label.
    """
    columns, wanted = _columns(y), names.tolist()
    if set(columns) == set(wanted):
        columns = {name: columns[name] for name in wanted}
    elif is_frame(y) and wanted != list(range(len(wanted))):  # where y had no names in training, the order counts
        raise InputError(f"The labels to score on are {list(columns)}, and those in training were {wanted}.")
    codes = np.column_stack([_binary_codes(column, name) for name, column in columns.items()])
    _refuse_to_score((codes == UNLABELED).any(axis=1))
    return codes


def _encode_binary(column: Any, name: Any, all_labeled: bool) -> Labels:
    """Encode one label of a multi-label table, where -1 is missing because 0 and 1 are the only classes."""
    codes = _binary_codes(column, name)
    if all_labeled:
        _refuse_missing(codes == UNLABELED)
    present = [c for c in (0, 1) if (codes == c).any()]
    if len(present) < 2:
        raise InputError(
            f"Label {name!r} needs at least one labeled 0 and one labeled 1, because a classifier needs two classes; "
            f"found {'only ' + str(present[0]) if present else 'no labeled row'}."
        )
    return Labels(codes, np.array([0, 1]), UNLABELED, name)


def _binary_codes(column: Any, name: Any) -> Array:
    positions, distinct = _factorize(_as_column(column))
    values = distinct.tolist()
    strange = [v for v in values if v not in (0, 1, UNLABELED)]
    if strange:
        raise InputError(f"Multi-label y must hold 0, 1 or a missing value; label {name!r} holds {strange[0]!r}.")
    return np.array([*values, UNLABELED], dtype=np.intp)[positions]


def _columns(y: Any) -> dict[Any, Any]:
    if is_frame(y):
        return {series.name: series.to_native() for series in nw.from_native(y, eager_only=True).iter_columns()}
    table = y.toarray() if sp.issparse(y) else np.asarray(y, dtype=None if hasattr(y, "dtype") else object)
    if table.ndim != 2:
        raise InputError(f"Multi-label y must have as many labels in every row; got an array of shape {table.shape}.")
    return {j: table[:, j] for j in range(table.shape[1])}


def _as_column(y: Any) -> Any:
    """Return `y` as what pandas can factorize: an array, or a pandas series."""
    if y is None:
        raise InputError("y should be a column of labels; got None.")
    if is_frame(y) and y.shape[1] == 1:
        _warn_of_column_vector()
        y = nw.from_native(y, eager_only=True)[:, 0].to_native()
    if isinstance(y, pd.Index | pd.api.extensions.ExtensionArray):
        y = pd.Series(y)
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.dtype.is_temporal():
            raise InputError(f"Unknown label type: {series.dtype}; labels are numbers, strings or booleans.")
        if isinstance(y, pd.Series):
            return y
        y = series.to_list() if series.is_null().any() or not series.dtype.is_numeric() else series.to_numpy()
    return _as_array(y)


def _as_array(y: Any) -> Array:
    if isinstance(y, np.ma.MaskedArray):
        y = y.tolist()  # None where masked; as an array, what lies under the mask would come back
    # A list is read as objects, because NumPy would write -1 among strings as "-1".
    array = np.asarray(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported: labels are numbers, strings or booleans.")
    if array.dtype.kind not in "OUSTiufb":
        raise InputError(f"Unknown label type: {array.dtype}; labels are numbers, strings or booleans.")
    if array.ndim == 2 and array.shape[1] == 1:
        _warn_of_column_vector()
        array = array.ravel()
    if array.ndim != 1:
        raise InputError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
    return array.astype(object) if array.dtype.kind in "UST" else array


def _factorize(column: Any) -> tuple[Array, Array]:
    """Position of each label among the distinct ones (-1 where missing), and these."""
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        column = column.astype(column.dtype.newbyteorder("="))
    try:
        positions, distinct = pd.factorize(column)
    except TypeError as error:
        raise InputError(f"Unknown label type: a label is a number, a string or a boolean ({error}).") from error
    return positions, np.asarray(distinct)


def _coded(positions: Array, distinct: Array, is_class: Array) -> tuple[Array, Array]:
    """Codes of all rows and the classes in order; a distinct value that is no class is unlabeled."""
    classes, ranks = _in_order(_plain(distinct[is_class]))
    codes = np.full(distinct.size + 1, UNLABELED, dtype=np.intp)  # the last one serves the missing
    codes[:-1][is_class] = ranks
    return codes[positions], classes


def _plain(distinct: Array) -> Array:
    """Distinct values in the simplest dtype that holds them.

    Whole floats come from a column with gaps and mean integers.
    """
    array = _from_objects(distinct) if distinct.dtype == object else distinct
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported: labels are numbers, strings or booleans.")
    if array.dtype.kind != "f":
        return array
    if not np.isfinite(array).all():
        raise InputError("Input y contains infinity or a value too large for dtype('float64').")
    fractions = array[array != np.round(array)]
    if fractions.size:
        raise InputError(
            f"Unknown label type: continuous. Labels are classes, and y holds numbers such as {float(fractions[0])!r}; "
            "a classifier cannot learn a quantity."
        )
    return array.astype(np.int64)


def _from_objects(distinct: Array) -> Array:
    strange = [v for v in distinct if not isinstance(v, str | bytes | Number | np.bool_)]
    if strange:
        raise InputError(f"Unknown label type: {type(strange[0]).__name__}; labels are numbers, strings or booleans.")
    has_text = any(isinstance(v, str | bytes) for v in distinct)
    return distinct if has_text else np.array(distinct.tolist())


def _in_order(values: Array) -> tuple[Array, Array]:
    """Classes in ascending order, and the place of each value among them."""
    try:
        return np.unique(values, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(v).__name__ for v in values})
        raise InputError(f"The labels mix types that cannot be ordered ({', '.join(kinds)}); use one type.") from error


def _mark(column: Any, classes: Array, has_missing: bool, all_are_classes: bool) -> Any:
    """How unlabeled rows are to be written: as in the input, else -1 among integers and None among others."""
    if has_missing:
        return np.nan if isinstance(column.dtype, np.dtype) and column.dtype.kind == "f" else None
    if not all_are_classes:
        return UNLABELED
    return UNLABELED if classes.dtype.kind in "iu" and UNLABELED not in classes else None


def _are_signs(distinct: Array, has_missing: bool) -> bool:
    """Whether the labels are -1 and 1 alone: two classes, because otherwise there would be only one."""
    if distinct.size != 2 or set(distinct.tolist()) != {-1, 1}:
        return False
    if not has_missing:
        warn(
            "y holds only -1 and 1, and no missing label: they are taken as two classes, every row labeled. "
            "If -1 marks unlabeled rows here, only one class is labeled, which is not enough."
        )
    return True


def _refuse_two_marks(has_both: bool) -> None:
    if has_both:
        raise InputError(
            "y holds both -1 and missing labels, and either can mark unlabeled rows; mark them one way, and write -1 "
            "another way if it is a class."
        )


def _refuse_missing_as_text(classes: Array) -> None:
    has_numbers = any(str(c).lstrip("+").isdecimal() for c in classes.tolist())  # beside "0" or "1", "-1" is a class
    texts = [c for c in classes.tolist() if c in _MISSING_AS_TEXT or (c == "-1" and not has_numbers)]
    if texts:
        raise InputError(
            f"y holds the text {texts[0]!r} as a class: probably a missing label that became text, as in "
            "np.array(['a', np.nan]); use a list or dtype=object, or give the class another name."
        )


def _refuse_missing(missing: Array) -> None:
    if missing.any():
        raise InputError(
            f"Input y contains NaN: {missing.sum()} of {missing.size} rows have no label, and here every row needs "
            "one; leave them out, or use PseudoLabelClassifier, which puts them to use."
        )


def _refuse_to_score(unlabeled: Array) -> None:
    if unlabeled.any():
        raise InputError(
            f"{unlabeled.sum()} of the {unlabeled.size} rows to score on are unlabeled; score on labeled rows only. "
            "In cross-validation, SemiSupervisedKFold keeps unlabeled rows out of the test folds; training folds have "
            "them, and are not scored with return_train_score=False."
        )


def _warn_of_column_vector() -> None:
    warn(
        "A column-vector y was passed when a 1d array was expected; it is used as one column of labels.",
        DataConversionWarning,
    )
