"""Any PyTorch module, through skorch's NeuralNetClassifier: a checkpoint is an epoch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dips._dynamics import Watch
from dips._tools.arrays import Array
from dips.backbones._base import Backbone
from dips.backbones._registry import register_backbone
from dips.exceptions import ModelError


@register_backbone
class Torch(Backbone):
    """skorch nets, watched at the end of every epoch; their own schedulers and stopping rules stay in charge."""

    handles = ("skorch.NeuralNetClassifier", "skorch.NeuralNetBinaryClassifier")
    name = "torch"
    libraries = ("torch", "skorch")
    file_name = "backbone.npz"
    one_at_a_time = True  # torch has one random number generator per process

    @contextmanager
    def seeding(self, seed: int) -> Iterator[None]:
        """Seed torch, and restore its generators afterwards."""
        import torch

        with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
            torch.manual_seed(seed)
            yield

    def quiet_parameters(self, estimator: BaseEstimator) -> dict[str, Any]:
        """By default a net prints a line per epoch; ``verbose=2`` still does."""
        return {"verbose": 0} if estimator.get_params()["verbose"] == 1 else {}

    def predict_proba(self, estimator: BaseEstimator, X: Any) -> Array:
        """Class probabilities in evaluation mode."""
        return np.asarray(estimator.predict_proba(_single(X)), dtype=np.float64)

    def prepare(self, estimator: BaseEstimator, X: Any, y: Array) -> tuple[Any, Array]:
        """Convert to single precision, and the labels to what the loss expects."""
        from skorch import NeuralNetBinaryClassifier

        return _single(X), y.astype(np.float32 if isinstance(estimator, NeuralNetBinaryClassifier) else np.int64)

    def fit_watched(self, estimator: BaseEstimator, X: Any, y: Array, fit_params: dict[str, Any], watch: Watch) -> None:
        """Train the net; after every epoch, show `watch` its probabilities in evaluation mode."""
        watch.begin(estimator.max_epochs)
        with self._watching(estimator, watch):
            estimator.fit(X, y, **fit_params)
        watch.finish()
        # A callback may have gone back to the weights of an earlier epoch.
        watch.revise(lambda X: self.predict_proba(estimator, X))

    @contextmanager
    def _watching(self, net: Any, watch: Watch) -> Iterator[None]:
        """Watch from the net's own hook, which runs before the callbacks: one of them may stop the training."""
        import torch

        own_hook = net.on_epoch_end

        def on_epoch_end(net: Any, **kwargs: Any) -> None:
            own_hook(net, **kwargs)
            with torch.random.fork_rng(devices=[]):  # a data loader draws a seed; watching must not change the training
                watch.update(lambda X: self.predict_proba(net, X))

        net.on_epoch_end = on_epoch_end
        try:
            yield
        finally:
            del net.on_epoch_end

    def save(self, fitted: BaseEstimator, path: Path) -> None:
        """Write the weights alone; the code of the module stays with the user."""
        state = {name: tensor.detach().cpu().numpy() for name, tensor in fitted.module_.state_dict().items()}
        with path.open("wb") as stream:
            np.savez(stream, **state)

    def load(self, path: Path, unfitted: BaseEstimator | None = None) -> BaseEstimator:
        """Initialize the user's net and give it the stored weights."""
        import torch

        if unfitted is None:
            raise ModelError(
                "The backbone is a PyTorch module, whose weights are stored but not its code; pass the net, unfitted, "
                "as load_model(folder, backbone=net)."
            )
        with np.load(path, allow_pickle=False) as stored:
            state = {name: torch.as_tensor(stored[name]) for name in stored.files}
        net = unfitted.initialize()
        try:
            net.module_.load_state_dict(state)
        except RuntimeError as error:
            raise ModelError(
                f"The stored weights are not those of this net: {str(error).splitlines()[-1].strip()}"
            ) from error
        return net


def _single(X: Any) -> Any:
    """Convert to the precision of PyTorch's layers; NumPy tables are usually double."""
    return X.astype(np.float32) if getattr(X, "dtype", None) == np.float64 else X
