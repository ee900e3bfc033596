"""Columns, alone or in pairs, that predict the label as if they had been recorded after it was known.

Wrong labels hide a leak: with 8 % of them a column that holds the outcome itself is right in 92 of 100 rows. So scores
are read against the share of labels that look wrong, and beside what all other columns together can do. Of a rare class
wrong labels may hide half: then a column that only hints at it has the score of a leak. What tells them apart is that
wherever the leak names a class, nearly all labels agree, as often as labels are right; where a hint does, few do. Where
most columns tell the label alone, the classes are just far apart, and nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

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
_LEAST_OF_CLASS = 5  # rows; of fewer, some column tells all by chance
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


class _Reading(NamedTuple):
    """What a small tree makes of a column, or of two, on rows it did not learn from.

    Attributes
    ----------
    score : balanced accuracy
    purity : where it is sure enough of a class to overrule how often classes occur, how often the label says so
    """

    score: float
    purity: float


class LeakCheck:
    """Scores of columns and pairs, computed once; which of them are leaks depends on the share of wrong labels.

    Parameters
    ----------
    preparation, X : the columns, and the matrix they became
    codes, labeled : labels of all rows, and the rows to learn from, of which some are drawn
    groups : of all rows; none is on both sides
    counts : labels of every class, where the rows given were already drawn by :func:`rows_to_check`
    """

    def __init__(
        self,
        preparation: Preparation,
        X: Array,
        codes: Array,
        labeled: Rows,
        seed: int = 0,
        groups: Array | None = None,
        counts: Array | None = None,
    ) -> None:
        rng = np.random.RandomState(seed)
        self._preparation, self._seed = preparation, seed
        rows = rows_to_check(codes, labeled, seed)
        classes, self._y = np.unique(codes[rows], return_inverse=True)
        self._X, self._n_classes = X[rows], classes.size
        self._candidates: list[tuple[Leak, _Reading]] = []
        self._readings: dict[str, _Reading] = {}
        self._noise = 0.0
        if self._n_classes < 2:
            return
        self._counts = np.bincount(self._y)
        given = (np.bincount(codes[labeled]) if counts is None else counts)[classes]
        self._shares = given / given.sum()
        alone = np.arange(rows.size) if groups is None else groups[rows]
        self._fold = grouped_folds(self._y, alone, 2, rng.permutation(rows.size))
        self._kinds = {c.name: c.kind for c in preparation.schema.used}
        self._columns = list(self._kinds)
        self._readings = {name: self._read([name]) for name in self._columns}
        best = sorted(self._readings, key=lambda name: -sum(self._readings[name]))[:_LOOKED_AT]
        found = {(name,): self._readings[name] for name in best if self._readings[name].score > 0.6} | self._pairs()
        self._candidates = [(Leak(names, r.score, self._without(names)), r) for names, r in found.items()]
        weights = (self._shares / self._counts)[self._y]  # as many of every class as there are in the table
        self._noise = min(noise_rate(self._forecast(self._X), self._y, weights), _USUAL_NOISE)

    def leaks(self, noise: float | None = None) -> list[Leak]:
        """Return the leaks, given the share of labels that look wrong; without it, a quick guess is made."""
        noise = self._noise if noise is None else noise
        ahead = [leak for leak, reading in self._candidates if self._is_ahead(leak, reading, noise)]
        leaks = {leak.columns: leak for leak in [*ahead, *self._certain(noise)]}
        singles = {columns[0] for columns in leaks if len(columns) == 1}
        return [leak for columns, leak in leaks.items() if len(columns) == 1 or not singles & set(columns)]

    def _is_ahead(self, leak: Leak, reading: _Reading, noise: float) -> bool:
        by = leak.score - leak.others
        by_chance = 2 * float(np.hypot(self._error(leak.score), self._error(leak.others)))
        return by >= max(_AHEAD, by_chance) and self._tells(reading, max(noise, _USUAL_NOISE))

    def _tells(self, reading: _Reading, noise: float) -> bool:
        """Whether the score would be nearly perfect, were all labels right, and is no accident of a few rare rows.

        That wrong labels are why it is not is only believed where they are as rare among the rows that the column takes
        for one class.
        """
        if reading.score - 2 * self._error(reading.score) < 1 / self._n_classes + _ABOVE_CHANCE:
            return False
        is_pure = reading.purity >= _CERTAIN * (1 - max(self._likely(noise), _USUAL_NOISE))
        return reading.score >= _CERTAIN or (is_pure and self._without_noise(reading.score, noise) >= _CERTAIN)

    def _error(self, score: float) -> float:
        """Standard error of a balanced accuracy."""
        return float(np.sqrt((score * (1 - score) / self._counts).sum()) / self._n_classes)

    def _certain(self, noise: float) -> list[Leak]:
        """Return the columns from which alone the label can be read, unless that can be said of most.

        Where wrong labels hide how well a column does, all other columns must not do better.
        """
        scores = {name: r.score for name, r in self._readings.items() if self._tells(r, noise)}
        if not scores or len(scores) > max(2, len(self._readings) / 2):
            return []
        rest = self._without(tuple(scores))
        names = [name for name, score in scores.items() if score >= min(rest - _AS_GOOD, _CERTAIN)]
        best = sorted(names, key=lambda name: -scores[name])[:_LOOKED_AT]
        return [Leak((name,), scores[name], rest) for name in best]

    def _likely(self, noise: float) -> float:
        """A share of wrong labels with which no class has more wrong labels than right ones."""
        rarest = self._shares.min()
        half_of_rarest = (self._n_classes - 1) * rarest / (2 * (1 - rarest))
        return float(min(noise, half_of_rarest, 0.8 * (1 - 1 / self._n_classes)))

    def _without_noise(self, score: float, noise: float) -> float:
        """Balanced accuracy against true labels, were any label wrong with the same probability.

        Wrong labels cost a rare class most: many of the labels that say it are then wrong ones.
        """
        given, chance, noise = self._shares, 1 / self._n_classes, self._likely(noise)
        truly = np.clip((given - noise * chance / (1 - chance)) / (1 - noise / (1 - chance)), 0.001, 1)
        reachable = float(np.minimum(truly * (1 - noise) / given, 1).mean())
        return min(1.0, chance + (score - chance) * (1 - chance) / max(reachable - chance, _LEAST_REACH))

    def _pairs(self) -> dict[tuple[str, ...], _Reading]:
        """Return pairs that say far more than either column, the best first."""
        columns = self._columns_to_pair()
        some = rows_to_check(self._y, np.arange(self._y.size), self._seed, _ROWS_OF_PAIRS)
        gains = {}
        for pair in combinations(columns, 2):
            alone = max(self._readings[name].score for name in pair)
            if (score := self._read(list(pair), some).score) - alone >= _PAIR_AHEAD:
                gains[pair] = score
        best = sorted(gains, key=lambda pair: -gains[pair])[:_LOOKED_AT]
        return {pair: self._read(list(pair)) for pair in best}

    def _columns_to_pair(self) -> list[str]:
        short = [name for name, kind in self._kinds.items() if kind != "text"]
        if len(short) <= _COLUMNS_OF_PAIRS:
            return short
        forest = _forest(self._seed).fit(self._X, self._y)
        importances = forest.feature_importances_  # asked for once: each time it is computed anew
        weight = {name: importances[self._preparation.columns_of(name)].sum() for name in short}
        return sorted(short, key=lambda name: -weight[name])[:_COLUMNS_OF_PAIRS]

    def _read(self, names: list[str], rows: Rows | slice = slice(None)) -> _Reading:
        parts = [self._X[rows][:, self._preparation.columns_of(name)] for name in names]
        depth = 3 + int(np.ceil(np.log2(self._n_classes)))  # leaves for every class, several times over
        if len(names) == 2:
            depth += 2
            if all(self._kinds[name] in ("number", "date") for name in names):
                parts.append(parts[0][:, :1] - parts[1][:, :1])  # one day before the other, one amount above the other
        X, y, fold = np.hstack(parts), self._y[rows], self._fold[rows]
        p = np.zeros((y.size, self._n_classes))  # were all classes equally frequent
        for k in (0, 1):
            tree = DecisionTreeClassifier(
                max_depth=depth, min_samples_leaf=5, class_weight="balanced", random_state=self._seed
            ).fit(X[fold != k], y[fold != k])
            p[np.ix_(fold == k, tree.classes_)] = tree.predict_proba(X[fold == k])
        score = _balanced_accuracy(y, p.argmax(axis=1))
        return _Reading(score, _purity(y, (p * self._shares).argmax(axis=1), self._shares))

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


def rows_to_check(codes: Array, labeled: Rows, seed: int = 0, n: int = _ENOUGH_ROWS) -> Rows:
    """Draw rows of which a rare class has more than its share, and none has only a few.

    Examples
    --------
    >>> codes = np.repeat([0, 1, 2], [99_000, 997, 3])
    >>> np.bincount(codes[rows_to_check(codes, np.arange(100_000))]).tolist()
    [4003, 997]
    """
    counts = np.bincount(codes[labeled])
    counts[counts < _LEAST_OF_CLASS] = 0
    labeled = labeled[counts[codes[labeled]] > 0]
    shuffled = np.random.RandomState(seed).permutation(labeled)
    if labeled.size <= n:
        return np.sort(shuffled)
    least = np.minimum(counts, n // (2 * np.count_nonzero(counts)))
    quota = np.maximum(least, counts * n / labeled.size)
    quota -= (quota - least) * (quota.sum() - n) / (quota - least).sum()
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    place = np.arange(labeled.size) - np.repeat(np.cumsum(counts) - counts, counts)  # in its class
    return np.sort(by_class[place < np.floor(quota)[codes[by_class]]])


def _balanced_accuracy(y: Array, predicted: Array) -> float:
    """Mean recall of the classes; hundreds of small scores are needed, so without any checks."""
    counts, hits = np.bincount(y), np.bincount(y[y == predicted], minlength=int(y.max()) + 1)
    return float((hits[counts > 0] / counts[counts > 0]).mean())


def _purity(y: Array, named: Array, shares: Array) -> float:
    """Share of right labels where a class is named, on average over classes; 0 of one that is never named.

    Rows count so that every class has its share, however many of them were drawn.
    """
    weights = (shares / np.maximum(np.bincount(y, minlength=shares.size), 1))[y]
    all_named = np.bincount(named, weights, minlength=shares.size)
    right = np.bincount(y[named == y], weights[named == y], minlength=shares.size)
    return float(np.divide(right, all_named, out=np.zeros(shares.size), where=all_named > 0).mean())


def _forest(seed: int) -> ExtraTreesClassifier:
    return ExtraTreesClassifier(_N_TREES, min_samples_leaf=5, class_weight="balanced", random_state=seed)
