"""Any PyTorch module, through skorch's NeuralNetClassifier: a checkpoint is an epoch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dips._typing import Array
from dips.backbones.base import Backbone
from dips.dynamics import Watch


class Torch(Backbone):
    """skorch nets, watched by a callback so that their own schedulers and stopping rules stay in charge."""

    handles = ("skorch.NeuralNetClassifier", "skorch.NeuralNetBinaryClassifier")
    one_at_a_time = True  # torch draws its random numbers from one generator a process

    @contextmanager
    def seeding(self, seed: int) -> Iterator[None]:
        """Seed torch, and leave its generator afterwards as it was."""
        import torch

        with torch.random.fork_rng():
            torch.manual_seed(seed)
            yield

    def predict_proba(self, estimator: BaseEstimator, X: Any) -> Array:
        """Class probabilities in evaluation mode."""
        return np.asarray(estimator.predict_proba(_single(X)), dtype=np.float64)

    def fit(
        self,
        estimator: BaseEstimator,
        X: Any,
        y: Array,
        sample_weight: Array | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Train the net; after every epoch, show `watch` its probabilities in evaluation mode."""
        from skorch.callbacks import Callback

        family = self

        class Watcher(Callback):
            def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
                assert watch is not None
                watch.dynamics.update(family.predict_proba(net, watch.X))

        if sample_weight is not None:
            raise ValueError(
                "sample_weight was given, but a skorch net has no use for it; leave it out or weigh rows in its loss."
            )
        callbacks = estimator.callbacks
        if watch is not None:
            watch.dynamics.begin(estimator.max_epochs)
            estimator.set_params(callbacks=[*(callbacks or []), ("dips", Watcher())])
        is_binary = "Binary" in type(estimator).__name__
        estimator.fit(_single(X), y.astype(np.float32 if is_binary else np.int64))
        if watch is not None:
            watch.dynamics.finish()
            estimator.set_params(callbacks=callbacks)
            estimator.initialize_callbacks()


def _single(X: Any) -> Any:
    """PyTorch layers are single precision; NumPy tables are usually double."""
    return X.astype(np.float32) if getattr(X, "dtype", None) == np.float64 else X
