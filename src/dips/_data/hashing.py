"""Draws that depend on a row's number and the seed alone, so that no split of the rows changes them."""

from __future__ import annotations

import numpy as np

from dips._tools.arrays import Array, Rows

# XXH64 of one 64-bit number (xxHash specification 0.1.1), the function that Spark SQL calls xxhash64.
_PRIMES = np.array(
    [
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    ],
    dtype=np.uint64,
)
_SPARK_SEED = 42


def row_hashes(rows: Array, seed: int) -> Array:
    """Hashes (n,) int64 of row numbers; the same as ``xxhash64(row, seed)`` in Spark SQL.

    Examples
    --------
    >>> row_hashes(np.array([0, 1]), seed=7).tolist()
    [-2655039576142263734, 9148010362968143645]
    """
    with np.errstate(over="ignore"):
        first = _hash(np.asarray(rows, dtype=np.int64).view(np.uint64), np.uint64(_SPARK_SEED))
        return _hash(np.full(first.shape, seed, dtype=np.uint64), first).view(np.int64)


def lowest_hashes(rows: Rows, n: int, seed: int) -> Rows:
    """Positions, ascending, of the n rows with the lowest hashes; ties go to the earlier row."""
    hashes = row_hashes(rows, seed)
    return np.sort(np.lexsort((rows, hashes))[:n])


def _hash(values: Array, seed: Array | np.uint64) -> Array:
    p1, p2, p3, p4, p5 = _PRIMES
    h = seed + p5 + np.uint64(8)
    h = h ^ (_rotated(values * p2, 31) * p1)
    h = _rotated(h, 27) * p1 + p4
    h = (h ^ (h >> np.uint64(33))) * p2
    h = (h ^ (h >> np.uint64(29))) * p3
    return h ^ (h >> np.uint64(32))


def _rotated(values: Array, n_bits: int) -> Array:
    return (values << np.uint64(n_bits)) | (values >> np.uint64(64 - n_bits))
