"""Are labeled and unlabeled rows alike? The method assumes so; a classifier tries to tell them apart."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import norm, rankdata
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import StratifiedKFold

from dips._data.grouped_folds import grouped_folds
from dips._files.prepare import Preparation
from dips._tools.arrays import Array, Rows

_MOST = 2_000  # rows of each kind
_LEAST = 30
_N_FOLDS = 3
_N_TREES = 100
_APART = 0.6  # an AUC above which learning suffers; smaller differences are only noted
_NAMED = 3


@dataclass(frozen=True)
class Drift:
    """How well labeled and unlabeled rows can be told apart.

    Attributes
    ----------
    auc : of a classifier that has not seen the rows; 0.5 where there is nothing to tell
    low, high : 95 % interval
    is_clear : whether that is more than chance
    columns : name, and AUC of the column alone, of those that differ most
    """

    auc: float
    low: float
    high: float
    is_clear: bool
    columns: list[tuple[str, float]]

    @property
    def is_large(self) -> bool:
        """Whether the rows are so different that what is learned from one kind may not hold for the other."""
        return self.is_clear and self.low > _APART

    def warnings(self) -> list[str]:
        """Warn where the unlabeled rows are from elsewhere."""
        if not self.is_large:
            return []
        most = ", ".join(f"{name!r}" for name, _ in self.columns)
        where = f" They differ most in {most}." if most else ""
        return [
            "Labeled and unlabeled rows are not alike: a classifier tells them apart with an AUC of "
            f"{self.auc:.2f} ({self.low:.2f} to {self.high:.2f}; 0.5 is chance).{where} The models assume that they "
            "are alike: check how the rows to label were chosen before you rely on predictions for the unlabeled ones."
        ]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"is_large": self.is_large}


def find_drift(
    preparation: Preparation, X: Array, labeled: Rows, unlabeled: Rows, seed: int = 0, groups: Array | None = None
) -> Drift | None:
    """Test whether labeled and unlabeled rows of the prepared table are alike; None where either are too few.

    Each row is judged by trees that have not seen it, nor another row of its group.
    """
    if min(labeled.size, unlabeled.size) < _LEAST:
        return None
    rng = np.random.RandomState(seed)
    parts = [np.sort(rng.permutation(rows)[:_MOST]) for rows in (labeled, unlabeled)]
    rows, kind = np.concatenate(parts), np.repeat([0, 1], [part.size for part in parts])
    X = np.asarray(X[rows], dtype=np.float32)
    score = np.empty(kind.size)
    for train, test in _folds(kind, None if groups is None else groups[rows], rng):
        trees = ExtraTreesClassifier(_N_TREES, min_samples_leaf=5, max_features="sqrt", random_state=seed)
        score[test] = trees.fit(X[train], kind[train]).predict_proba(X[test])[:, 1]
    auc, error = _auc(score, kind)
    chance = np.sqrt((kind.size + 1) / (12 * parts[0].size * parts[1].size))
    interval = (auc - 1.96 * error, min(auc + 1.96 * error, 1.0))
    clear = bool(auc - 0.5 > norm.ppf(0.995) * chance)
    return Drift(auc, *interval, clear, _most_different(preparation, X, kind) if clear else [])


def _folds(kind: Array, groups: Array | None, rng: np.random.RandomState) -> list[tuple[Rows, Rows]]:
    """Folds that leave groups whole; these are divided where both kinds could not be learned without one of them."""
    if groups is not None:
        fold = grouped_folds(kind, groups, _N_FOLDS, rng.permutation(kind.size))
        folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(_N_FOLDS)]
        if all(test.size and np.unique(kind[train]).size == 2 for train, test in folds):
            return folds
    return list(StratifiedKFold(_N_FOLDS, shuffle=True, random_state=rng).split(kind, kind))


def _auc(score: Array, kind: Array) -> tuple[float, float]:
    """Area under the ROC curve and its standard error, by DeLong's placements."""
    first, second = score[kind == 0], score[kind == 1]
    ranks = rankdata(score)
    above = (ranks[kind == 1] - rankdata(second)) / first.size  # share of the other kind below each row
    below = 1 - (ranks[kind == 0] - rankdata(first)) / second.size
    error = np.sqrt(above.var(ddof=1) / second.size + below.var(ddof=1) / first.size)
    return float(above.mean()), float(error)


def _most_different(preparation: Preparation, X: Array, kind: Array) -> list[tuple[str, float]]:
    """Columns that differ by themselves, the most different first; missing values count as a value."""
    differing = []
    for column in preparation.schema.used:
        best = 0.5
        for values in X[:, preparation.columns_of(column.name)].T:
            filled = np.where(np.isfinite(values), values, np.nanmin(values, initial=0.0) - 1)
            auc, error = _auc(filled, kind)
            if abs(auc - 0.5) > 3 * error:
                best = max(best, auc, 1 - auc)
        if best > 0.5:
            differing.append((column.name, best))
    return sorted(differing, key=lambda item: -item[1])[:_NAMED]
