"""A finished training that can be shown to rows anywhere: picklable, and without the rows it was trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator

from dips._dynamics import Dynamics
from dips._forest import Forest, Leaves, kernel
from dips._tools.arrays import Array

if TYPE_CHECKING:
    from dips.backbones._base import StagedBackbone


@dataclass(frozen=True)
class Replay:
    """The checkpoints of one fitted estimator.

    Attributes
    ----------
    backbone, estimator : replay the checkpoints where no compiled code can
    n_checkpoints : how many there are
    forest : the trees for compiled code, calibrated once, so that all rows are read alike; None if they cannot be read
    transform : what the rows pass through first
    n_threads : how many compiled code may use
    """

    backbone: StagedBackbone
    estimator: BaseEstimator
    n_checkpoints: int
    forest: Forest | Leaves | None = None
    transform: Callable[[Any], Any] | None = None
    n_threads: int = 1

    def transformed(self, transform: Callable[[Any], Any]) -> Replay:
        """Return the replay for rows that pass through a pipeline's transformers first."""
        return replace(self, transform=transform)

    def probabilities(self, X: Any) -> Array | None:
        """Class probabilities (n, C) at the last checkpoint, where compiled code finds them without all others."""
        X = X if self.transform is None else self.transform(X)
        if not (isinstance(self.forest, Forest) and self.forest.reads(X)):
            return None
        return self.forest.predict_proba(X, self.n_threads)

    def show(self, X: Any, dynamics: Dynamics) -> None:
        """Fill in the dynamics of these rows."""
        X = X if self.transform is None else self.transform(X)
        dynamics.begin(self.n_checkpoints)
        if self.forest is not None and kernel.computes(dynamics.averages) and self.forest.reads(X):
            self.forest.watch(X, dynamics, n_threads=self.n_threads)
        else:
            for e, p in enumerate(self.backbone.stages(self.estimator, X)):
                dynamics.update(p, e)
        dynamics.finish()
