"""Boosted trees whose library says which leaf each row ends in, and the watch pass over those leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dips._data.containers import n_rows, take
from dips._dynamics import Dynamics
from dips._forest import kernel
from dips._forest.chunks import N_PROBES, missing_constant, watch_chunks
from dips._tools.arrays import Array


@dataclass(frozen=True)
class Leaves:
    """The leaves of a boosted classifier whose every round is one tree, with a value per class in each leaf.

    Attributes
    ----------
    leaf_of : function of a table that returns the leaf (n, rounds) of each row in each tree, as uint32
    values : (leaves of all trees x outputs,) float64
    starts : (rounds,) int64, where each tree's values begin
    base : (outputs,) float64, raw score before the first tree
    """

    leaf_of: Callable[[Any], Array]
    values: Array
    starts: Array
    base: Array

    @classmethod
    def calibrated(
        cls, leaf_of: Callable[[Any], Array], values: Array, n_leaves: Array, X: Any, margin: Callable[[Any], Array]
    ) -> Leaves | None:
        """Find the score before the first tree; None if the leaves do not add up to the library's own raw score."""
        n_outputs = values.size // int(n_leaves.sum())
        starts = (np.concatenate([[0], np.cumsum(n_leaves)[:-1]]) * n_outputs).astype(np.int64)
        probes = take(X, np.arange(min(N_PROBES, n_rows(X))))
        places = starts + leaf_of(probes).astype(np.int64) * n_outputs  # (n, rounds)
        sums = np.column_stack([values[places + k].sum(axis=1) for k in range(n_outputs)])
        base = missing_constant(margin(probes), sums)
        return None if base is None else cls(leaf_of, np.ascontiguousarray(values, dtype=np.float64), starts, base)

    @staticmethod
    def reads(X: Any) -> bool:
        """Whether the table can be read: any can, since the library itself does it."""
        return True

    def watch(self, X: Any, dynamics: Dynamics, rows: slice = slice(None), n_threads: int = 1) -> None:
        """Fill in the statistics and last probabilities of `rows` from their table."""
        n = n_rows(X)
        n_leaves = np.diff(self.starts, append=self.values.size) // self.base.size  # of each tree

        def one_chunk(part: slice, window: range, p: Array, wanted: Any) -> int:
            table = X[part] if isinstance(X, np.ndarray) else take(X, np.arange(*part.indices(n)))
            leaves = np.ascontiguousarray(self.leaf_of(table), dtype=np.uint32)
            if leaves.shape != (n_rows(table), self.starts.size) or (leaves >= n_leaves).any():
                raise ValueError("The leaves were misread: a row ends in a leaf that does not exist.")
            return kernel.call(
                "dips_watch_leaves",
                *(leaves, leaves.shape[0], self.values, self.starts, self.starts.size, window.start, window.stop),
                *(self.base, self.base.size, p.shape[1], p, wanted),
            )

        watch_chunks(one_chunk, n, self.starts.size, self.base.size, dynamics, rows, n_threads)
