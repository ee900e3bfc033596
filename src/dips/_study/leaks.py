"""Columns, alone or in pairs, that predict the label as if they had been recorded after it was known.

Wrong labels hide a leak: with 8 % of them a column that holds the outcome itself is right in 92 of 100 rows. So scores
are read against the share of labels that look wrong, and beside what all other columns together can do. Where most
columns tell the label alone, the classes are just far apart, and nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.tree import DecisionTreeClassifier

from dips._data.grouped_folds import grouped_folds
from dips._files.prepare import Preparation
from dips._tools.arrays import Array, Rows
from dips._tools.wording import option
from dips.curators._adaptive import noise_rate

_CERTAIN = 0.95  # balanced accuracy on rows not learned from, were all labels right
_USUAL_NOISE, _AHEAD = 0.1, 0.15  # a share of wrong labels to reckon with, where all other columns are so far behind
_ABOVE_CHANCE = 0.08  # what a leak's score is above a guess at least, less two standard errors
_LEAST_REACH = 0.14  # how far above a guess a perfect column can be, however rare a class is
_PAIR_AHEAD = 0.15  # of a pair, before either of its columns
_ENOUGH_ROWS, _ROWS_OF_PAIRS = 5_000, 1_000
_COLUMNS_OF_PAIRS = 16
_N_TREES = 40
_LOOKED_AT = 3  # leaks that the other columns are compared with
_AS_GOOD = 0.02  # all other columns together are as good as one if they are at most so far behind


@dataclass(frozen=True)
class Leak:
    """A column, or two, from which the label can be read.

    Attributes
    ----------
    columns : their names
    score : balanced accuracy of a small tree on rows it did not learn from
    others : of all other columns together, those left out that tell the label as well
    """

    columns: tuple[str, ...]
    score: float
    others: float

    def sentence(self) -> str:
        """Say what was found and what to do."""
        are_two = len(self.columns) > 1
        how, alone, they, them = (
            ("together predict", "on their own", "they were", "them")
            if are_two
            else ("predicts", "on its own", "it was", "it")
        )
        as_good = "; the other columns do as well" if self.score - self.others <= _AS_GOOD else ""
        scores = f"balanced accuracy {100 * self.score:.0f} %; all other columns together {100 * self.others:.0f} %"
        return (
            f"{' and '.join(map(repr, self.columns))} {how} the label almost {alone} ({scores}). If {they} recorded "
            f"after the outcome was known, leave {them} out with {option('drop', self.columns[0])}{as_good}."
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"columns": list(self.columns), "score": self.score, "others": self.others}


def single_columns(leaks: list[Leak]) -> dict[str, float]:
    """Return the columns that predict the label almost alone, and their scores."""
    return {leak.columns[0]: leak.score for leak in leaks if len(leak.columns) == 1}


class LeakCheck:
    """Scores of columns and pairs, computed once; which of them are leaks depends on the share of wrong labels.

    Parameters
    ----------
    preparation, X : the columns, and the matrix they became
    codes, labeled : labels of all rows, and the rows to learn from
    groups : of all rows; none is on both sides
    """

    def __init__(
        self,
        preparation: Preparation,
        X: Array,
        codes: Array,
        labeled: Rows,
        seed: int = 0,
        groups: Array | None = None,
    ) -> None:
        rng = np.random.RandomState(seed)
        self._preparation, self._seed = preparation, seed
        rows = np.sort(rng.permutation(labeled)[:_ENOUGH_ROWS])
        self._X, self._y = X[rows], codes[rows]
        self._candidates: list[Leak] = []
        self._scores: dict[str, float] = {}
        self._noise = 0.0
        self._n_classes = np.unique(self._y).size
        if np.bincount(self._y)[np.unique(self._y)].min() < 2:
            return
        alone = np.arange(rows.size) if groups is None else groups[rows]
        self._fold = grouped_folds(self._y, alone, 2, rng.permutation(rows.size))
        self._kinds = {c.name: c.kind for c in preparation.schema.used}
        self._columns = list(self._kinds)
        self._scores = {name: self._score([name]) for name in self._columns}
        best = sorted(self._columns, key=lambda name: -self._scores[name])[:_LOOKED_AT]
        likely = [name for name in best if self._scores[name] > 0.6]
        self._candidates = [Leak((name,), self._scores[name], self._without((name,))) for name in likely]
        self._candidates += [Leak(pair, score, self._without(pair)) for pair, score in self._pairs()]
        self._noise = min(noise_rate(self._forecast(self._X), self._y), _USUAL_NOISE)

    def leaks(self, noise: float | None = None) -> list[Leak]:
        """Return the leaks, given the share of labels that look wrong; without it, a quick guess is made."""
        noise = self._noise if noise is None else noise
        ahead = [leak for leak in self._candidates if self._is_ahead(leak, noise)]
        leaks = {leak.columns: leak for leak in [*ahead, *self._certain(noise)]}
        singles = {columns[0] for columns in leaks if len(columns) == 1}
        return [leak for columns, leak in leaks.items() if len(columns) == 1 or not singles & set(columns)]

    def _is_ahead(self, leak: Leak, noise: float) -> bool:
        return leak.score - leak.others >= _AHEAD and self._tells(leak.score, max(noise, _USUAL_NOISE))

    def _tells(self, score: float, noise: float) -> bool:
        """Whether the score would be nearly perfect, were all labels right, and is no accident of a few rare rows."""
        counts = np.bincount(self._y)
        counts = counts[counts > 0]
        error = float(np.sqrt((score * (1 - score) / counts).sum()) / counts.size)
        return score - 2 * error >= 1 / counts.size + _ABOVE_CHANCE and self._without_noise(score, noise) >= _CERTAIN

    def _certain(self, noise: float) -> list[Leak]:
        """Return the columns from which alone the label can be read, unless that can be said of most.

        Where wrong labels hide how well a column does, all other columns must not do better.
        """
        names = [name for name, score in self._scores.items() if self._tells(score, noise)]
        if not names or len(names) > max(2, len(self._scores) / 2):
            return []
        rest = self._without(tuple(names))
        names = [name for name in names if self._scores[name] >= min(rest - _AS_GOOD, _CERTAIN)]
        best = sorted(names, key=lambda name: -self._scores[name])[:_LOOKED_AT]
        return [Leak((name,), self._scores[name], rest) for name in best]

    def _without_noise(self, score: float, noise: float) -> float:
        """Balanced accuracy against true labels, were any label wrong with the same probability.

        Wrong labels cost a rare class most: many of the labels that say it are then wrong ones.
        """
        counts = np.bincount(self._y)
        given = counts[counts > 0] / self._y.size
        chance, rarest = 1 / given.size, given.min()
        half_of_rarest = (given.size - 1) * rarest / (2 * (1 - rarest))  # more, and most labels of a class are wrong
        noise = min(noise, half_of_rarest, 0.8 * (1 - chance))
        truly = np.clip((given - noise * chance / (1 - chance)) / (1 - noise / (1 - chance)), 0.001, 1)
        reachable = float(np.minimum(truly * (1 - noise) / given, 1).mean())
        return min(1.0, chance + (score - chance) * (1 - chance) / max(reachable - chance, _LEAST_REACH))

    def _pairs(self) -> list[tuple[tuple[str, str], float]]:
        """Return pairs that say far more than either column, the best first."""
        columns = self._columns_to_pair()
        some = np.sort(np.random.RandomState(self._seed).permutation(self._y.size)[:_ROWS_OF_PAIRS])
        gains = {}
        for pair in combinations(columns, 2):
            alone = max(self._scores[name] for name in pair)
            if (score := self._score(list(pair), some)) - alone >= _PAIR_AHEAD:
                gains[pair] = score
        best = sorted(gains, key=lambda pair: -gains[pair])[:_LOOKED_AT]
        return [(pair, self._score(list(pair))) for pair in best]

    def _columns_to_pair(self) -> list[str]:
        short = [name for name, kind in self._kinds.items() if kind != "text"]
        if len(short) <= _COLUMNS_OF_PAIRS:
            return short
        forest = _forest(self._seed).fit(self._X, self._y)
        importances = forest.feature_importances_  # asked for once: each time it is computed anew
        weight = {name: importances[self._preparation.columns_of(name)].sum() for name in short}
        return sorted(short, key=lambda name: -weight[name])[:_COLUMNS_OF_PAIRS]

    def _score(self, names: list[str], rows: Rows | slice = slice(None)) -> float:
        parts = [self._X[rows][:, self._preparation.columns_of(name)] for name in names]
        depth = 3 + int(np.ceil(np.log2(self._n_classes)))  # leaves for every class, several times over
        if len(names) == 2:
            depth += 2
            if all(self._kinds[name] in ("number", "date") for name in names):
                parts.append(parts[0][:, :1] - parts[1][:, :1])  # one day before the other, one amount above the other
        X, y, fold, predicted = np.hstack(parts), self._y[rows], self._fold[rows], np.empty_like(self._y[rows])
        for k in (0, 1):
            tree = DecisionTreeClassifier(
                max_depth=depth, min_samples_leaf=5, class_weight="balanced", random_state=self._seed
            )
            predicted[fold == k] = tree.fit(X[fold != k], y[fold != k]).predict(X[fold == k])
        return _balanced_accuracy(y, predicted)

    def _without(self, names: tuple[str, ...]) -> float:
        """Balanced accuracy of a forest on all other columns; that of a guess where there are none."""
        kept = np.ones(self._X.shape[1], dtype=bool)
        for name in names:
            kept[self._preparation.columns_of(name)] = False
        if not kept.any():
            return 1 / self._n_classes
        p = self._forecast(self._X[:, kept])
        usual = np.maximum(p.mean(axis=0), 1e-9)  # a forest rarely gives a rare class the largest probability
        return _balanced_accuracy(self._y, (p / usual).argmax(axis=1))

    def _forecast(self, X: Array) -> Array:
        """Class probabilities (n, C) of every row, by a forest that did not learn from it."""
        p = np.zeros((self._y.size, int(self._y.max()) + 1))
        for k in (0, 1):
            forest = _forest(self._seed).fit(X[self._fold != k], self._y[self._fold != k])
            p[np.ix_(self._fold == k, forest.classes_)] = forest.predict_proba(X[self._fold == k])
        return p


def _balanced_accuracy(y: Array, predicted: Array) -> float:
    """Mean recall of the classes; hundreds of small scores are needed, so without any checks."""
    counts, hits = np.bincount(y), np.bincount(y[y == predicted], minlength=int(y.max()) + 1)
    return float((hits[counts > 0] / counts[counts > 0]).mean())


def _forest(seed: int) -> ExtraTreesClassifier:
    return ExtraTreesClassifier(_N_TREES, min_samples_leaf=5, class_weight="balanced", random_state=seed)
