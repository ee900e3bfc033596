"""What a family of estimators tells the rest: how to fit one, watch it learn, vary it, save it and load it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from joblib import effective_n_jobs
from scipy.special import expit
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from dips._data.containers import n_rows, take
from dips._dynamics import Dynamics, Watch
from dips._forest import Forest, Leaves, kernel
from dips._tools.arrays import Array
from dips._tools.sklearn_compat import openmp_effective_n_threads
from dips.backbones._replay import Replay
from dips.exceptions import InputError

_MANY_ROWS = 10_000  # for fewer, the library's own prediction is over before the trees are read

TableBatches: TypeAlias = Iterator[tuple[slice, Any]]
"""Parts of a table, each with its place."""


class Backbone:
    """One family of estimators.

    A subclass names the estimators it handles, and shows the class probabilities at each checkpoint: after the training
    (:class:`StagedBackbone`) or during it (override :meth:`fit_watched`). Everything else has a default.
    """

    handles: ClassVar[tuple[str | type, ...]] = ()
    """The estimators of this family, as ``"package.ClassName"`` or as classes; their subclasses are handled too."""

    name: ClassVar[str] = ""
    """What the family is called in settings and in saved models; without one, it appears in neither."""

    libraries: ClassVar[tuple[str, ...]] = ()
    """What pip installs for this family; the versions are recorded beside a saved model."""

    file_name: ClassVar[str | None] = None
    """The file that :meth:`save` writes; None if only pickle, which runs code when it is loaded, could store it."""

    threads: ClassVar[str | None] = None
    """The parameter that sets how many threads a fit may use."""

    one_thread_by_default: ClassVar[bool] = False
    """Whether an estimator uses a single thread unless it is told otherwise."""

    one_at_a_time: ClassVar[bool] = False
    """Whether two fits in two threads of one process would disturb each other."""

    @classmethod
    def of(cls, estimator: BaseEstimator) -> Backbone:
        """Return the object that handles this estimator."""
        return cls()

    @staticmethod
    def default(n_labels: int = 0) -> BaseEstimator:
        """Return the unfitted estimator to use for so many labels where the user names the family and no settings."""
        raise NotImplementedError

    def fit(
        self,
        estimator: BaseEstimator,
        X: Any,
        y: Array,
        sample_weight: Array | None = None,
        watch: Watch | None = None,
        fit_params: dict[str, Any] | None = None,
    ) -> None:
        """Fit the estimator in place on labels 0..C-1; if `watch` is given, show it every checkpoint.

        `fit_params` are more arguments of the estimator's own ``fit``.
        """
        if watch is not None:
            self.check(estimator)
        fit_params = self.weights(estimator, sample_weight) | (fit_params or {})
        X, y = self.prepare(estimator, X, y)
        if watch is None:
            estimator.fit(X, y, **fit_params)
        else:
            self.fit_watched(estimator, X, y, fit_params, watch)

    def takes_batches(self, estimator: BaseEstimator) -> bool:
        """Whether :meth:`fit_batches` trains this estimator to the model that :meth:`fit` gives."""
        return False

    def fit_batches(
        self, estimator: BaseEstimator, batches: Callable[[], TableBatches], y: Array, sample_weight: Array | None
    ) -> None:
        """Fit in place on rows that are read a batch at a time, as often as the library asks for them.

        `batches` begins a pass over arrays, each with its place among the labels 0..C-1.
        """
        raise NotImplementedError

    def takes_weights(self, estimator: BaseEstimator) -> bool:
        """Whether the estimator's ``fit`` takes ``sample_weight``."""
        return has_fit_parameter(estimator, "sample_weight")

    def takes_beliefs(self, estimator: BaseEstimator) -> bool:
        """Whether the estimator can be trained on a row several times, each time with another label and weight."""
        return self.takes_weights(estimator)

    def weights(self, estimator: BaseEstimator, sample_weight: Array | None) -> dict[str, Any]:
        """Return the arguments that hand `sample_weight` to ``fit``; refuse weights that would be ignored."""
        if sample_weight is None:
            return {}
        if not self.takes_weights(estimator):
            raise InputError(
                f"sample_weight was given, but {type(estimator).__name__} has no use for it; "
                "leave it out or choose a backbone whose fit takes sample_weight."
            )
        return {"sample_weight": sample_weight}

    def prepare(self, estimator: BaseEstimator, X: Any, y: Array) -> tuple[Any, Array]:
        """Return the training rows and labels as the estimator's ``fit`` wants them."""
        return X, y

    def fit_watched(self, estimator: BaseEstimator, X: Any, y: Array, fit_params: dict[str, Any], watch: Watch) -> None:
        """Fit as :meth:`fit` does, and show `watch` every checkpoint.

        A model that is trained in epochs calls ``watch.begin(n_epochs)``, then after each epoch
        ``watch.update(predict_proba)`` with its function from rows to class probabilities, and ``watch.finish()``.
        """
        raise NotImplementedError

    def predict_proba(self, estimator: BaseEstimator, X: Any) -> Array:
        """Class probabilities (n, C) of the fitted estimator."""
        return np.asarray(estimator.predict_proba(X))

    def predictor(self, estimator: BaseEstimator, X: Any, n_rows: int) -> Callable[[Any], Array]:
        """Return the fastest function from rows to class probabilities, for `n_rows` rows of which X is a sample."""
        return partial(self.predict_proba, estimator)

    def features(self, fitted: BaseEstimator, X: Any) -> Any:
        """Return the rows as the classifier itself sees them, after any transformers before it."""
        return X

    def n_checkpoints(self, estimator: BaseEstimator, X: Any) -> int:
        """How many checkpoints the fitted estimator can replay; `X` is for those that must replay a row to tell."""
        return 0

    def replayed(self, fitted: BaseEstimator, X: Any, n_classes: int) -> Dynamics | None:
        """Return the dynamics of rows under a training that is over, or None if it cannot be replayed."""
        return None

    def replay_anywhere(self, fitted: BaseEstimator, X: Any) -> Replay | None:
        """Return the training as it is sent to rows elsewhere, X being some rows; None if it cannot be replayed."""
        return None

    def curves(self, fitted: BaseEstimator, X: Any, labels: Array, n_points: int) -> Array | None:
        """Return the probability of each row's label at `n_points` checkpoints from the first to the last.

        None if the training cannot be replayed, and a column per checkpoint if there are fewer than `n_points`.
        """
        return None

    def check(self, estimator: BaseEstimator) -> None:
        """Refuse, in one sentence, an estimator whose settings leave no checkpoints to watch."""

    def reads_frames(self, estimator: BaseEstimator) -> bool:
        """Whether the estimator wants the user's data frame itself, not one encoded as numbers."""
        return False

    def clone(self, estimator: BaseEstimator) -> BaseEstimator:
        """Return an unfitted copy."""
        return clone(estimator)

    def takes_threads(self, estimator: BaseEstimator) -> bool:
        """Whether the estimator has the parameter ``threads``."""
        return self.threads in estimator.get_params()

    def release_threads(self, fitted: BaseEstimator, original: BaseEstimator) -> None:
        """Restore the user's number of threads in a model that was fitted on one."""
        if self.threads:
            self.use_threads(fitted, original.get_params().get(self.threads))

    def on_threads(self, fitted: BaseEstimator, n_threads: int) -> BaseEstimator:
        """Return a copy that predicts on `n_threads` threads, for many processes side by side."""
        if not self.threads:
            return fitted
        told = deepcopy(fitted)
        self.use_threads(told, n_threads)
        return told

    def use_threads(self, fitted: BaseEstimator, n_threads: int | None) -> None:
        """Set how many threads a fitted model predicts with, None as its library does, where it can be told."""

    def seed_parameters(self, estimator: BaseEstimator) -> list[str]:
        """Return the parameters that seed a fit, those of nested estimators included."""
        return [k for k in estimator.get_params() if k == "random_state" or k.endswith("__random_state")]

    def quiet_parameters(self, estimator: BaseEstimator) -> dict[str, Any]:
        """Return settings that stop the estimator from printing, unless the user asked it to print."""
        return {}

    def seeding(self, seed: int) -> AbstractContextManager[None]:
        """Return a context for a fit that seeds what the estimator's own ``random_state`` does not reach."""
        return nullcontext()

    def vary(self, estimator: BaseEstimator, rng: np.random.RandomState) -> dict[str, Any]:
        """Draw the parameters of one member of a diverse ensemble; its seed is set elsewhere."""
        return {}

    def save(self, fitted: BaseEstimator, path: Path) -> None:
        """Write the fitted estimator to a file that can be read without running code."""
        raise NotImplementedError

    def check_file(self, path: Path, n_features: int | None, n_classes: int) -> None:
        """Refuse, with any ValueError, a file that :meth:`load` must not see, because its parts do not fit each other.

        `n_features` is None where it is not known how many columns the model was trained on.
        """

    def load(self, path: Path, unfitted: BaseEstimator | None = None) -> BaseEstimator:
        """Read what :meth:`save` wrote; `unfitted` is the estimator that the user passed to ``load_model``, if any."""
        raise NotImplementedError


class StagedBackbone(Backbone):
    """A family whose checkpoints can be replayed once it is fitted, as boosted trees can."""

    def fit_watched(self, estimator: BaseEstimator, X: Any, y: Array, fit_params: dict[str, Any], watch: Watch) -> None:
        """Fit, then replay the checkpoints on the watched rows."""
        estimator.fit(X, y, **fit_params)
        self.replay(estimator, watch)

    def replay(self, estimator: BaseEstimator, watch: Watch) -> None:
        """Show `watch` the checkpoints of a fitted estimator.

        Compiled code does it if it can read the trees and knows all of the statistics; otherwise :meth:`stages` does.
        """
        compiled = [d for d in watch.dynamics if kernel.computes(d.averages)]
        portable = [d for d in watch.dynamics if d not in compiled]
        forest: Forest | Leaves | None = None
        for i, (rows, X) in enumerate(watch.batches()):
            if i == 0:
                watch.begin(self.n_checkpoints(estimator, X))
                forest = self.forest(estimator, X) if compiled else None
            if forest is None or not forest.reads(X):
                self._show_stages(estimator, X, watch.dynamics, rows)
                continue
            for dynamics in compiled:
                forest.watch(X, dynamics, rows, self.n_threads(estimator))
                if dynamics.track.size:
                    dynamics.record(self.stages(estimator, take(X, dynamics.track)))
            if portable:
                self._show_stages(estimator, X, portable, rows)
        watch.finish()

    def _show_stages(self, estimator: BaseEstimator, X: Any, shown_to: Iterable[Dynamics], rows: slice) -> None:
        for e, p in enumerate(self.stages(estimator, X)):
            for dynamics in shown_to:
                dynamics.update(p, e, rows)

    def replayed(self, fitted: BaseEstimator, X: Any, n_classes: int) -> Dynamics | None:
        """Replay the checkpoints on these rows."""
        dynamics = Dynamics(n_rows(X), n_classes)
        self.replay(fitted, Watch(X, dynamics))
        return dynamics

    def replay_anywhere(self, fitted: BaseEstimator, X: Any) -> Replay | None:
        """Read the trees once, and calibrate them on X."""
        forest = self.forest(fitted, X) if kernel.library() else None
        return Replay(self, fitted, self.n_checkpoints(fitted, X), forest)

    def curves(self, fitted: BaseEstimator, X: Any, labels: Array, n_points: int) -> Array | None:
        """Replay the checkpoints, and keep no more than what is asked for."""
        n = self.n_checkpoints(fitted, X)
        wanted = set(np.linspace(0, n - 1, min(n_points, n)).round().astype(int).tolist())
        rows, stages = np.arange(labels.size), enumerate(self.stages(fitted, X))
        return np.column_stack([np.asarray(p)[rows, labels] for e, p in stages if e in wanted])

    def forest(self, estimator: BaseEstimator, X: Any) -> Forest | Leaves | None:
        """Return the trees of the fitted estimator, checked on a few rows of X, or None if they cannot be read."""
        return None

    def predictor(self, estimator: BaseEstimator, X: Any, n_rows: int) -> Callable[[Any], Array]:
        """Walk the trees by compiled code if there are enough rows to make up for reading the trees."""
        forest = self.forest(estimator, X) if n_rows >= _MANY_ROWS and kernel.library() else None
        if not isinstance(forest, Forest):
            return super().predictor(estimator, X, n_rows)
        return partial(forest.predict_proba, n_threads=self.n_threads(estimator))

    def n_threads(self, estimator: BaseEstimator) -> int:
        """How many threads the estimator predicts with: its own setting, or else what OpenMP allows."""
        told = estimator.get_params().get(self.threads)
        return effective_n_jobs(told) if told and told > 0 else openmp_effective_n_threads()

    def n_checkpoints(self, estimator: BaseEstimator, X: Any) -> int:
        """How many checkpoints the fitted estimator has; `X` is for those that must replay a row to tell."""
        raise NotImplementedError

    def stages(self, estimator: BaseEstimator, X: Any) -> Iterator[Array]:
        """Class probabilities (n, C) at each checkpoint, from the first to the last."""
        raise NotImplementedError


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
    """Scale the probabilities (n, C) of one class against the rest, so that each row adds up to 1."""
    return p / p.sum(axis=1, keepdims=True)


def random_tree_parameters(rng: np.random.RandomState) -> dict[str, Any]:
    """Draw one member of an ensemble of boosted trees from the ranges of the CSA and DIPS studies."""
    return {
        "max_depth": int(rng.randint(3, 20)),
        "learning_rate": float(rng.choice([0.01, 0.1, 0.2, 0.3])),
        "n_estimators": int(rng.choice(np.arange(100, 1001, 100))),
        "row_share": float(rng.uniform(0.4, 0.95)),
        "column_share": float(rng.uniform(0.4, 0.95)),
    }
