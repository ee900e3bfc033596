"""Training clones of one estimator on rows of one pool: once, in folds, or as an ensemble."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils.parallel import Parallel, delayed

from dips._typing import Array, Rows
from dips.backbones import find_backbone
from dips.dynamics import Dynamics, Watch, check_probabilities
from dips.folds import training_and_test
from dips.labelers.base import Moments
from dips.tables import n_rows, take

_MAX_SEED = 2**31 - 1
_FEW_CELLS = 200_000  # below this, starting threads costs more than they give, and far more on busy cores


class Trainer:
    """Fits an estimator's clones on rows of a pool, reproducibly.

    Everything that is trained in a run is trained here: seeds are drawn in the order of the calls, never in the order
    in which parallel work ends.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        X: Any,
        n_classes: int,
        sample_weight: Array | None,
        rng: np.random.RandomState,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator, self.X, self.n_classes = estimator, X, n_classes
        self.sample_weight, self.rng, self.n_jobs = sample_weight, rng, n_jobs
        self.backbone = find_backbone(estimator)
        self._is_small = len(getattr(X, "shape", ())) == 2 and X.shape[0] * X.shape[1] < _FEW_CELLS

    def fit(self, rows: Rows, labels: Array, *dynamics: Dynamics, watched: Rows | None = None) -> BaseEstimator:
        """Return a clone fitted on the given rows; with `dynamics`, the pool is watched, or only the `watched` rows."""
        seed = self._draw_seed()
        watch = Watch(self.X if watched is None else take(self.X, watched), *dynamics) if dynamics else None
        fitted = self._fit(self._prepared(seed), rows, labels, seed, watch)
        if self._is_small:
            self.backbone.release_threads(fitted, self.estimator)  # the next table may be large
        return fitted

    def predict(self, estimator: BaseEstimator, rows: Rows) -> Array:
        """Class probabilities of the given rows of the pool."""
        return self._probabilities(estimator, take(self.X, rows))

    def out_of_fold(self, rows: Rows, labels: Array, n_folds: int) -> Array:
        """Class probabilities (m, C) of the rows, each from a model that was trained without it.

        Except for the only row of a class: every model is trained on it, for it must know all the classes.
        """
        folds = list(training_and_test(labels, n_folds, self.rng.permutation(labels.size)))
        seeds = [self._draw_seed() for _ in folds]

        def one_fold(train: Array, test: Array, seed: int) -> Array:
            member = self._fit(self._prepared(seed, alone=False), rows[train], labels[train], seed)
            return self.predict(member, rows[test])

        p = np.empty((rows.size, self.n_classes))
        arguments = [(*fold, seed) for fold, seed in zip(folds, seeds, strict=True)]
        for (_, test), predicted in zip(folds, self._in_parallel(one_fold, arguments), strict=True):
            p[test] = predicted
        return p

    def ensemble(self, rows: Rows, labels: Array, targets: Rows, n_models: int) -> Moments:
        """Moments over varied members trained on `rows` of the class probabilities of the `targets`."""
        draws = [(self._draw_seed(), self.backbone.vary(self.estimator, self.rng)) for _ in range(n_models)]
        X_targets = take(self.X, targets)

        def one_member(seed: int, varied: dict[str, Any]) -> Array:
            member = self._prepared(seed, varied, alone=False)
            self._fit(member, rows, labels, seed)
            return self._probabilities(member, X_targets)

        mean, squares = np.zeros((2, targets.size, self.n_classes))
        for k, p in enumerate(self._in_parallel(one_member, draws), start=1):
            difference = p - mean
            mean += difference / k
            squares += difference * (p - mean)
        return Moments(mean, np.sqrt(squares / (n_models - 1)), n_models)

    def _fit(
        self, estimator: BaseEstimator, rows: Rows, labels: Array, seed: int, watch: Watch | None = None
    ) -> BaseEstimator:
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        with self.backbone.seeding(seed):
            self.backbone.fit(estimator, take(self.X, rows), labels, weight, watch)
        return estimator

    def _probabilities(self, estimator: BaseEstimator, X: Any) -> Array:
        p = self.backbone.predict_proba(estimator, X).astype(np.float64)
        check_probabilities(p, n_rows(X), self.n_classes)
        return p

    def _prepared(self, seed: int, varied: dict[str, Any] | None = None, alone: bool = True) -> BaseEstimator:
        """Clone, seed where the user set no seed (members of an ensemble always), and keep quiet."""
        prepared = self.backbone.clone(self.estimator)
        given = prepared.get_params()
        names = self.backbone.seed_parameters(prepared)
        settings = {n: seed for n in names if varied is not None or given.get(n) is None}
        settings |= self.backbone.quiet_parameters(prepared) | (varied or {})
        threads = self.backbone.threads
        if threads and (threads in given or threads.endswith("thread_count")):
            is_crowded = not alone and self._n_workers() > 1
            if is_crowded or (self._is_small and given.get(threads) is None):
                settings[threads] = 1
        return prepared.set_params(**settings)

    def _in_parallel(self, function: Any, arguments: Iterable[tuple[Any, ...]]) -> Iterable[Array]:
        # Threads share the pool; the libraries that matter here release the interpreter's lock while they train.
        parallel = Parallel(self._n_workers(), prefer="threads", return_as="generator")
        return parallel(delayed(function)(*a) for a in arguments)

    def _n_workers(self) -> int:
        return 1 if self.backbone.one_at_a_time else effective_n_jobs(self.n_jobs)

    def _draw_seed(self) -> int:
        return int(self.rng.randint(_MAX_SEED))
