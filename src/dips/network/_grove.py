"""One more hint that the network starts from: what a small forest makes of the labels.

Its trees are oblivious: all rows of a level are asked the same question, the best of a few random ones. Each tree is
grown without some of the labeled rows, and only such trees judge a row, so that no row is judged by its own label.

The same code runs in NumPy, for one table, and in PyTorch, for a batch of them; `xp` is the one or the other. What is
random is drawn once and for all: the network meets every table with its columns in random order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from dips.network._settings import ModelSettings

N_TREES, DEPTH, QUESTIONS = 48, 5, 8
LOOKS = 4  # ways in which a column is looked at: they differ in how levels, and missing cells, are ordered
LEFT_OUT = 16  # trees that are grown without a row
PRIOR_WEIGHT = 2.0  # rows that a leaf's answer borrows from the level above
FEW = 1e-3  # rows of each class at the least, in a tree that may have been grown on none
ABOVE = 1e-5  # by how much a number must exceed another, so that rounding decides nothing


@dataclass(frozen=True)
class Grove:
    """Trees grown on the labeled rows of a batch of tables."""

    xp: Any
    settings: ModelSettings
    column: Any  # (B, trees, levels) which look at which column is asked about
    cut: Any  # (B, trees, levels) which numbers answer yes: those above
    leaves: Any  # (B, trees, leaves, C) answers, less the shares of the classes
    own: Any  # (B, n, C) answers for the labeled rows, each by the trees grown without it
    explained: Any  # (B,) share of the variance of those rows

    def of_others(self, described: Any) -> Any:
        """Answers (B, m, C) for rows, of which the cells (B, m, F, numbers of a cell) are given."""
        looks = _looks(self.xp, described, self.settings)
        leaf = 0
        for level in range(DEPTH):
            leaf = 2 * leaf + _yes(self.xp, looks, self.column[:, :, level], self.cut[:, :, level])
        return _picked(self.xp, self.leaves, leaf).mean(1)


def fit_grove(xp: Any, described: Any, named: Any, settings: ModelSettings) -> Grove:
    """Grow trees on labeled rows: their cells (B, n, F, numbers of a cell) and one-hot labels (B, n, C)."""
    looks = _looks(xp, described, settings)
    kept = _like(xp, _kept(named.shape[1]), named)  # (trees, n)
    counted = kept[:, :, None] * named[:, None]  # (B, trees, n, C)
    leaf = xp.zeros_like(counted[..., 0], dtype=xp.int64)  # all rows begin in the same one
    columns, cuts = [], []
    for level in range(DEPTH):
        column, cut = _questions(xp, looks, level)
        answers = _yes(xp, looks, column, cut)
        best = _best(xp, answers, leaf, counted, 2**level)
        leaf = 2 * leaf + _chosen(xp, answers, best)
        columns.append(_chosen(xp, column, best))
        cuts.append(_chosen(xp, cut, best))
    leaves = _answers(xp, leaf, counted)
    left_out = (1 - kept)[:, :, None]
    said = _picked(xp, leaves, leaf)
    own = (said * left_out).sum(1) / left_out.sum(0)
    target = named - named.mean(1)[:, None]
    variance = (target**2).mean(2).mean(1) + 1e-9
    explained = (1 - ((target - own) ** 2).mean(2).mean(1) / variance).clip(0, 1)
    return Grove(xp, settings, xp.stack(columns, -1), xp.stack(cuts, -1), leaves, own, explained)


def _looks(xp: Any, described: Any, settings: ModelSettings) -> Any:
    """Numbers (B, N, F × looks) to ask about: a rank, the place of a level in a random order, or of missing cells."""
    code = settings.code_width
    rank, missing, level = described[..., 1:2], described[..., -code - 2 : -code - 1], described[..., -code:]
    seen = rank + missing * _like(xp, _places_of_missing(), described) + level @ _like(xp, _orders(code), described)
    tables, rows, columns, looks = seen.shape
    return seen.reshape(tables, rows, columns * looks)


def _questions(xp: Any, looks: Any, level: int) -> tuple[Any, Any]:
    """Random questions (B, trees, questions): a look at a column, and the number of a random labeled row as the cut."""
    tables, n, columns = looks.shape
    where, which = _drawn(level)
    table = _places(xp, tables, looks)[:, None, None]
    column = _like(xp, (where * columns).astype(np.int64), looks) + 0 * table
    return column, looks[table, _like(xp, (which * n).astype(np.int64), looks), column]


def _yes(xp: Any, looks: Any, column: Any, cut: Any) -> Any:
    """Which rows (B, ..., N) answer the questions (B, ...) with yes."""
    table = _places(xp, len(looks), looks).reshape(-1, *[1] * (column.ndim - 1))
    return looks.swapaxes(1, 2)[table, column] > cut[..., None] + ABOVE


def _best(xp: Any, answers: Any, leaf: Any, counted: Any, leaves: int) -> Any:
    """Which question (B, trees) of each tree parts the classes best, as the sum of squares over sizes of the parts."""
    tables, trees, n, classes = counted.shape
    in_leaf = leaf[..., None] == _places(xp, leaves, counted)  # (B, trees, n, leaves)
    sorted_in = (in_leaf[..., None] * counted[:, :, :, None]).reshape(tables, trees, n, -1)
    yes = xp.where(answers, 1 + 0 * counted[:, :1, :1, :1], 0) @ sorted_in
    yes = yes.reshape(tables, trees, QUESTIONS, leaves, classes)
    no = sorted_in.sum(2).reshape(tables, trees, 1, leaves, classes) - yes
    purity = sum((part**2).sum(-1) / (part.sum(-1) + 1e-6) for part in (yes, no))
    first = _like(xp, 1e-4 * np.arange(QUESTIONS), counted)  # of equal ones the first, whatever the rounding
    return (purity.sum(-1) - first).argmax(-1)


def _answers(xp: Any, leaf: Any, counted: Any) -> Any:
    """What each leaf (B, trees, leaves, C) answers: its shares, drawn to those of the level above, less all shares."""
    tables, trees, _, classes = counted.shape
    in_leaf = leaf[..., None] == _places(xp, 2**DEPTH, counted)
    counts = [xp.where(in_leaf, 1 + 0 * counted[..., :1], 0).swapaxes(2, 3) @ counted]
    for level in reversed(range(DEPTH)):
        counts.append(counts[-1].reshape(tables, trees, 2**level, 2, classes).sum(3))
    every = counts.pop()
    shares = (every + FEW / classes) / (every.sum(-1)[..., None] + FEW)
    answer = shares
    for count in reversed(counts):
        above = xp.stack([answer, answer], 3).reshape(count.shape)
        answer = (count + PRIOR_WEIGHT * above) / (count.sum(-1)[..., None] + PRIOR_WEIGHT)
    return answer - shares


def _picked(xp: Any, leaves: Any, leaf: Any) -> Any:
    """Answers (B, trees, N, C) of the leaves (B, trees, N)."""
    tables, trees = leaf.shape[:2]
    return leaves[_places(xp, tables, leaves)[:, None, None], _places(xp, trees, leaves)[None, :, None], leaf]


def _chosen(xp: Any, values: Any, best: Any) -> Any:
    """Of values (B, trees, questions, ...) those of the best question."""
    tables, trees = best.shape
    return values[_places(xp, tables, best)[:, None], _places(xp, trees, best)[None], best]


def _places(xp: Any, count: int, like: Any) -> Any:
    """0, 1, ... on the device of another array."""
    return _like(xp, np.arange(count), like)


def _like(xp: Any, array: np.ndarray, like: Any) -> Any:
    """Numbers in the library and on the device of another array, and in its precision unless they are whole."""
    dtype = None if array.dtype.kind == "i" else like.dtype
    return array.astype(dtype or np.int64) if xp is np else xp.as_tensor(array, dtype=dtype, device=like.device)


@lru_cache(maxsize=64)
def _kept(n: int) -> np.ndarray:
    """Which trees (trees, n) are grown on which rows: all but the same number of each row."""
    order = np.random.default_rng(1).random((n, N_TREES)).argsort(1)
    return (order >= LEFT_OUT).T.astype(np.float64)


@cache
def _drawn(level: int) -> np.ndarray:
    return np.random.default_rng((2, level)).random((2, N_TREES, QUESTIONS))


@cache
def _places_of_missing() -> np.ndarray:
    """Missing cells come before nearly all others or after them."""
    return np.array([-3.0, 3.0] * (LOOKS // 2))


@cache
def _orders(code: int) -> np.ndarray:
    """Directions (code, looks) in which the random names of levels are ordered."""
    return np.random.default_rng(3).normal(size=(code, LOOKS)) / code**0.5
