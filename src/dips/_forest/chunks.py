"""What the compiled watch passes share: rows in chunks over threads, and the check that a model was read correctly."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from dips._dynamics import Dynamics
from dips._forest import kernel
from dips._tools.arrays import Array

N_PROBES = 32
_CHUNK = 8192  # rows: enough to keep a thread busy, few enough to convert without much memory
_ROUNDING = 1e-4  # of a sum of hundreds of leaves in single precision


def watch_chunks(
    one_chunk: Callable[[slice, range, Array, Any], int],
    n_rows: int,
    n_checkpoints: int,
    n_outputs: int,
    dynamics: Dynamics,
    rows: slice,
    n_threads: int,
) -> None:
    """Call `one_chunk` on chunks of rows, with the window and the arrays for their probabilities and statistics."""
    if dynamics.n_classes != max(2, n_outputs):
        raise ValueError(f"The model has {max(2, n_outputs)} classes; {dynamics.n_classes} were asked for.")
    window = dynamics.window_of(n_checkpoints)
    p = dynamics.probabilities[rows]
    averages = {name: average[rows] for name, average in dynamics.averages.items()}

    def watch(start: int) -> int:
        part = slice(start, start + _CHUNK)
        wanted = kernel.pointers({name: average[part] for name, average in averages.items()})
        return one_chunk(part, window, p[part], wanted)

    starts = range(0, n_rows, _CHUNK)
    if n_threads == 1 or len(starts) == 1:
        statuses = [watch(start) for start in starts]
    else:
        with ThreadPoolExecutor(n_threads) as threads:
            statuses = list(threads.map(watch, starts))
    if any(statuses):
        raise MemoryError("Too little memory is left to watch even a few rows.")
    dynamics.saw(n_checkpoints)


def missing_constant(margin: Array, sum_of_leaves: Array) -> Array | None:
    """Return what a library's own raw scores of a few rows have beyond the sums of leaves (n, outputs).

    None if that is not the same for every row: then the trees were misread and must not be used.
    """
    difference = np.asarray(margin, dtype=np.float64).reshape(sum_of_leaves.shape) - sum_of_leaves
    constant = np.median(difference, axis=0)
    is_read = (np.abs(difference - constant) <= _ROUNDING * (1 + np.abs(difference))).all()
    return constant if is_read else None
