"""Which columns the model uses: how much worse it gets on held-out rows when a column is shuffled."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dips._files.prepare import Preparation
from dips._study.metrics import METRICS
from dips._tools.arrays import Array

_ENOUGH_ROWS = 2_000
_REPEATS = 3


def importance(
    predict_proba: Callable[[Array], Array],
    preparation: Preparation,
    X: Array,
    codes: Array,
    metric: str,
    positive: int,
    seed: int = 0,
) -> dict[str, float]:
    """Return each column's loss in the metric, largest first; all parts of a column are shuffled together."""
    rng = np.random.RandomState(seed)
    rows = np.sort(rng.permutation(codes.size)[:_ENOUGH_ROWS])
    X, codes = X[rows], codes[rows]
    measure = METRICS[metric]
    intact = measure.score(codes, predict_proba(X), positive)
    losses = {}
    for column in preparation.schema.used:
        parts = preparation.columns_of(column.name)
        drops = []
        for _ in range(_REPEATS):
            shuffled = X.copy()
            shuffled[:, parts] = X[rng.permutation(codes.size)][:, parts]
            drops.append(measure.gain(intact, measure.score(codes, predict_proba(shuffled), positive)))
        losses[column.name] = float(np.mean(drops))
    return dict(sorted(losses.items(), key=lambda item: -item[1]))
