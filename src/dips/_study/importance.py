"""Which columns the model uses: how much worse it gets on held-out rows when one is shuffled, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
from scipy.stats import norm

from dips._files.prepare import Preparation
from dips._study.metrics import Metric
from dips._tools.arrays import Array
from dips._tools.resampling import resamples

_ENOUGH_ROWS = 2_000
_SHUFFLES = 5
_N_RESAMPLES = 100


@dataclass(frozen=True)
class Importance:
    """What a column is worth to the model.

    Attributes
    ----------
    loss : of the metric, when the column is shuffled
    low, high : interval over held-out rows and shuffles; those of all columns hold together with 95 %
    is_clear : whether the interval is above 0, so that the column can be told from one that does nothing
    """

    loss: float
    low: float
    high: float
    is_clear: bool

    def to_json(self) -> dict[str, float | bool]:
        """Plain data."""
        return asdict(self)


def importance(
    predict_proba: Callable[[Array], Array],
    preparation: Preparation,
    X: Array,
    codes: Array,
    metric: Metric,
    positive: int,
    seed: int = 0,
    groups: Array | None = None,
) -> dict[str, Importance]:
    """Return each column's importance, the largest loss first; all parts of a column are shuffled together.

    Other held-out rows would be rows of other groups.
    """
    rng = np.random.RandomState(seed)
    rows = np.sort(rng.permutation(codes.size)[:_ENOUGH_ROWS])
    X, codes, groups = X[rows], codes[rows], None if groups is None else groups[rows]
    weights = [np.ones(codes.size), *resamples(codes.size, np.random.default_rng(seed), _N_RESAMPLES, groups)]
    intact = _scores(metric, codes, predict_proba(X), positive, weights)
    columns, by_column = preparation.schema.used, {}
    for column in columns:
        parts = preparation.columns_of(column.name)
        losses = []  # (shuffles, 1 + resamples)
        for _ in range(_SHUFFLES):
            shuffled = X.copy()
            shuffled[:, parts] = X[rng.permutation(codes.size)][:, parts]
            losses.append(metric.sign * (intact - _scores(metric, codes, predict_proba(shuffled), positive, weights)))
        by_column[column.name] = _importance(np.array(losses), len(columns))
    return dict(sorted(by_column.items(), key=lambda item: -item[1].loss))


def _scores(metric: Metric, codes: Array, p: Array, positive: int, weights: list[Array]) -> Array:
    compute = metric.prepare(codes, p, positive)
    return np.array([compute(w) for w in weights])


def _importance(losses: Array, n_columns: int) -> Importance:
    """Average over the shuffles; the error is that of other rows and of other shuffles together."""
    loss = float(losses[:, 0].mean())
    of_rows, of_shuffles = np.nanvar(losses[:, 1:].mean(axis=0)), losses[:, 0].var(ddof=1) / len(losses)
    half = float(norm.ppf(1 - 0.025 / n_columns) * np.sqrt(of_rows + of_shuffles))
    return Importance(loss, loss - half, loss + half, loss > half)
