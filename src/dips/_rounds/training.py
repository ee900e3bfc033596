"""Training clones of one estimator on rows of one pool: once, in folds, or as an ensemble."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils.parallel import Parallel, delayed

from dips._data.containers import n_rows, take
from dips._data.folds import strata, training_and_test
from dips._data.pool import BATCH, NumberedPool, as_pool
from dips._dynamics import Dynamics, Moments, Watch, check_probabilities
from dips._tools.arrays import Array, Rows
from dips._tools.seeds import draw_seed
from dips.backbones import find_backbone

_PROBES = 32
_LEAST_MASS = 1e-9
_UNBALANCE = ("is_unbalance", "unbalance", "unbalanced_sets")  # LightGBM's names for balance by counts of labels
_FEW_CELLS = 200_000  # below this, starting threads costs more than they give, and far more on busy cores


@dataclass(frozen=True)
class FitParams:
    """What a backbone's ``fit`` is given besides rows, labels and weights.

    Attributes
    ----------
    by_row : those with one entry per row of the pool
    fixed : those that are the same for every training

    Examples
    --------
    >>> FitParams({"base_margin": [0.1, 0.2, 0.3]}, {"verbose": False}).at([0, 2])
    {'base_margin': [0.1, 0.3], 'verbose': False}
    """

    by_row: dict[str, Any] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)

    def at(self, rows: Rows) -> dict[str, Any]:
        """Return the arguments for a training on these rows."""
        return {name: take(values, rows) for name, values in self.by_row.items()} | self.fixed


class Trainer:
    """Fits an estimator's clones on rows of a pool, reproducibly.

    Everything that a fit trains is trained here: seeds are drawn in the order of the calls, never in the order in which
    parallel work ends.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        X: Any,
        n_classes: int,
        sample_weight: Array | None,
        rng: np.random.RandomState,
        n_jobs: int | None = None,
        fit_params: FitParams | None = None,
        groups: Array | None = None,
    ) -> None:
        self.estimator, self.pool, self.n_classes = estimator, as_pool(X), n_classes
        self.sample_weight, self.rng, self.n_jobs = sample_weight, rng, n_jobs
        self.backbone, self.fit_params = find_backbone(estimator), fit_params or FitParams()
        self.groups = groups  # (n,) of the pool's rows; no fold divides one

    def over(self, pool: NumberedPool, weights_of_more: Array | None = None) -> Trainer:
        """Return the trainer for a pool with more rows after this one's; by default, each of them weighs the mean."""
        trainer = copy(self)
        trainer.pool = pool
        if self.sample_weight is not None:
            n_more = pool.n_rows - self.pool.n_rows
            more = np.full(n_more, self.sample_weight.mean()) if weights_of_more is None else weights_of_more
            trainer.sample_weight = np.append(self.sample_weight, more)
        return trainer

    def balanced_for(self, rows: Rows, labels: Array, weights: Array) -> Trainer:
        """Return the trainer with the class weights that balance rows of these weights, if its user asks for balance.

        Most libraries balance by counts: a row that stands there once for every plausible class would count for each.
        """
        weights = weights if self.sample_weight is None else weights * self.sample_weight[rows]
        mass = np.bincount(labels, weights, minlength=self.n_classes)
        balance = dict(enumerate((mass.sum() / (self.n_classes * np.maximum(mass, _LEAST_MASS))).tolist()))
        settings = _balancing(self.estimator.get_params(), balance)
        trainer = copy(self)
        if settings:
            trainer.estimator = self.backbone.clone(self.estimator).set_params(**settings)
        return trainer

    def fit(
        self,
        rows: Rows,
        labels: Array,
        *dynamics: Dynamics,
        watched: Rows | None = None,
        weights: Array | None = None,
    ) -> BaseEstimator:
        """Return a clone fitted on the given rows; with `dynamics`, the pool is watched, or only the `watched` rows.

        `weights` (m,) multiply the sample weights. A row may occur several times, with different labels.
        """
        seed = draw_seed(self.rng)
        watch = Watch(self.pool if watched is None else self.pool.take(watched), *dynamics) if dynamics else None
        fitted = self._fit(self._prepared(seed, self.pool.n_rows), rows, labels, seed, watch, weights)
        if self._is_small(self.pool.n_rows):
            self.backbone.release_threads(fitted, self.estimator)  # the next table may be large
        return fitted

    def predict(self, estimator: BaseEstimator, rows: Rows) -> Array:
        """Class probabilities of the given rows of the pool."""
        return self.pool.map(lambda X: self._probabilities(estimator, X), rows)

    def features(self, estimator: BaseEstimator, rows: Rows) -> Any:
        """Return the given rows of the pool as the fitted model sees them."""
        return self.backbone.features(estimator, self.pool.take(rows))

    def map_features(self, estimator: BaseEstimator, rows: Rows, function: Callable[[Any], Array]) -> Array:
        """Apply a function to the given rows as the fitted model sees them, a batch at a time."""
        return self.pool.map(lambda X: function(self.backbone.features(estimator, X)), rows)

    def out_of_fold(self, rows: Rows, labels: Array, n_folds: int) -> Array:
        """Class probabilities (m, C) of the rows, each from a model that was trained without it.

        The only row of a class is the exception: every model is trained on it, because it must know all classes.
        """
        order, strata = self.rng.permutation(labels.size), self.strata_of(rows, labels)
        folds = list(training_and_test(strata, n_folds, order, self.groups_of(rows)))
        trainings = [(rows[train], labels[train]) for train, _ in folds]
        predicted = self.fit_and_predict(trainings, [rows[test] for _, test in folds])
        p = np.empty((rows.size, self.n_classes))
        for (_, test), part in zip(folds, predicted, strict=True):
            p[test] = part
        return p

    def groups_of(self, rows: Rows) -> Array | None:
        """Return the groups of the given rows of the pool, where there are any."""
        return None if self.groups is None else self.groups[rows]

    def strata_of(self, rows: Rows, labels: Array) -> Array:
        """Return what folds of the given rows deal out evenly."""
        return strata(labels, self.weights_of(rows))

    def weights_of(self, rows: Rows) -> Array | None:
        """Return the sample weights of the given rows of the pool, where there are any."""
        return None if self.sample_weight is None else self.sample_weight[rows]

    def weighs(self, rows: Rows) -> Array:
        """Mask of those of the given rows that weigh something."""
        return np.ones(rows.size, dtype=bool) if self.sample_weight is None else self.sample_weight[rows] > 0

    def fit_and_predict(self, trainings: Sequence[tuple[Rows, Array]], targets: Sequence[Rows]) -> Iterable[Array]:
        """Train a clone on each set of rows and labels; yield its class probabilities of the targets, in order."""
        seeds = [draw_seed(self.rng) for _ in trainings]

        def one(training: tuple[Rows, Array], wanted: Rows, seed: int) -> Array:
            member = self._fit(self._prepared(seed, training[0].size, alone=False), *training, seed, alone=False)
            return self.predict(member, wanted)

        return self._in_parallel(one, zip(trainings, targets, seeds, strict=True))

    def ensemble(self, rows: Rows, labels: Array, targets: Rows, n_models: int) -> Moments:
        """Moments over varied members trained on `rows` of the class probabilities of the `targets`.

        All members predict one batch of targets before any predicts the next: the pool is read once, and only the
        probabilities of one batch are in memory.
        """
        draws = [(draw_seed(self.rng), self.backbone.vary(self.estimator, self.rng)) for _ in range(n_models)]
        members = self._members(rows, labels, targets, sorted(draws, key=_length, reverse=True))
        mean, squares = np.zeros((2, targets.size, self.n_classes), dtype=np.float32)
        for part, X in self.pool.batches(targets):
            for k, p in enumerate(self._in_parallel(lambda look, X=X: look(X), ((m,) for m in members)), start=1):
                check_probabilities(p, n_rows(X), self.n_classes)
                _update_moments(p, k, mean[part], squares[part])
        squares /= n_models - 1
        return Moments(mean, np.sqrt(squares, out=squares), n_models)

    def _members(
        self, rows: Rows, labels: Array, targets: Rows, draws: list[tuple[int, dict[str, Any]]]
    ) -> list[Callable[[Any], Array]]:
        """Train members with the given seeds and settings; return one function for each that predicts with it."""
        probes = self.pool.take(targets[:_PROBES])

        def one_member(seed: int, varied: dict[str, Any]) -> Callable[[Any], Array]:
            member = self._fit(self._prepared(seed, rows.size, varied, alone=False), rows, labels, seed, alone=False)
            if self._n_workers() == 1:
                self.backbone.release_threads(member, self.estimator)  # few rows to train on, many to look at
            return self.backbone.predictor(member, probes, targets.size)

        return list(self._in_parallel(one_member, draws))

    def _fit(
        self,
        estimator: BaseEstimator,
        rows: Rows,
        labels: Array,
        seed: int,
        watch: Watch | None = None,
        weights: Array | None = None,
        alone: bool = True,
    ) -> BaseEstimator:
        if self.sample_weight is not None:
            weights = self.sample_weight[rows] if weights is None else weights * self.sample_weight[rows]
        more = self.fit_params.at(rows)
        if "callbacks" in more and self._is_crowded(alone):
            more["callbacks"] = deepcopy(more["callbacks"])  # one that counts rounds would count those of all fits
        passed_on: dict[str, Any] = {"fit_params": more} if more else {}  # a family may know of none
        with self.backbone.seeding(seed):
            if watch is None and not more and self._come_in_batches(rows) and self.backbone.takes_batches(estimator):
                self.backbone.fit_batches(estimator, partial(self.pool.batches, rows), labels, weights)
            else:
                self.backbone.fit(estimator, self.pool.take(rows), labels, weights, watch, **passed_on)
        return estimator

    def _come_in_batches(self, rows: Rows) -> bool:
        """Whether these are more rows than one batch, ascending, and arrays of numbers."""
        return (
            rows.size > BATCH
            and bool((rows[1:] >= rows[:-1]).all())
            and getattr(self.pool.take(rows[:1]), "dtype", np.dtype(object)).kind in "fiub"
        )

    def _probabilities(self, estimator: BaseEstimator, X: Any) -> Array:
        p = self.backbone.predict_proba(estimator, X).astype(np.float64)
        check_probabilities(p, n_rows(X), self.n_classes)
        return p

    def _prepared(
        self, seed: int, n_rows: int, varied: dict[str, Any] | None = None, alone: bool = True
    ) -> BaseEstimator:
        """Clone for a training on `n_rows` rows: quiet, and seeded where the user set no seed (members always).

        `alone` is False for one of several trainings that may run at the same time.
        """
        prepared, threads = self.backbone.clone(self.estimator), self.backbone.threads
        given = prepared.get_params()
        names = self.backbone.seed_parameters(prepared)
        settings = {n: seed for n in names if varied is not None or given.get(n) is None}
        settings |= self.backbone.quiet_parameters(prepared) | (varied or {})
        if threads and self.backbone.takes_threads(prepared) and self._must_share(given.get(threads), n_rows, alone):
            settings[threads] = 1
        return prepared.set_params(**settings)

    def _must_share(self, n_threads: int | None, n_rows: int, alone: bool) -> bool:
        """Whether a training gets one thread instead of those that the user, or else the library, gives it."""
        if n_threads is not None:
            return self._is_crowded(alone)
        return (self._is_crowded(alone) or self._is_small(n_rows)) and not self.backbone.one_thread_by_default

    def _is_crowded(self, alone: bool) -> bool:
        return not alone and self._n_workers() > 1

    def _is_small(self, n_rows: int) -> bool:
        return 0 < n_rows * self.pool.n_columns < _FEW_CELLS

    def _in_parallel(self, function: Any, arguments: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        # Threads share the pool; the libraries that matter here release the interpreter's lock while they train.
        parallel = Parallel(self._n_workers(), require="sharedmem", return_as="generator")
        return parallel(delayed(function)(*a) for a in arguments)

    def _n_workers(self) -> int:
        return 1 if self.backbone.one_at_a_time else effective_n_jobs(self.n_jobs)


def _balancing(params: Mapping[str, Any], balance: dict[int, float]) -> dict[str, Any]:
    """Return settings that balance classes by these weights, where the given ones ask for balance.

    Examples
    --------
    >>> _balancing({"class_weight": "balanced", "trees__is_unbalance": True, "depth": 3}, {0: 0.5, 1: 2.0})
    {'class_weight': {0: 0.5, 1: 2.0}, 'trees__is_unbalance': False, 'trees__scale_pos_weight': 4.0}
    """
    settings: dict[str, Any] = {}
    for name, value in params.items():
        step, separator, setting = name.rpartition("__")
        if setting == "class_weight" and isinstance(value, str) and value in ("balanced", "balanced_subsample"):
            settings[name] = balance
        if setting in _UNBALANCE and value and len(balance) == 2:
            settings |= {name: False, f"{step}{separator}scale_pos_weight": balance[1] / balance[0]}
    return settings


def _length(draw: tuple[int, dict[str, Any]]) -> int:
    """How long a member trains, roughly: its trees times their depth. With the longest first, no core ends up idle."""
    return math.prod(setting for setting in draw[1].values() if isinstance(setting, int))


def _update_moments(p: Array, k: int, mean: Array, squares: Array) -> None:
    """Update the mean and the sum of squared deviations with the k-th member (Welford)."""
    p = p.astype(np.float32, copy=False)  # the precision of the mean: members that are alike then differ by nothing
    difference = p - mean
    mean += difference / k
    squares += difference * (p - mean)
