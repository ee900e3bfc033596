"""What a family of estimators tells the rest: how to fit one, watch it learn, vary it, save it and load it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from scipy.special import expit
from sklearn.base import BaseEstimator, clone
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils.validation import has_fit_parameter

from dips._data.tables import take
from dips._dynamics import Watch
from dips._forest import Forest, Leaves, kernel
from dips._tools.arrays import Array

_MANY_ROWS = 10_000  # for fewer, the library's own prediction is over before the trees are read

FitParams = dict[str, Array]
"""More arguments of an estimator's ``fit``: its ``sample_weight``, or nothing."""


class Backbone:
    """One family of estimators.

    A subclass names the estimators it handles, and shows the class probabilities at each checkpoint: after the training
    (:class:`StagedBackbone`) or during it (override :meth:`fit_watched`). Everything else has a default.
    """

    handles: ClassVar[tuple[str, ...]] = ()
    """``package.ClassName`` of the estimators of this family; subclasses of them are handled too."""

    name: ClassVar[str] = ""
    """What the family is called in settings and in saved models; without one, it appears in neither."""

    libraries: ClassVar[tuple[str, ...]] = ()
    """What pip installs for this family; the versions are recorded beside a saved model."""

    file_name: ClassVar[str | None] = None
    """The file that :meth:`save` writes; None if only pickle, which runs code when it is loaded, could store it."""

    threads: ClassVar[str | None] = None
    """The parameter that sets how many threads a fit may use."""

    one_at_a_time: ClassVar[bool] = False
    """Whether two fits in two threads of one process would disturb each other."""

    @classmethod
    def of(cls, estimator: BaseEstimator) -> Backbone:
        """Return the object that handles this estimator."""
        return cls()

    @staticmethod
    def default() -> BaseEstimator:
        """Return the unfitted estimator to use where the user names the family and no settings."""
        raise NotImplementedError

    def fit(
        self,
        estimator: BaseEstimator,
        X: Any,
        y: Array,
        sample_weight: Array | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Fit the estimator in place on labels 0..C-1; if `watch` is given, show it every checkpoint."""
        if watch is not None:
            self.check(estimator)
        fit_params = weights(estimator, sample_weight)
        X, y = self.prepare(estimator, X, y)
        if watch is None:
            estimator.fit(X, y, **fit_params)
        else:
            self.fit_watched(estimator, X, y, fit_params, watch)

    def prepare(self, estimator: BaseEstimator, X: Any, y: Array) -> tuple[Any, Array]:
        """Return the training rows and labels as the estimator's ``fit`` wants them."""
        return X, y

    def fit_watched(self, estimator: BaseEstimator, X: Any, y: Array, fit_params: FitParams, watch: Watch) -> None:
        """Fit as :meth:`fit` does, and show `watch` every checkpoint."""
        raise NotImplementedError

    def predict_proba(self, estimator: BaseEstimator, X: Any) -> Array:
        """Class probabilities (n, C) of the fitted estimator."""
        return np.asarray(estimator.predict_proba(X))

    def predictor(self, estimator: BaseEstimator, X: Any, n_rows: int) -> Callable[[Any], Array]:
        """Return the quickest way to the class probabilities of so many rows, of which X are a few."""
        return partial(self.predict_proba, estimator)

    def check(self, estimator: BaseEstimator) -> None:
        """Refuse, in a sentence, an estimator of this family whose settings leave no checkpoints to watch."""

    def reads_frames(self, estimator: BaseEstimator) -> bool:
        """Whether the estimator wants a data frame as the user gave it, not one encoded as numbers."""
        return False

    def clone(self, estimator: BaseEstimator) -> BaseEstimator:
        """Return an unfitted copy."""
        return clone(estimator)

    def release_threads(self, fitted: BaseEstimator, original: BaseEstimator) -> None:
        """Give a model that was fitted on one thread back the threads its user had set."""

    def seed_parameters(self, estimator: BaseEstimator) -> list[str]:
        """Return the parameters that seed a fit, those of nested estimators included."""
        return [k for k in estimator.get_params() if k == "random_state" or k.endswith("__random_state")]

    def quiet_parameters(self, estimator: BaseEstimator) -> dict[str, Any]:
        """Return settings that stop the estimator from printing, where its user did not ask it to print."""
        return {}

    def seeding(self, seed: int) -> AbstractContextManager[None]:
        """Around a fit: seed what the estimator's own ``random_state`` does not reach."""
        return nullcontext()

    def vary(self, estimator: BaseEstimator, rng: np.random.RandomState) -> dict[str, Any]:
        """Draw the parameters of one member of a diverse ensemble; its seed is set elsewhere."""
        return {}

    def save(self, fitted: BaseEstimator, path: Path) -> None:
        """Write the fitted estimator to a file that can be read without running code."""
        raise NotImplementedError

    def load(self, path: Path, unfitted: BaseEstimator | None = None) -> BaseEstimator:
        """Read what :meth:`save` wrote; `unfitted` is the estimator that the user passed to ``load_model``, if any."""
        raise NotImplementedError


class StagedBackbone(Backbone):
    """A family whose checkpoints can be replayed once it is fitted, as boosted trees can."""

    def fit_watched(self, estimator: BaseEstimator, X: Any, y: Array, fit_params: FitParams, watch: Watch) -> None:
        """Fit, then replay the checkpoints on the watched rows."""
        estimator.fit(X, y, **fit_params)
        self.replay(estimator, watch)

    def replay(self, estimator: BaseEstimator, watch: Watch) -> None:
        """Show `watch` the checkpoints of a fitted estimator, by compiled code where its trees can be read."""
        forest: Forest | Leaves | None = None
        for i, (rows, X) in enumerate(watch.batches()):
            if i == 0:
                watch.begin(self.n_checkpoints(estimator, X))
                forest = self.forest(estimator, X) if kernel.library() else None
            if forest is None or not forest.reads(X):
                for e, p in enumerate(self.stages(estimator, X)):
                    for dynamics in watch.dynamics:
                        dynamics.update(p, e, rows)
                continue
            for dynamics in watch.dynamics:
                forest.watch(X, dynamics, rows, self.n_threads(estimator))
                if dynamics.track.size:
                    dynamics.record(self.stages(estimator, take(X, dynamics.track)))
        watch.finish()

    def forest(self, estimator: BaseEstimator, X: Any) -> Forest | Leaves | None:
        """Return the trees of the fitted estimator, checked on a few rows of X, or None where they cannot be read."""
        return None

    def predictor(self, estimator: BaseEstimator, X: Any, n_rows: int) -> Callable[[Any], Array]:
        """Walk the trees by compiled code, where that pays for reading them."""
        forest = self.forest(estimator, X) if n_rows >= _MANY_ROWS and kernel.library() else None
        if not isinstance(forest, Forest):
            return super().predictor(estimator, X, n_rows)
        return partial(forest.predict_proba, n_threads=self.n_threads(estimator))

    def n_threads(self, estimator: BaseEstimator) -> int:
        """How many threads the estimator uses to predict: those it was told, or as many as OpenMP may."""
        told = estimator.get_params().get(self.threads)
        return effective_n_jobs(told) if told and told > 0 else _openmp_effective_n_threads()

    def n_checkpoints(self, estimator: BaseEstimator, X: Any) -> int:
        """How many checkpoints the fitted estimator has; `X` is for those that must replay a row to tell."""
        raise NotImplementedError

    def stages(self, estimator: BaseEstimator, X: Any) -> Iterator[Array]:
        """Class probabilities (n, C) at each checkpoint, from the first to the last."""
        raise NotImplementedError


def weights(estimator: BaseEstimator, sample_weight: Array | None) -> FitParams:
    """Arguments that hand `sample_weight` to ``fit``, refused where the estimator would ignore it."""
    if sample_weight is None:
        return {}
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"sample_weight was given, but {type(estimator).__name__} has no use for it; "
            "leave it out or choose a backbone whose fit takes sample_weight."
        )
    return {"sample_weight": sample_weight}


def probabilities(margin: Array) -> Array:
    """Class probabilities (n, C) from raw scores: (n,) of the second of two classes, or (n, C)."""
    if margin.ndim == 1:
        positive = expit(margin)
        return np.column_stack([1 - positive, positive])
    # A softmax, class by class: NumPy is far quicker along a few long rows than along many short ones.
    p = np.array(margin.T, order="C")  # (C, n)
    p -= p.max(axis=0)
    np.exp(p, out=p)
    p /= p.sum(axis=0)
    return p.T


def normalized(p: Array) -> Array:
    """Class probabilities (n, C) of one class against the rest each, made to add up to 1."""
    return p / p.sum(axis=1, keepdims=True)


def random_tree_parameters(rng: np.random.RandomState) -> dict[str, Any]:
    """Draw one member of an ensemble of boosted trees, as spread out as those of the CSA and DIPS studies."""
    return {
        "max_depth": int(rng.randint(3, 20)),
        "learning_rate": float(rng.choice([0.01, 0.1, 0.2, 0.3])),
        "n_estimators": int(rng.choice(np.arange(100, 1001, 100))),
        "row_share": float(rng.uniform(0.4, 0.95)),
        "column_share": float(rng.uniform(0.4, 0.95)),
    }
