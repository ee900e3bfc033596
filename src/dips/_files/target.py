"""The label column of a table: which rows are labeled, and with what."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dips._data.labels import UNLABELED
from dips._files.read import Table
from dips._files.values import is_number, is_text, texts
from dips._tools.arrays import Array
from dips.exceptions import DataError

MIN_PER_CLASS = 5
_MAX_CLASSES = 100


@dataclass(frozen=True)
class Target:
    """The labels of all rows as codes, -1 where there is none, and the classes they stand for.

    Attributes
    ----------
    name : of the column
    codes : (n,)
    classes : labels in ascending order; whole numbers where all of them are
    positive : position of the class that ROC AUC, average precision and the report ask for
    notes : sentences on what was taken for what
    """

    name: str
    codes: Array
    classes: list[Any]
    positive: int
    notes: list[str]

    @property
    def is_labeled(self) -> Array:
        """Mask of the labeled rows."""
        return self.codes != UNLABELED

    def names(self, codes: Array) -> list[Any]:
        """Labels of the given codes, None for -1."""
        return [None if c == UNLABELED else self.classes[c] for c in codes]


def read_target(
    table: Table, name: str, unlabeled_marks: tuple[str, ...] = (), positive: str | None = None, n_more: int = 0
) -> Target:
    """Find labels and classes; `n_more` rows without a label follow."""
    if name not in table.names:
        near = get_close_matches(name.lower(), [n.lower() for n in table.names], n=1)
        hint = next((f"; did you mean {n!r}?" for n in table.names if near and n.lower() == near[0]), ".")
        raise DataError(f"{table.source} has no column {name!r}{hint} It has {_some(table.names)}.")
    cells = _cells(table.columns[name], name)
    marks = [m for m in unlabeled_marks if m not in ("", None)]
    if marks:
        is_mark = pc.is_in(cells, pa.array(marks, pa.string()))
        cells = pc.if_else(is_mark, pa.scalar(None, pa.string()), cells)
    found, distinct = pd.factorize(np.asarray(cells.to_pandas(), dtype=object))
    _refuse_unusable(found, list(distinct), name, table)
    classes, ranks = _in_order([str(d) for d in distinct])
    codes = np.append(ranks, UNLABELED)[found]
    notes = []
    if -1 in classes:
        notes.append(f"-1 in {name!r} is taken as a class; if it marks unlabeled rows, say --unlabeled-mark=-1.")
    codes = np.append(codes, np.full(n_more, UNLABELED))
    return Target(name, codes, classes, _position(positive, classes, name), notes)


def _cells(raw: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Labels as texts: 1.0 in a column with gaps is 1."""
    if is_number(raw.type):
        values = raw.cast(pa.float64(), safe=False)
        known = values.drop_null().to_numpy()
        known = known[~np.isnan(known)]
        if (known == np.round(known)).all():
            whole = pc.if_else(pc.is_nan(values), None, values) if pa.types.is_floating(raw.type) else values
            return whole.cast(pa.int64(), safe=False).cast(pa.string())
        _refuse_continuous(known, name)
    if not (is_text(raw.type) or pa.types.is_boolean(raw.type) or raw.type == pa.null()):
        raise DataError(f"The target {name!r} holds {raw.type} values; labels are texts, whole numbers or booleans.")
    cells = texts(raw) if raw.type != pa.null() else raw.cast(pa.string())
    without_zeros = pc.replace_substring_regex(cells, r"^([+-]?\d+)\.0+$", r"\1")
    if pc.all(pc.match_substring_regex(without_zeros, r"^[+-]?\d+$")).as_py():
        return without_zeros
    return cells


def _refuse_continuous(known: Array, name: str) -> None:
    fraction = known[known != np.round(known)][0]
    raise DataError(
        f"The target {name!r} holds fractions such as {fraction:g}: a quantity, and dips learns classes; cut it into "
        "classes first, for instance above and below a limit."
    )


def _refuse_unusable(found: Array, distinct: list[Any], name: str, table: Table) -> None:
    n_labeled = int((found != UNLABELED).sum())
    if n_labeled == 0:
        raise DataError(f"All {found.size} labels in {name!r} are missing; at least two classes need labeled rows.")
    if len(distinct) == 1:
        raise DataError(
            f"Every labeled row of {name!r} has the label {distinct[0]!r} ({n_labeled} rows); a classifier needs at "
            "least two classes."
        )
    if len(distinct) > _MAX_CLASSES or len(distinct) > n_labeled / 2:
        raise DataError(
            f"The target {name!r} has {len(distinct)} different labels in {n_labeled} labeled rows, such as "
            f"{distinct[0]!r} and {distinct[1]!r}; name the column that holds the classes (at most {_MAX_CLASSES})."
        )
    counts = np.bincount(found[found != UNLABELED])
    rare = int(counts.argmin())
    if counts[rare] < MIN_PER_CLASS:
        raise DataError(
            f"The class {distinct[rare]!r} of {name!r} has {counts[rare]} labeled rows, and at least {MIN_PER_CLASS} "
            f"are needed to hold some out; add rows, or leave it out with --unlabeled-mark={distinct[rare]!r}."
        )


def _in_order(labels: list[str]) -> tuple[list[Any], Array]:
    """Classes in ascending order, and the place of each label among them; whole numbers where all are."""
    try:
        values: list[Any] = [int(label) for label in labels]
        if len(set(values)) < len(values) or any(str(v) != label for v, label in zip(values, labels, strict=True)):
            values = list(labels)
    except ValueError:
        values = list(labels)
    classes = sorted(values)
    return classes, np.array([classes.index(v) for v in values])


def _position(positive: str | None, classes: list[Any], name: str) -> int:
    if positive is None:
        return len(classes) - 1
    for code, c in enumerate(classes):
        if str(c) == str(positive):
            return code
    raise DataError(f"The positive class {positive!r} is not among the labels of {name!r}: {_some(classes)}.")


def _some(values: list[Any]) -> str:
    return ", ".join(map(str, values[:12])) + (f" and {len(values) - 12} more" if len(values) > 12 else "")
