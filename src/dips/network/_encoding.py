"""Tables as the network reads them, in NumPy; the training's own way, for batches in PyTorch, is in ``_cells.py``."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dips._tools.arrays import Array
from dips.network._settings import ModelSettings

FAR = 1e30  # standard deviations; further away, numbers overflow


@dataclass(frozen=True)
class Codes:
    """Random names of levels, tokens and classes: one draw of them is one view of a table."""

    levels: Array  # (F, levels, code)
    tokens: Array  # (tokens, code)
    classes: Array  # (C, code)

    @classmethod
    def draw(cls, rng: np.random.Generator, columns: int, levels: int, classes: int, settings: ModelSettings) -> Codes:
        """New names; those of classes are random rows of a Hadamard matrix with random signs, at right angles."""
        width = settings.code_width
        tokens = settings.tokens_of(columns)
        matrix = np.ones((1, 1))
        while len(matrix) < width:
            matrix = np.block([[matrix, matrix], [matrix, -matrix]])
        named = matrix[rng.permutation(width)[:classes]] * rng.choice([-1.0, 1.0], size=width)
        drawn = rng.normal(size=(columns, levels, width)), rng.normal(size=(tokens, width)), named
        return cls(*(part.astype(np.float32) for part in drawn))


@dataclass(frozen=True)
class Columns:
    """What the context rows tell about each column; enough to describe any row."""

    categorical: Array  # (F,)
    count: Array  # (F,) values that are not missing
    mean: Array  # (F,)
    spread: Array  # (F,)
    known: list[Array]  # of each column, its values in ascending order

    @classmethod
    def of(cls, values: Array, categorical: Array) -> Columns:
        """Look at the context rows (n, F), NaN where missing."""
        known = [np.sort(column[~np.isnan(column)]) for column in values.T]
        largest = np.array([np.abs(column).max(initial=0.0) for column in known])
        scale = np.where(largest > 0, largest, 1.0)  # so that squares of huge numbers do not overflow
        mean = scale * [(column / s).mean() if column.size else 0.0 for column, s in zip(known, scale, strict=True)]
        spread = scale * [(column / s).std() if column.size else 0.0 for column, s in zip(known, scale, strict=True)]
        spread = np.where(spread > 1e-6 * largest, spread, np.maximum(1e-6 * largest, 1e-30))
        return cls(np.asarray(categorical), np.array([max(1, column.size) for column in known]), mean, spread, known)

    def cells(self, values: Array, codes: Codes, settings: ModelSettings) -> Array:
        """Rows as (n, columns, numbers of a cell), the columns padded with zeros to fill whole tokens."""
        rows, columns = values.shape
        out = np.zeros((rows, len(codes.tokens) * settings.columns_per_token, settings.cell_width), np.float32)
        for j in range(columns):
            self._describe(j, values[:, j], codes.levels[j], settings.waves, out[:, j])
        return out

    def _describe(self, j: int, column: Array, codes: Array, waves: tuple[int, ...], out: Array) -> None:
        """Standardized value, rank, its waves; frequency; the flags missing and categorical; the level's name."""
        if self.categorical[j]:
            column = np.where(column < len(codes), column, np.nan)  # no row of the context gave the level a name
        else:
            column = self._as_far_as_known(j, column)
        absent = np.isnan(column)
        below = np.searchsorted(self.known[j], column, side="left")
        upto = np.searchsorted(self.known[j], column, side="right")
        flags = 2 + 2 * len(waves)
        out[:, flags] = np.where(absent, 0.0, (upto - below) / self.count[j])
        out[:, flags + 1] = absent
        out[:, flags + 2] = self.categorical[j]
        if self.categorical[j]:
            level = np.where(absent, 0, column).astype(np.intp)
            out[:, flags + 3 :] = codes[level] * ~absent[:, None]
            return
        rank = (below + upto) / (2.0 * self.count[j])
        with np.errstate(over="ignore"):
            value = (column / self.spread[j] - self.mean[j] / self.spread[j]).clip(-FAR, FAR)
        out[:, 0] = np.arcsinh(value)
        out[:, 1] = 2 * rank - 1
        for place, wave in enumerate(waves):
            out[:, 2 + place] = np.sin(rank * (math.pi * wave))
            out[:, 2 + len(waves) + place] = np.cos(rank * (math.pi * wave))
        out[absent, :flags] = 0.0

    def _as_far_as_known(self, j: int, column: Array) -> Array:
        """Numbers of a column that has no two values in the context are all alike: nothing is known of any other."""
        known = self.known[j]
        if known.size and known[0] < known[-1]:
            return column
        return np.where(np.isnan(column), np.nan, known[0] if known.size else np.nan)


def marks_of(given: Array, classes: int) -> Array:
    """Marks of the class tokens, (n, C, 2): is the row labeled; with this class. Unlabeled rows have -1."""
    named = given[:, None] == np.arange(classes)
    return np.stack([np.broadcast_to(given[:, None] >= 0, named.shape), named], -1).astype(np.float32)
