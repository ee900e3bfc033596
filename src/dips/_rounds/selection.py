"""The best rows of each class of a pool of any size, exactly, without an entry per row: radix selection.

A row has a *place* in its class, 32 bits of its score and 64 bits that settle ties, both the lower the better. The last
place that is taken is found from its highest bits to its lowest: every pass counts, for each class, the rows by their
next few bits. Counts add up exactly and in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, TypeAlias

import numpy as np

from dips._data.pool import Pool, Reduced
from dips._tools.arrays import Array, Rows

SCORE_BITS, TIE_BITS = 32, 64
_SCORE_STEPS = (20, 12)  # the exponent of a probability leaves few of the first 20 bits free
_TIE_STEP = 16

Places: TypeAlias = Callable[[Rows, Any], tuple[Array, Array, Array]]
"""From rows and their table to class, score place (uint32) and tie place (uint64) of those that may be taken."""
RankedPool: TypeAlias = tuple[Pool, Places]


@dataclass(frozen=True)
class Cut:
    """The last place of each class that is taken: (C,) each."""

    score: Array  # -1 where nothing is taken, above 32 bits where all is
    tie: Array

    def takes(self, classes: Array, score: Array, tie: Array) -> Array:
        """Mask of the rows with these classes and places that are taken."""
        last, score = self.score[classes], score.astype(np.int64)
        return (score < last) | ((score == last) & (tie <= self.tie[classes]))


def score_places(scores: Array) -> Array:
    """Places of scores from 0 up, the highest first."""
    return ~np.ascontiguousarray(scores, dtype=np.float32).view(np.uint32)


def tie_places(rows: Rows, first: int) -> Array:
    """Places of row numbers from `first` up, the lowest first."""
    with np.errstate(over="ignore"):
        return (rows.astype(np.int64) - np.int64(first)).view(np.uint64)


def find_cut(sources: Sequence[RankedPool], caps: Array, tie_bits: int = TIE_BITS) -> Cut:
    """Return the cut below which each class has ``caps[c]`` rows, or all if it has fewer.

    Parameters
    ----------
    sources : pools with a function for the places of their rows
    caps : (C,)
    tie_bits : how many of the lowest bits of the tie place are used
    """
    known, need = np.zeros(caps.size, dtype=object), np.asarray(caps, dtype=np.int64).copy()
    score, tie = np.full(caps.size, -1, dtype=np.int64), np.zeros(caps.size, dtype=np.uint64)
    is_open, left = need > 0, SCORE_BITS + tie_bits
    for step in _steps(tie_bits):
        if not is_open.any():
            break
        look = partial(_next_bits, known.tolist(), is_open, left, left - step, tie_bits)
        counted = reduce(
            add_counts, (pool.reduce(partial(_counted, look, places), add_counts) for pool, places in sources)
        )
        for c in np.flatnonzero(is_open).tolist():
            digits, counts = _of_class(counted, c, step)
            below = np.cumsum(counts)
            if not digits.size or below[-1] <= need[c]:  # only in the first pass: all are taken
                known[c], need[c] = (1 << step) - 1, 0
            else:
                k = int(np.searchsorted(below, need[c]))
                need[c] -= below[k] - counts[k]
                known[c] = (known[c] << step) | int(digits[k])
                need[c] = 0 if need[c] == counts[k] else need[c]
            if need[c] == 0 or left == step:
                last = (known[c] + 1 << (left - step)) - 1  # whatever follows these bits
                score[c], tie[c] = last >> tie_bits, last & ((1 << tie_bits) - 1)
                is_open[c] = False
        left -= step
    return Cut(score, tie)


def add_counts(one: Reduced, other: Reduced) -> Reduced:
    """Add counts by key."""
    keys, where = np.unique(np.concatenate([one["keys"], other["keys"]]), return_inverse=True)
    counts = np.zeros(keys.size, dtype=np.int64)
    np.add.at(counts, where, np.concatenate([one["counts"], other["counts"]]))
    return {"keys": keys, "counts": counts}


def _steps(tie_bits: int) -> list[int]:
    steps, left = list(_SCORE_STEPS), tie_bits
    while left > 0:
        steps.append(min(_TIE_STEP, left))
        left -= steps[-1]
    return steps


def _counted(look: Callable[..., Array], places: Places, rows: Rows, X: Any) -> Reduced:
    keys, counts = np.unique(look(*places(rows, X)), return_counts=True)
    return {"keys": keys, "counts": counts}


def _next_bits(
    known: list[int], is_open: Array, high: int, low: int, tie_bits: int, classes: Array, score: Array, tie: Array
) -> Array:
    """Keys, class and bits from `high` down to `low` of the place, of the rows whose higher bits are those known."""
    n_bits = high - low
    wanted = is_open[classes]
    above: Array
    if high > tie_bits:  # still among the bits of the score
        above, bits = score.astype(np.int64) >> (high - tie_bits), score.astype(np.int64) >> (low - tie_bits)
        wanted &= above == np.array(known, dtype=np.int64)[classes]
    else:
        known_score = np.array([k >> (tie_bits - high) for k in known], dtype=np.int64)
        known_tie = np.array([k & ((1 << (tie_bits - high)) - 1) for k in known], dtype=np.uint64)
        above = tie >> np.uint64(high) if high < TIE_BITS else np.zeros_like(tie)
        wanted &= (score == known_score[classes]) & (above == known_tie[classes])
        bits = (tie >> np.uint64(low)).astype(np.int64)
    return (classes[wanted].astype(np.int64) << n_bits) | (bits[wanted] & ((1 << n_bits) - 1))


def _of_class(counted: Reduced, c: int, step: int) -> tuple[Array, Array]:
    mine = counted["keys"] >> step == c
    return counted["keys"][mine] & ((1 << step) - 1), counted["counts"][mine]
