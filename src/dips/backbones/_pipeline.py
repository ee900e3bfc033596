"""A Pipeline that ends in any backbone: the transformers are fitted on the training rows, the last step is watched."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectFromModel, SelectKBest, SelectPercentile
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import process_routing

from dips._dynamics import Dynamics, Watch
from dips._tools.arrays import Array
from dips.backbones._base import Backbone
from dips.backbones._registry import find_backbone, register_backbone
from dips.backbones._replay import Replay
from dips.exceptions import InputError

_SELECTORS = (SelectFromModel, SelectKBest, SelectPercentile)  # their tags say that labels are optional


@register_backbone
class PipelineBackbone(Backbone):
    """Wraps the backbone of the last step."""

    handles = ("sklearn.Pipeline",)

    def __init__(self, last: Backbone, step: str) -> None:
        self.last, self.step = last, step
        self.one_at_a_time = last.one_at_a_time  # type: ignore[misc]
        self.one_thread_by_default = last.one_thread_by_default  # type: ignore[misc]
        self.threads = f"{step}__{last.threads}" if last.threads else None  # type: ignore[misc]

    @classmethod
    def of(cls, estimator: BaseEstimator) -> Backbone:
        """Find the family of the last step."""
        step, last = estimator.steps[-1]
        return cls(find_backbone(last), step)

    def fit(
        self,
        estimator: BaseEstimator,
        X: Any,
        y: Array,
        sample_weight: Array | None = None,
        watch: Watch | None = None,
        fit_params: dict[str, Any] | None = None,
    ) -> None:
        """Fit the steps in order; the watched rows pass through the fitted transformers."""
        transformers = estimator[:-1]
        if len(transformers):
            X = transformers.fit_transform(X, y)
            estimator.steps[:-1] = transformers.steps  # with a memory, the fitted ones are copies
            if watch is not None:
                watch = watch.transformed(transformers.transform)
        passed_on = {"fit_params": self._for_last_step(estimator, fit_params)} if fit_params else {}
        self.last.fit(estimator[-1], X, y, sample_weight, watch, **passed_on)

    def _for_last_step(self, estimator: BaseEstimator, fit_params: dict[str, Any]) -> dict[str, Any]:
        """Return what the last step requests; refuse what a transformer does."""
        routed = process_routing(estimator, "fit", **fit_params)
        for step, _ in estimator.steps[:-1]:
            requested = {name for arguments in routed.get(step, {}).values() for name in arguments}
            if requested:
                raise InputError(
                    f"The step {step!r} requests {', '.join(sorted(requested))}, but only the last step of a Pipeline "
                    "is given anything besides the table and the labels; set its request to False."
                )
        return routed[self.step].fit

    def predict_proba(self, estimator: BaseEstimator, X: Any) -> Array:
        """Transform, then ask the last step's family."""
        return self.last.predict_proba(estimator[-1], _transformed(estimator, X))

    def features(self, fitted: BaseEstimator, X: Any) -> Any:
        """Transform, then ask the last step's family."""
        return self.last.features(fitted[-1], _transformed(fitted, X))

    def n_checkpoints(self, estimator: BaseEstimator, X: Any) -> int:
        """Transform, then ask the last step's family."""
        return self.last.n_checkpoints(estimator[-1], _transformed(estimator, X))

    def replayed(self, fitted: BaseEstimator, X: Any, n_classes: int) -> Dynamics | None:
        """Transform, then ask the last step's family."""
        return self.last.replayed(fitted[-1], _transformed(fitted, X), n_classes)

    def replay_anywhere(self, fitted: BaseEstimator, X: Any) -> Replay | None:
        """Put the transformers before that of the last step's family."""
        replay = self.last.replay_anywhere(fitted[-1], _transformed(fitted, X))
        return replay and replay.transformed(partial(_transformed, fitted))

    def curves(self, fitted: BaseEstimator, X: Any, labels: Array, n_points: int) -> Array | None:
        """Transform, then ask the last step's family."""
        return self.last.curves(fitted[-1], _transformed(fitted, X), labels, n_points)

    def predictor(self, estimator: BaseEstimator, X: Any, n_rows: int) -> Callable[[Any], Array]:
        """Transform, then ask the last step's family."""
        predict = self.last.predictor(estimator[-1], _transformed(estimator, X), n_rows)
        return lambda X: predict(_transformed(estimator, X))

    def takes_weights(self, estimator: BaseEstimator) -> bool:
        """Only the last step gets the weights."""
        return self.last.takes_weights(estimator[-1])

    def takes_beliefs(self, estimator: BaseEstimator) -> bool:
        """Not where a transformer learns from labels: it gets no weights, so each row would be of all its classes."""
        return self.last.takes_beliefs(estimator[-1]) and not _learns_from_labels(estimator[:-1])

    def check(self, estimator: BaseEstimator) -> None:
        """Ask the last step's family."""
        self.last.check(estimator[-1])

    def reads_frames(self, estimator: BaseEstimator) -> bool:
        """Transformers may choose columns by name."""
        return True

    def clone(self, estimator: BaseEstimator) -> BaseEstimator:
        """Copy the last step as its family does; other steps may be "passthrough" or None."""
        steps = [(name, clone(step, safe=False)) for name, step in estimator.steps[:-1]]
        last = (self.step, self.last.clone(estimator[-1]))
        return type(estimator)(**estimator.get_params(deep=False) | {"steps": [*steps, last]})

    def takes_threads(self, estimator: BaseEstimator) -> bool:
        """Ask the last step's family."""
        return self.last.takes_threads(estimator[-1])

    def use_threads(self, fitted: BaseEstimator, n_threads: int | None) -> None:
        """Ask the last step's family."""
        self.last.use_threads(fitted[-1], n_threads)

    def seed_parameters(self, estimator: BaseEstimator) -> list[str]:
        """Name the seeds of the transformers, and those of the last step as its family does."""
        last = [f"{self.step}__{k}" for k in self.last.seed_parameters(estimator[-1])]
        others = [k for k in super().seed_parameters(estimator) if not k.startswith(f"{self.step}__")]
        return others + last

    def quiet_parameters(self, estimator: BaseEstimator) -> dict[str, Any]:
        """Ask the last step's family."""
        return {f"{self.step}__{k}": v for k, v in self.last.quiet_parameters(estimator[-1]).items()}

    def seeding(self, seed: int) -> AbstractContextManager[None]:
        """Ask the last step's family."""
        return self.last.seeding(seed)

    def vary(self, estimator: BaseEstimator, rng: np.random.RandomState) -> dict[str, Any]:
        """Vary the last step."""
        return {f"{self.step}__{k}": v for k, v in self.last.vary(estimator[-1], rng).items()}


def _transformed(fitted: BaseEstimator, X: Any) -> Any:
    transformers = fitted[:-1]
    return transformers.transform(X) if len(transformers) else X


def _learns_from_labels(transformers: BaseEstimator) -> bool:
    """Whether one of the transformers does, alone or inside another such as a ColumnTransformer."""
    parts = [p for p in transformers.get_params().values() if isinstance(p, BaseEstimator) and hasattr(p, "transform")]
    return any(isinstance(part, _SELECTORS) or get_tags(part).target_tags.required for part in parts)
