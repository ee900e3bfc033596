"""The backbones under test, each beside a slow way to its checkpoints that shares no code with the package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from dips._dynamics import STATISTICS, Dynamics, Watch
from dips.backbones import find_backbone

SEED = 3
E = 6  # checkpoints of every estimator here


@dataclass(frozen=True)
class Family:
    make: Callable[..., Any]  # settings -> estimator
    slow: Callable[..., list[Any]]  # make, X, y, X_watch, fit arguments -> probabilities at each checkpoint
    needs: str | None = None
    takes_weights: bool = True

    def estimator(self, n_classes=2, **settings):
        return self.make(**self._for(n_classes), **settings)

    def checkpoints(self, X, y, X_watch, **fit):
        """All checkpoints (n, E, C), the slow way."""
        make = partial(self.make, **self._for(np.unique(y).size))
        return np.stack(self.slow(make, X, y, X_watch, **fit), axis=1)

    def _for(self, n_classes):
        return {"n_classes": n_classes} if self.make is torch else {}


def table(n_classes, n=90):
    """Rows to train on, their labels, and rows to watch."""
    X, y = make_classification(n + 40, 6, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=n_classes)
    return X[:n], y[:n], X[n:]


def fit_and_watch(estimator, X, y, X_watch, sample_weight=None, statistics=STATISTICS):
    """Fit in place, quietly and seeded, as a trainer does; return what was seen of every watched row."""
    n = X_watch.shape[0]
    dynamics = Dynamics(n, np.unique(y).size, statistics, track=range(n))
    backbone = find_backbone(estimator)
    if quiet := backbone.quiet_parameters(estimator):
        estimator.set_params(**quiet)
    with backbone.seeding(SEED):
        backbone.fit(estimator, X, y, sample_weight, Watch(X_watch, dynamics))
    return dynamics


def xgboost(**settings):
    from xgboost import XGBClassifier

    defaults = {
        "n_estimators": E,
        "learning_rate": 0.2,
        "max_depth": 3,
        "subsample": 0.7,
        "random_state": SEED,
        "n_jobs": 1,
    }
    return XGBClassifier(**defaults | settings)


def slow_xgboost(make, X, y, X_watch, **fit):
    fitted = make().fit(X, y, **fit)
    return [fitted.predict_proba(X_watch, iteration_range=(0, e)) for e in range(1, E + 1)]


def lightgbm(**settings):
    from lightgbm import LGBMClassifier

    defaults = {
        "n_estimators": E,
        "min_child_samples": 5,
        "subsample": 0.7,
        "subsample_freq": 1,
        "random_state": SEED,
        "n_jobs": 1,
    }
    return LGBMClassifier(**defaults | settings)


def slow_lightgbm(make, X, y, X_watch, **fit):
    fitted = make(verbosity=-1).fit(X, y, **fit)
    return [fitted.predict_proba(X_watch, num_iteration=e) for e in range(1, E + 1)]


def catboost(**settings):
    from catboost import CatBoostClassifier

    return CatBoostClassifier(**{"iterations": E, "depth": 3, "random_seed": SEED, "thread_count": 1} | settings)


def slow_catboost(make, X, y, X_watch, **fit):
    fitted = make(verbose=False, allow_writing_files=False).fit(X, y, **fit)
    return [fitted.predict_proba(X_watch, ntree_end=e) for e in range(1, E + 1)]


def hist_gradient_boosting(**settings):
    return HistGradientBoostingClassifier(**{"max_iter": E, "min_samples_leaf": 5, "random_state": SEED} | settings)


def gradient_boosting(**settings):
    return GradientBoostingClassifier(**{"n_estimators": E, "subsample": 0.7, "random_state": SEED} | settings)


def ada_boost(**settings):
    return AdaBoostClassifier(**{"n_estimators": E, "random_state": SEED} | settings)


def slow_staged(make, X, y, X_watch, **fit):
    return list(make().fit(X, y, **fit).staged_predict_proba(X_watch))


def mlp(**settings):
    return MLPClassifier(
        **{"hidden_layer_sizes": (5,), "batch_size": 20, "max_iter": E, "random_state": SEED} | settings
    )


def sgd(**settings):
    return SGDClassifier(
        **{"loss": "log_loss", "alpha": 0.1, "max_iter": E, "tol": None, "random_state": SEED} | settings
    )


def slow_epochs(make, X, y, X_watch, **fit):
    seen, estimator = [], make(random_state=np.random.RandomState(SEED))
    for _ in range(E):
        estimator.partial_fit(X, y, classes=np.unique(y), **fit)
        seen.append(estimator.predict_proba(X_watch))
    return seen


def torch(n_classes=2, **settings):
    """A net that draws random numbers wherever nets do: weights, order of the rows, dropout."""
    from skorch import NeuralNetClassifier
    from torch import nn, set_num_threads

    set_num_threads(1)

    class Module(nn.Module):
        def __init__(self, n_classes):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, n_classes))

        def forward(self, X):
            return self.layers(X)

    defaults = {
        "criterion": nn.CrossEntropyLoss,
        "max_epochs": E,
        "lr": 0.1,
        "batch_size": 32,
        "iterator_train__shuffle": True,
    }
    return NeuralNetClassifier(Module, **defaults | {"module__n_classes": n_classes} | settings)


def slow_torch(make, X, y, X_watch):
    from torch import manual_seed
    from torch.random import fork_rng

    seen = []
    with fork_rng():
        manual_seed(SEED)
        net = make(verbose=0).initialize()
        for _ in range(E):
            net.fit_loop(X.astype(np.float32), y.astype(np.int64), epochs=1)
            with fork_rng():
                seen.append(net.predict_proba(X_watch.astype(np.float32)))
    return seen


FAMILIES = {
    "xgboost": Family(xgboost, slow_xgboost, needs="xgboost"),
    "lightgbm": Family(lightgbm, slow_lightgbm, needs="lightgbm"),
    "catboost": Family(catboost, slow_catboost, needs="catboost"),
    "hist_gradient_boosting": Family(hist_gradient_boosting, slow_staged),
    "gradient_boosting": Family(gradient_boosting, slow_staged),
    "ada_boost": Family(ada_boost, slow_staged),
    "mlp": Family(mlp, slow_epochs),
    "sgd": Family(sgd, slow_epochs),
    "torch": Family(torch, slow_torch, needs="skorch", takes_weights=False),
}
