"""Splitting the labeled rows: some are held out, the others are dealt out to folds; no group is divided."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from dips._data.grouped_folds import grouped_folds
from dips._files.target import Target
from dips._study.settings import Settings
from dips._tools.arrays import Array, Rows
from dips._tools.wording import counted, option
from dips.exceptions import DataError

_PARTS, _NEARLY = 20, 0.25  # into which groups are dealt out, to hold some out; how far off the share of these may be
_LEAST_FOLDS = 2
_FEW, _MANY = 2_000, 20_000  # labeled rows; fewer need more folds for a steady choice


@dataclass(frozen=True)
class HoldOut:
    """Rows to train on, rows held out, unlabeled rows that are used, and the group of every row, if there are any."""

    train: Rows
    test: Rows
    unlabeled: Rows
    groups: Array | None = None

    @property
    def groups_of_test(self) -> Array | None:
        """Groups of the rows held out, if there are any."""
        return None if self.groups is None else self.groups[self.test]

    def unlabeled_apart_from(self, rows: Rows) -> Rows:
        """Return the unlabeled rows that do not belong to a group of the given rows."""
        return _apart(self.unlabeled, rows, self.groups)


def _apart(rows: Rows, others: Rows, groups: Array | None) -> Rows:
    """Return the rows that do not belong to a group of the others."""
    return rows if groups is None else rows[~np.isin(groups[rows], groups[others])]


def hold_out(target: Target, settings: Settings, groups: Array | None = None, now: Target | None = None) -> HoldOut:
    """Hold out a share of the labeled rows, the same of each class; no group is divided.

    The rows are drawn by the labels as they were given, so that corrections leave the held-out rows as they are, and
    two runs can be compared on them. Rows that have a label only `now` are trained on, unless others of their group
    are held out; those that lost it are neither.
    """
    now = target if now is None else now
    labeled, n_classes = np.flatnonzero(target.is_labeled), len(target.classes)
    if math.ceil(settings.holdout * labeled.size) < n_classes:
        raise DataError(
            f"{100 * settings.holdout:.0f} % of {labeled.size} labeled {target.origin.unit}s are too few to hold out "
            f"some of each of {n_classes} classes; choose a larger {option('holdout')}, or label more."
        )
    train, test = _parted(labeled, target.codes[labeled], settings.holdout, settings.seed, groups)
    _refuse_rare_class(target, test, groups, 1, "hold out", settings)
    new = np.flatnonzero(now.is_labeled & ~target.is_labeled)
    train = np.sort(np.concatenate([train, _apart(new, test, groups)]))
    train, test, unlabeled = train[now.is_labeled[train]], test[now.is_labeled[test]], np.flatnonzero(~now.is_labeled)
    _refuse_rare_class(now, train, None, _LEAST_FOLDS, "learn from", settings)
    if unlabeled.size > settings.max_unlabeled:
        unlabeled = np.sort(np.random.RandomState(settings.seed).permutation(unlabeled)[: settings.max_unlabeled])
    return HoldOut(train, test, unlabeled, groups)


def _parted(rows: Rows, codes: Array, share: float, seed: int, groups: Array | None) -> tuple[Rows, Rows]:
    """Rows to train on and rows to test on, a share of them, the same of each class as far as groups stay whole."""
    if groups is None:
        train, test = train_test_split(rows, test_size=share, stratify=codes, random_state=seed)
        return np.sort(train), np.sort(test)
    part, n_test = _dealt_out(codes, groups[rows], _PARTS, seed), max(1, round(share * _PARTS))
    far_apart = np.arange(n_test) * _PARTS // n_test  # because a class of few rows is in the first parts only
    is_test = np.isin(part, far_apart)
    if abs(is_test.mean() - share) > _NEARLY * share:  # a few large groups make parts of different sizes
        is_test = np.isin(part, _some_parts(codes, part, share))
    return rows[~is_test], rows[is_test]


def _some_parts(codes: Array, part: Array, share: float) -> list[int]:
    """Return the parts that come nearest to a share of each class, found one after another; at least one."""
    counts = np.zeros((int(part.max()) + 1, int(codes.max()) + 1))
    np.add.at(counts, (part, codes), 1)
    total = np.maximum(counts.sum(axis=0), 1)
    left, off = [k for k in range(len(counts)) if counts[k].any()], np.inf
    taken: list[int] = []
    while left:
        there = counts[taken].sum(axis=0)
        by_part = [float(((there + counts[k] - share * total) ** 2 / total).sum()) for k in left]
        if min(by_part) >= off:
            break
        off = min(by_part)
        taken.append(left.pop(int(np.argmin(by_part))))
    return taken


def _dealt_out(codes: Array, groups: Array, n_folds: int, seed: int) -> Array:
    """Return the fold of each row, the same for all of a group."""
    return grouped_folds(codes, groups, n_folds, np.random.RandomState(seed).permutation(codes.size))


def _n_apart(codes: Array, groups: Array | None, n_classes: int) -> Array:
    """How many rows each class has, (C,); those of one group count once."""
    if groups is not None:
        codes = np.unique(np.column_stack([codes, groups]), axis=0)[:, 0]
    return np.bincount(codes, minlength=n_classes)


def _refuse_rare_class(
    target: Target, rows: Rows, groups: Array | None, least: int, what: str, settings: Settings
) -> None:
    """Refuse rows among which a class is rarer than it may be."""
    n_apart = _n_apart(target.codes[rows], None if groups is None else groups[rows], len(target.classes))
    if n_apart.min() >= least:
        return
    unit, remedy = "labeled rows", f"label more of them, or choose a smaller {option('holdout')}"
    if target.origin.unit == "image":  # whose groups are copies
        unit, remedy = "different images", f"label more, or use {option('holdout', 0)}"
    elif settings.group is not None:
        unit, remedy = "groups", f"label rows of more groups, or leave out {option('group')}"
    elif groups is not None:
        unit, remedy = "different rows", "label more of them"
    few = f"The class {target.classes[n_apart.argmin()]!r} is in too few {unit}"
    raise DataError(f"{few}: {'only one' if n_apart.min() else 'none'} is left to {what}; {remedy}.")


def validation_folds(codes: Array, split: HoldOut, settings: Settings) -> list[tuple[Rows, Rows]]:
    """Return the rows to learn from and those to validate on, of each fold; refuse groups that are too few for that.

    Five folds for few rows, three for more, a single split for many.
    """
    rows, codes, groups = split.train, codes[split.train], split.groups
    if rows.size > _MANY:
        return [_parted(rows, codes, 0.2, settings.seed, groups)]
    n_folds = min(5 if rows.size < _FEW else 3, int(np.bincount(codes).min()))
    if groups is None:
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=settings.seed)
        return [(rows[fit], rows[validate]) for fit, validate in folds.split(rows, codes)]
    return _whole_groups(rows, codes, min(n_folds, np.unique(groups[rows]).size), settings.seed, groups)


def _whole_groups(rows: Rows, codes: Array, n_folds: int, seed: int, groups: Array) -> list[tuple[Rows, Rows]]:
    """Folds that leave groups whole, but for those without which a class could not be learned."""
    fold, classes = _dealt_out(codes, groups[rows], n_folds, seed), np.unique(codes)
    learned = [k for k in range(n_folds) if np.unique(codes[fold != k]).size == classes.size]
    if not learned:
        n = counted(np.unique(groups[rows]).size, "group")
        raise DataError(
            f"Groups are too few to compare models: besides the rows held out, {n} with labels; label rows of more, or "
            f"leave out {option('group')}."
        )
    return [(rows[fold != k], rows[fold == k]) for k in learned]
