"""Boosted trees of any library as flat arrays, and the watch pass over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dips._dynamics import Dynamics
from dips._forest import kernel
from dips._forest.chunks import N_PROBES, missing_constant, watch_chunks
from dips._tools.arrays import Array

_THE_LAST = (1 - 1e-6, 1.0)  # a window of one checkpoint


def tree_problem(left: Array, right: Array, offsets: Array) -> str | None:
    """Say what is wrong with trees whose nodes name their children, counted from the root of their tree; -1 is none."""
    sizes, is_inner = np.diff(offsets), left >= 0
    if offsets.size == 0 or offsets[0] != 0 or (sizes < 1).any() or offsets[-1] != left.size:
        return "its trees do not add up to its nodes"
    if (is_inner != (right >= 0)).any():
        return "a node has one child"
    root = np.repeat(offsets[:-1], sizes)
    children = np.concatenate([left[is_inner], right[is_inner]])
    if (children >= np.tile(np.repeat(sizes, sizes)[is_inner], 2)).any():
        return "a child is not a node of its tree"
    n_parents = np.bincount(children + np.tile(root[is_inner], 2), minlength=left.size)
    if (n_parents > 1).any() or n_parents[offsets[:-1]].any():  # the only ways to a cycle that a row could enter
        return "a node has two parents or is the child of itself"
    return None


@dataclass(frozen=True)
class Forest:
    """The trees of a boosted classifier, node by node; checked when made, since compiled code follows them blindly.

    Attributes
    ----------
    left, right : (nodes,) int32
        Children of each node, counted from the root of its tree; -1 for both in a leaf.
    feature : (nodes,) int32
    threshold : (nodes,) float32 or float64
        A row goes left where its value is at most this; its precision is that of all comparisons and sums.
    value : (nodes,) as `threshold`
        What a leaf adds to the raw score.
    missing_left : (nodes,) uint8
        Whether a row without a value goes left.
    offsets : (trees + 1,) int64
        Where each tree's nodes begin.
    outputs : (trees,) int32
        The class whose score each tree adds to; 0 throughout for two classes.
    rounds : (checkpoints + 1,) int64
        Where each checkpoint's trees begin.
    n_outputs : int
        Scores of a row: 1 for two classes, otherwise one per class.
    base : (n_outputs,)
        Raw score before the first tree.
    """

    left: Array
    right: Array
    feature: Array
    threshold: Array
    value: Array
    missing_left: Array
    offsets: Array
    outputs: Array
    rounds: Array
    n_outputs: int
    base: Array

    @classmethod
    def of(
        cls,
        *,
        left: Array,
        right: Array,
        feature: Array,
        threshold: Array,
        value: Array,
        missing_left: Array,
        sizes: list[int],
        outputs: Any,
        rounds: Any,
        n_outputs: int,
    ) -> Forest:
        """Make a forest, without a base yet, from nodes in any numeric types, of which tree t has ``sizes[t]``."""
        real = threshold.dtype
        return cls(
            left=left.astype(np.int32),
            right=right.astype(np.int32),
            feature=feature.astype(np.int32),
            threshold=np.ascontiguousarray(threshold),
            value=np.ascontiguousarray(value, dtype=real),
            missing_left=missing_left.astype(np.uint8),
            offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            outputs=np.asarray(outputs, dtype=np.int32),
            rounds=np.asarray(rounds, dtype=np.int64),
            n_outputs=n_outputs,
            base=np.zeros(n_outputs, dtype=real),
        )

    def __post_init__(self) -> None:
        """Refuse trees that lead outside of their arrays or have cycles."""
        problem = self._problem()
        if problem:
            raise ValueError(f"The trees were misread: {problem}.")

    def _problem(self) -> str | None:
        if wrong := [name for name, dtype in self._dtypes.items() if not _is_plain(getattr(self, name), dtype)]:
            return f"{wrong[0]} is not an array that the compiled code can read"
        is_inner = self.left >= 0
        if len({column.shape for column in self._nodes[:-1]}) != 1 or self.left.ndim != 1:
            return "its columns differ in length"
        if self.offsets.size != self.outputs.size + 1:
            return "its trees do not add up to its nodes"
        if problem := tree_problem(self.left, self.right, self.offsets):
            return problem
        if (self.feature[is_inner] < 0).any():
            return "a column is negative"
        if self.base.shape != (self.n_outputs,) or not np.isin(self.outputs, np.arange(self.n_outputs)).all():
            return "a tree adds to a score that does not exist"
        first, last = (self.rounds[0], self.rounds[-1]) if self.rounds.size else (0, -1)
        if first < 0 or (np.diff(self.rounds) < 0).any() or not 0 <= last <= self.outputs.size:
            return "its rounds do not follow each other"
        return None

    @property
    def _dtypes(self) -> dict[str, str]:
        real = "f4" if getattr(self.threshold, "dtype", None) == np.float32 else "f8"
        names = {
            "i4": ("left", "right", "feature", "outputs"),
            "i8": ("offsets", "rounds"),
            "u1": ("missing_left",),
            real: ("threshold", "value", "base"),
        }
        return {name: dtype for dtype, columns in names.items() for name in columns}

    @staticmethod
    def reads(X: Any) -> bool:
        """Whether the compiled walk can read the table."""
        return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"

    @property
    def n_checkpoints(self) -> int:
        """How many boosting rounds there are."""
        return self.rounds.size - 1

    @cached_property
    def n_columns(self) -> int:
        """How many columns a table must have for these trees."""
        return int(self.feature[self.left >= 0].max(initial=-1)) + 1

    def _check_columns(self, X: Array) -> None:
        if X.shape[1] < self.n_columns:
            raise ValueError(f"The trees ask for {self.n_columns} columns; the table has {X.shape[1]}.")

    def calibrated(self, X: Array, margin: Callable[[Array], Array]) -> Forest | None:
        """Find the score before the first tree; None if the trees do not add up to the library's own raw score."""
        if X.shape[1] < self.n_columns:
            return None
        probes = X[:N_PROBES]
        base = missing_constant(margin(probes), self.margins(probes))
        return None if base is None else replace(self, base=base.astype(self.base.dtype))

    def margins(self, X: Array) -> Array:
        """Raw scores (n, outputs)."""
        self._check_columns(X)
        values = np.ascontiguousarray(X, dtype=self.threshold.dtype)
        scores = np.tile(self.base.astype(np.float64), (values.shape[0], 1))
        kernel.call(
            f"dips_margins_{self._precision}",
            *(values, *values.shape, *self._nodes, self.outputs, self.outputs.size, scores, self.n_outputs),
        )
        return scores

    @property
    def _precision(self) -> str:
        return "f32" if self.threshold.dtype == np.float32 else "f64"

    @property
    def _nodes(self) -> tuple[Array, ...]:
        return (self.left, self.right, self.feature, self.threshold, self.value, self.missing_left, self.offsets)

    def watch(self, X: Array, dynamics: Dynamics, rows: slice = slice(None), n_threads: int = 1) -> None:
        """Fill in the statistics and last probabilities of `rows` from their values (n, features)."""
        self._check_columns(X)

        def one_chunk(part: slice, window: range, p: Array, wanted: Any) -> int:
            values = X[part].astype(self.threshold.dtype, copy=False)
            return kernel.call(
                f"dips_watch_{self._precision}",
                *(*kernel.matrix(values), *self._nodes, *self._steps, self.outputs, self.rounds),
                *(self.n_checkpoints, window.start, window.stop, self.base, self.n_outputs, p.shape[1], p, wanted),
            )

        watch_chunks(one_chunk, X.shape[0], self.n_checkpoints, self.n_outputs, dynamics, rows, n_threads)

    def predict_proba(self, X: Array, n_threads: int = 1) -> Array:
        """Class probabilities (n, C) of the last checkpoint."""
        last = Dynamics(X.shape[0], max(2, self.n_outputs), statistics=(), window=_THE_LAST)
        self.watch(X, last, n_threads=n_threads)
        return last.probabilities

    @cached_property
    def _steps(self) -> tuple[Array, Array]:
        """Inner nodes, children before parents, and where those of each tree begin."""
        real = self.threshold.dtype
        step = np.dtype([("threshold", real), ("left", real), ("right", real), ("column", "i4"), ("kind", "i4")])
        steps, starts = np.empty(2 * self.left.size, dtype=step), np.empty(self.outputs.size + 1, dtype=np.int64)
        pending = np.empty(2 * int(np.diff(self.offsets).max(initial=0)) + 2, dtype=np.int32)
        kernel.call(f"dips_order_{self._precision}", *self._nodes, self.outputs.size, pending, steps, starts)
        return steps, starts


def _is_plain(array: Any, dtype: str) -> bool:
    return isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == 1 and array.flags.c_contiguous
