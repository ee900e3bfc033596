"""scikit-learn's MLPClassifier and SGDClassifier: a checkpoint is an epoch."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import log_loss
from sklearn.utils import check_random_state, compute_class_weight

from dips._dynamics import Watch
from dips._tools.arrays import Array
from dips.backbones._base import Backbone
from dips.backbones._registry import register_backbone
from dips.exceptions import InputError


@register_backbone
class Epochs(Backbone):
    """Estimators with ``partial_fit``, driven one epoch at a time by their own stopping rule.

    Training ends after ``max_iter`` epochs, or when the training loss has not improved by ``tol`` for
    ``n_iter_no_change`` epochs, as in the estimator's own ``fit``. Watched training differs from it in three ways:

    - the order of the rows is drawn by other random numbers; with ``shuffle=False`` the result is that of ``fit`` for
      an MLPClassifier, and for an SGDClassifier with a plain L2 penalty and a fixed number of epochs
    - an SGDClassifier stops by the loss over all classes after an epoch, not by that of each class during it
    - ``learning_rate="adaptive"`` stops where it would first have lowered the rate
    """

    handles = ("sklearn.MLPClassifier", "sklearn.SGDClassifier")

    def check(self, estimator: BaseEstimator) -> None:
        """Refuse settings that rule out ``partial_fit`` or probabilities."""
        params, name = estimator.get_params(), type(estimator).__name__
        if params.get("early_stopping"):
            raise InputError(
                f"{name}(early_stopping=True) cannot be trained epoch by epoch; set early_stopping=False, "
                "training still stops when its loss stops falling (tol, n_iter_no_change)."
            )
        if params.get("solver") == "lbfgs":
            raise InputError(
                f'{name}(solver="lbfgs") is not trained in epochs, so it has no learning dynamics; '
                'use solver="adam" or "sgd", or curator="auto".'
            )
        if not hasattr(estimator, "predict_proba"):
            raise InputError(
                f'{name}(loss={params.get("loss")!r}) gives no probabilities; use loss="log_loss" or "modified_huber".'
            )

    def fit_watched(self, estimator: BaseEstimator, X: Any, y: Array, fit_params: dict[str, Any], watch: Watch) -> None:
        """Train epoch by epoch."""
        others = sorted(set(fit_params) - {"sample_weight"})
        if others:
            raise InputError(
                f"{type(estimator).__name__} is trained epoch by epoch, which has no use for {', '.join(others)}; "
                "leave it out."
            )
        _forget(estimator)
        params, classes = estimator.get_params(), np.unique(y)
        watch.begin(params["max_iter"])
        stopping = _Patience(params["tol"], params["n_iter_no_change"])
        try:
            estimator.set_params(**_for_partial_fit(params, classes, y))
            for _ in range(params["max_iter"]):
                estimator.partial_fit(X, y, classes=classes, **fit_params)
                watch.update(estimator.predict_proba)
                if stopping.is_over(_training_loss(estimator, X, y, **fit_params)):
                    break
        finally:
            estimator.set_params(**params)
        watch.finish()

    def vary(self, estimator: BaseEstimator, rng: np.random.RandomState) -> dict[str, Any]:
        """Draw the strength of the penalty around the user's; members also differ by their seeds."""
        return {"alpha": float(estimator.get_params()["alpha"] * 10 ** rng.uniform(-1, 1))}


class _Patience:
    """Stops when the loss has not improved by `tol` for `n_epochs` in a row."""

    def __init__(self, tol: float | None, n_epochs: int) -> None:
        self.tol = -np.inf if tol is None else tol
        self.n_epochs = n_epochs
        self.best = np.inf
        self.idle = 0

    def is_over(self, loss: float) -> bool:
        self.idle = self.idle + 1 if loss > self.best - self.tol else 0
        self.best = min(self.best, loss)
        return self.idle > self.n_epochs


def _forget(estimator: BaseEstimator) -> None:
    """Undo an earlier fit, from which partial_fit would continue."""
    for learned in vars(estimator).keys() - vars(clone(estimator)).keys():
        delattr(estimator, learned)


def _for_partial_fit(params: dict[str, Any], classes: Array, y: Array) -> dict[str, Any]:
    """Return settings that partial_fit reads at every call, fixed for the whole training."""
    # With an integer seed every epoch would see the rows in the same order.
    settings: dict[str, Any] = {"random_state": check_random_state(params["random_state"])}
    if params.get("class_weight") == "balanced":
        balanced = compute_class_weight("balanced", classes=classes, y=y)
        settings["class_weight"] = dict(zip(classes.tolist(), balanced.tolist(), strict=True))
    return settings


def _training_loss(estimator: BaseEstimator, X: Any, y: Array, sample_weight: Array | None = None) -> float:
    if hasattr(estimator, "loss_"):  # MLPClassifier keeps its own
        return float(estimator.loss_)
    return float(log_loss(y, estimator.predict_proba(X), sample_weight=sample_weight, labels=estimator.classes_))
