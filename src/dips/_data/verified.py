"""Verified labels: those that somebody has checked, and what they were before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dips._data.labels import UNLABELED, Labels, encode_targets, encode_values
from dips._tools.arrays import Array, Rows
from dips._tools.wording import some_of
from dips.exceptions import InputError


@dataclass(frozen=True)
class Verified:
    """Which labels of a column are verified.

    Attributes
    ----------
    mask : (n,) of the rows whose label somebody has checked
    before : (n,) codes of the labels before they were checked, -1 where that is not known
    error : how often whoever checked a label was wrong about it
    """

    mask: Array
    before: Array
    error: float = 0.0

    @classmethod
    def nothing(cls, n_rows: int) -> Verified:
        """No label is verified."""
        return cls(np.zeros(n_rows, dtype=bool), np.full(n_rows, UNLABELED))

    def at(self, rows: Rows | Array) -> Verified:
        """Return the same for some of the rows."""
        return replace(self, mask=self.mask[rows], before=self.before[rows])

    def first_known(self, labels: Array) -> Array:
        """Return the labels (n,) as they were before the check, where that is known."""
        return np.where(self.mask & (self.before >= 0), self.before, labels)

    def followed_by(self, n_rows: int) -> Verified:
        """Return the same followed by `n_rows` rows of which none is verified."""
        more = Verified.nothing(n_rows)
        return replace(self, mask=np.append(self.mask, more.mask), before=np.append(self.before, more.before))


def check_verified(verified: Any, y_given: Any, targets: list[Labels]) -> list[Verified]:
    """Return which labels of each target are verified, and what they were before; refuse a mask that does not fit."""
    n, several = targets[0].codes.size, len(targets) > 1
    if verified is None:
        if y_given is not None:
            raise InputError("y_given says what verified labels were before; say which are, with verified.")
        return [Verified.nothing(n) for _ in targets]
    mask = _mask(verified, n, len(targets))
    before = _labels_before(y_given, targets)
    for labels, of_label in zip(targets, mask.T, strict=True):
        unlabeled = np.flatnonzero(of_label & ~labels.is_labeled)
        if unlabeled.size and not (several and np.ndim(verified) == 1):
            raise InputError(f"verified marks row {unlabeled[0]}, which has no label; mark labeled rows only.")
    return [Verified(m & t.is_labeled, b) for m, b, t in zip(mask.T, before, targets, strict=True)]


def _mask(verified: Any, n: int, n_targets: int) -> Array:
    """One column of booleans per target; a single one serves all of them."""
    mask = np.asarray(verified)
    fits = mask.shape == (n,) or (n_targets > 1 and mask.shape == (n, n_targets))
    known = not pd.isna(mask).any()
    is_mask = mask.dtype == bool or (known and mask.dtype.kind in "iufO" and np.isin(mask, (0, 1)).all())
    if not (fits and is_mask):
        wanted = f"({n},)" if n_targets == 1 else f"({n},) or ({n}, {n_targets})"
        raise InputError(
            f"verified must be a mask of shape {wanted}, True where somebody has checked the label; got {mask.dtype} "
            f"of shape {mask.shape}."
        )
    return np.broadcast_to(mask.reshape(n, -1).astype(bool), (n, n_targets))


def _same_kind(labels: list[Any], others: list[Any]) -> bool:
    """Whether some of them are texts, or none, among both."""
    return any(isinstance(v, str) for v in labels) == any(isinstance(v, str) for v in others)


def _labels_before(y_given: Any, targets: list[Labels]) -> list[Array]:
    """Codes of the labels as they were given; a label that is no class now, or was missing, is not known.

    Refused if all are of another kind than the classes, such as texts where these are numbers.
    """
    n = targets[0].codes.size
    if y_given is None:
        return [np.full(n, UNLABELED) for _ in targets]
    columns = [encode_values(y_given)] if len(targets) == 1 else encode_targets(y_given)
    if len(columns) != len(targets) or columns[0].codes.size != n:
        raise InputError(f"y_given must be labels like y, {n} rows of them; got {columns[0].codes.size}.")
    codes = []
    for labels, before in zip(targets, columns, strict=True):
        known = {label: code for code, label in enumerate(labels.classes.tolist())}
        translated = [known.get(label, UNLABELED) for label in before.classes.tolist()]
        unknown = [label for label in before.classes.tolist() if label != UNLABELED and label not in known]
        if unknown and max(translated) == UNLABELED and not _same_kind(unknown, labels.classes.tolist()):
            raise InputError(
                f"y_given holds {unknown[0]!r}, and no label that y has; the classes of y are "
                f"{some_of(map(repr, known))}."
            )
        codes.append(np.array([*translated, UNLABELED])[before.codes])
    return codes
