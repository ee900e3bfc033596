"""Metrics on held-out rows, with intervals by resampling the rows; differences are taken on the same resamples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from dips._tools.arrays import Array, decided
from dips._tools.resampling import resamples
from dips._tools.shares import wilson
from dips._tools.wording import option, some_of
from dips.exceptions import SettingsError

_LEAST = 1e-7  # a probability of 0 costs 16, not infinity
_N_RESAMPLES = 1_000
ENOUGH = 30  # rows to score on apart from the others
_MANY_ROWS = 20_000  # above, fewer resamples do: the interval is narrow anyway


@dataclass(frozen=True)
class Metric:
    """Whether more is better, and how it is computed from labels, probabilities and weights of the rows."""

    more_is_better: bool
    prepare: Callable[[Array, Array, int], Callable[[Array], float]]

    @property
    def sign(self) -> int:
        """Of a difference that is better."""
        return 1 if self.more_is_better else -1

    def score(self, codes: Array, p: Array, positive: int) -> float:
        """Value on rows that count once each."""
        return self.prepare(codes, p, positive)(np.ones(codes.size))

    def gain(self, value: float, over: float) -> float:
        """How much better a value is than another one."""
        return value - over if self.more_is_better else over - value


@dataclass(frozen=True)
class Interval:
    """A value and where it lies in 95 of 100 resamples."""

    value: float
    low: float
    high: float

    def to_json(self) -> dict[str, float]:
        """Plain data."""
        return asdict(self)


def _accuracy(codes: Array, p: Array, positive: int) -> Callable[[Array], float]:
    right = (p.argmax(axis=1) == codes).astype(float)
    return lambda w: float((w * right).sum() / w.sum())


def _balanced_accuracy(codes: Array, p: Array, positive: int) -> Callable[[Array], float]:
    right, n_classes = p.argmax(axis=1) == codes, p.shape[1]

    def compute(w: Array) -> float:
        of_class = np.bincount(codes, w, n_classes)
        hits = np.bincount(codes[right], w[right], n_classes)
        return float((hits[of_class > 0] / of_class[of_class > 0]).mean())

    return compute


def _f1(codes: Array, p: Array, positive: int) -> Callable[[Array], float]:
    """Two classes: of the positive one. More: the mean over the classes that rows have or are predicted to have."""
    predicted, n_classes = p.argmax(axis=1), p.shape[1]
    right = predicted == codes

    def compute(w: Array) -> float:
        hits = np.bincount(codes[right], w[right], n_classes)
        both = np.bincount(codes, w, n_classes) + np.bincount(predicted, w, n_classes)
        scores = 2 * hits / np.maximum(both, _LEAST)
        return float(scores[positive] if n_classes == 2 else scores[both > 0].mean())

    return compute


def _cost(codes: Array, p: Array, positive: int, costs: Array) -> Callable[[Array], float]:
    """Mean cost of a row, where the class is answered that is expected to cost least."""
    paid = np.where(decided(p, costs) == codes, 0.0, costs[codes])
    return lambda w: float((w * paid).sum() / w.sum())


def _log_loss(codes: Array, p: Array, positive: int) -> Callable[[Array], float]:
    loss = -np.log(np.clip(p[np.arange(codes.size), codes], _LEAST, 1))
    return lambda w: float((w * loss).sum() / w.sum())


def _roc_auc(codes: Array, p: Array, positive: int) -> Callable[[Array], float]:
    return _one_against_rest(codes, p, positive, _weighted_auc)


def _average_precision(codes: Array, p: Array, positive: int) -> Callable[[Array], float]:
    return _one_against_rest(codes, p, positive, _weighted_precision)


METRICS: dict[str, Metric] = {
    "accuracy": Metric(True, _accuracy),
    "balanced_accuracy": Metric(True, _balanced_accuracy),
    "f1": Metric(True, _f1),
    "roc_auc": Metric(True, _roc_auc),
    "average_precision": Metric(True, _average_precision),
    "log_loss": Metric(False, _log_loss),
}
_OF_LABELS = ("accuracy", "balanced_accuracy", "f1")  # about the label that is predicted, not its probability
COST = "cost"  # known where the user says what a wrong answer costs
METRIC_NAMES = (*METRICS, COST)


def find_metric(name: str) -> str:
    """Return the name as it is in ``METRIC_NAMES``, however it is written.

    Examples
    --------
    >>> find_metric("ROC AUC"), find_metric("log-loss")
    ('roc_auc', 'log_loss')
    """
    wanted = name.strip().lower().replace("-", "_").replace(" ", "_")
    if wanted not in METRIC_NAMES:
        raise SettingsError(f"{option('metric', name)} is not known; choose one of {', '.join(METRIC_NAMES)}.")
    return wanted


def metrics_for(costs: Array | None, decide: bool = False) -> dict[str, Metric]:
    """Return all metrics: where costs (C,) of missing a row of each class are known, their mean is one of them.

    Where costs `decide` which label is predicted, the metrics of labels are about that one.

    Examples
    --------
    >>> missed = metrics_for(np.array([1.0, 9.0]))["cost"]
    >>> missed.score(np.array([0, 1]), np.array([[0.8, 0.2], [0.95, 0.05]]), 1)  # the first is answered 1, for safety
    5.0
    """
    if costs is None:
        return METRICS
    known = METRICS | {COST: Metric(False, partial(_cost, costs=costs))}
    return known | {name: _decided(METRICS[name], costs) for name in _OF_LABELS} if decide else known


def _decided(metric: Metric, costs: Array) -> Metric:
    return Metric(metric.more_is_better, lambda codes, p, positive: metric.prepare(codes, p * costs, positive))


def read_costs(costs: Mapping[str, float], classes: list[Any]) -> Array | None:
    """Return the cost of missing a row of each class (C,), 1 where nothing is said; None where nothing is at all."""
    if not costs:
        return None
    names = [str(c) for c in classes]
    for name in costs:
        if name not in names:
            raise SettingsError(
                f"{option('costs')} names {name!r}, which is not a label; choose one of {some_of(names)}."
            )
    return np.array([float(costs.get(name, 1.0)) for name in names])


def dearest_class(costs: Array, otherwise: int) -> int:
    """Return the class that costs more to miss than any other, or another one where several cost the most.

    Examples
    --------
    >>> dearest_class(np.array([1.0, 20.0, 1.0]), otherwise=0), dearest_class(np.array([5.0, 5.0, 1.0]), otherwise=2)
    (1, 2)
    """
    dearest = np.flatnonzero(costs == costs.max())
    return int(dearest[0]) if dearest.size == 1 else otherwise


def intervals(
    codes: Array,
    probabilities: dict[str, Array],
    positive: int,
    baseline: str,
    seed: int = 0,
    metrics: Mapping[str, Metric] = METRICS,
    groups: Array | None = None,
) -> dict[str, dict[str, Any]]:
    """Every metric of every model, and its gain over the baseline, each with an interval.

    Returns model → metric → {"value", "low", "high", "gain": {...}}; models are compared on the same resamples. Rows of
    one group, which may share their errors, are drawn together, unless groups are too few.
    """
    rng = np.random.default_rng(seed)
    n = codes.size
    n_resamples = _N_RESAMPLES if n <= _MANY_ROWS else _N_RESAMPLES // 5
    computed = {
        model: {name: m.prepare(codes, p, positive) for name, m in metrics.items()}
        for model, p in probabilities.items()
    }
    draws: dict[str, dict[str, list[float]]] = {model: {name: [] for name in metrics} for model in computed}
    for w in resamples(n, rng, n_resamples, groups):
        for model, functions in computed.items():
            for name, compute in functions.items():
                draws[model][name].append(compute(w))
    ones = np.ones(n)
    values = {model: {name: f(ones) for name, f in fs.items()} for model, fs in computed.items()}
    found = {
        model: {
            name: _interval(values[model][name], np.asarray(draws[model][name])).to_json()
            | {"gain": _gain(metrics[name], values, draws, model, baseline, name).to_json()}
            for name in metrics
        }
        for model in computed
    }
    for scores in found.values():
        if "accuracy" in scores:
            _if_all_are_right(scores["accuracy"], n if groups is None else np.unique(groups).size)
    return found


def scores_on(
    rows: Array,
    codes: Array,
    probabilities: dict[str, Array],
    positive: int,
    seed: int = 0,
    metrics: Mapping[str, Metric] = METRICS,
    groups: Array | None = None,
) -> dict[str, dict[str, Any]]:
    """The same as :func:`intervals` on a mask of the rows, over the first model; nothing where these are too few."""
    if rows.sum() < ENOUGH or np.unique(codes[rows]).size < 2:
        return {}
    some = {model: p[rows] for model, p in probabilities.items()}
    some_groups = None if groups is None else groups[rows]
    return intervals(codes[rows], some, positive, next(iter(some)), seed, metrics, some_groups)


def _gain(metric: Metric, values: Any, draws: Any, model: str, baseline: str, name: str) -> Interval:
    differences = metric.sign * (np.asarray(draws[model][name]) - np.asarray(draws[baseline][name]))
    return _interval(metric.sign * (values[model][name] - values[baseline][name]), differences)


def _if_all_are_right(accuracy: dict[str, Any], n: int) -> None:
    """Widen the interval of an accuracy of 0 or 1 to Wilson's: resampling never shows what no row has."""
    if accuracy["value"] in (0, 1):
        accuracy["low"], accuracy["high"] = wilson(int(n * accuracy["value"]), n)


def _interval(value: float, draws: Array) -> Interval:
    if np.isnan(value):  # ROC AUC of one class
        return Interval(value, value, value)
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return Interval(float(value), float(low), float(high))


def _one_against_rest(
    codes: Array, p: Array, positive: int, of_one: Callable[[Array, Array, Array], Callable[[Array], float]]
) -> Callable[[Array], float]:
    """Two classes: of the positive one. More: the mean over the classes that the rows hold."""
    classes = [positive] if p.shape[1] == 2 else np.unique(codes).tolist()
    functions = []
    for c in classes:
        order = np.argsort(-p[:, c], kind="stable")
        scores, hits = p[order, c], (codes[order] == c).astype(float)
        ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))  # rows with one score stand together
        functions.append((order, of_one(hits, 1 - hits, ends)))
    return lambda w: float(np.mean([f(w[order]) for order, f in functions]))


def _weighted_auc(hits: Array, misses: Array, ends: Array) -> Callable[[Array], float]:
    def compute(w: Array) -> float:
        true, false = np.cumsum(w * hits)[ends], np.cumsum(w * misses)[ends]
        if true[-1] == 0 or false[-1] == 0:
            return float("nan")
        steps = np.diff(false, prepend=0.0) * (true - np.diff(true, prepend=0.0) / 2)  # trapezoids
        return float(steps.sum() / (true[-1] * false[-1]))

    return compute


def _weighted_precision(hits: Array, misses: Array, ends: Array) -> Callable[[Array], float]:
    def compute(w: Array) -> float:
        true, all_above = np.cumsum(w * hits)[ends], np.cumsum(w)[ends]
        if true[-1] == 0:
            return float("nan")
        precision = true / np.maximum(all_above, _LEAST)
        return float((precision * np.diff(true, prepend=0.0)).sum() / true[-1])

    return compute
