"""Damaged forests: refused when made, or walked without a step outside of their arrays."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from dips._dynamics import Dynamics
from dips._forest import Forest
from tests.attack.outcomes import CLEAN, DIFFERENT, REFUSED


def attack(place: Path, seed: int) -> str:
    """Break a sound forest in a few places, and walk it if it is accepted."""
    rng = random.Random(seed)
    parts, n_outputs = _sound(rng)
    for _ in range(rng.choice((0, 1, 1, 2))):
        _break(parts, rng)
    try:
        forest = Forest(**parts, n_outputs=n_outputs if rng.random() < 0.9 else rng.choice((0, 2, 7)))
        X = np.random.RandomState(seed % 2**32).normal(size=(70, 3)).astype(np.float32)
        X[::7] = np.nan
        watched = Dynamics(70, max(2, forest.n_outputs))
        forest.watch(X, watched)
        margins = forest.margins(X)
    except ValueError:
        return REFUSED
    p = watched.probabilities
    is_right = margins.shape == (70, forest.n_outputs) and ((p >= 0) | np.isnan(p)).all()
    return CLEAN if is_right else DIFFERENT


def _sound(rng: random.Random) -> tuple[dict[str, np.ndarray], int]:
    n_outputs, n_rounds, real = rng.choice((1, 1, 3)), rng.choice((1, 4, 9)), rng.choice((np.float32, np.float64))
    left, right, sizes = [], [], []
    for _ in range(n_outputs * n_rounds):
        children, n = [(-1, -1)], 1
        for _ in range(rng.choice((0, 1, 3, 200))):
            leaf = rng.choice([i for i, c in enumerate(children) if c == (-1, -1)])
            children[leaf] = (n, n + 1)
            children += [(-1, -1), (-1, -1)]
            n += 2
        left += [c[0] for c in children]
        right += [c[1] for c in children]
        sizes.append(n)
    draw, n = np.random.RandomState(rng.getrandbits(31)), len(left)
    parts = {
        "left": np.array(left, np.int32),
        "right": np.array(right, np.int32),
        "feature": draw.randint(0, 3, n).astype(np.int32),
        "threshold": draw.normal(size=n).astype(real),
        "value": draw.normal(size=n).astype(real),
        "missing_left": draw.randint(0, 2, n).astype(np.uint8),
        "offsets": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        "outputs": (np.arange(len(sizes)) % n_outputs).astype(np.int32),
        "rounds": np.arange(0, len(sizes) + 1, n_outputs, dtype=np.int64),
        "base": np.zeros(n_outputs, real),
    }
    return parts, n_outputs


def _break(parts: dict[str, np.ndarray], rng: random.Random) -> None:
    name = rng.choice(list(parts))
    array = parts[name] = parts[name].copy()
    kind = rng.randrange(5)
    if kind < 3 and array.size:
        extreme = np.iinfo(array.dtype).max if array.dtype.kind in "iu" else np.inf
        values = [0, 1, 2, min(array.size, extreme), extreme] + ([-1, -extreme] if array.dtype.kind != "u" else [])
        array[rng.randrange(array.size)] = rng.choice(values)
    elif kind == 3:
        parts[name] = array[: rng.randrange(array.size + 1)]
    else:
        parts[name] = array.astype(rng.choice((np.int8, np.int64, np.float16, np.float64)))
