"""
Write your own backbone
=======================

The default works with any classifier. Learning curves, and the curators that use them, need to see a model's class
probabilities *while it learns*. For boosting libraries, scikit-learn's networks and PyTorch this is built in, and
anything with ``staged_predict_proba`` works too. This page adds one more: logistic regression.
"""

# %%
# Without checkpoints there is nothing to watch
# ---------------------------------------------
# A curator that watches the training refuses such a model.
import numpy as np
from sklearn.linear_model import LogisticRegression

from dips import CuratedClassifier, characterize
from dips.backbones import Backbone, register_backbone
from dips.datasets import flip_labels, make_quadrants

X, truth = make_quadrants(300, random_state=0)
y, flipped = flip_labels(truth, 0.2, random_state=0)

try:
    CuratedClassifier(LogisticRegression(), curator="dips").fit(X, y)
except ValueError as error:
    print(error)

# %%
# Say how to watch it
# -------------------
# A backbone names the estimators it handles and trains them in steps. ``watch.begin`` takes the number of planned
# checkpoints, ``watch.update`` a function that predicts class probabilities, and ``watch.finish`` ends the training.
import warnings

from sklearn.exceptions import ConvergenceWarning


@register_backbone
class Logistic(Backbone):
    """Logistic regression; a checkpoint is one iteration of its solver."""

    handles = ("sklearn.LogisticRegression",)

    def fit_watched(self, estimator, X, y, fit_params, watch):
        settings = estimator.get_params()
        watch.begin(settings["max_iter"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a single iteration never converges
            for step in range(settings["max_iter"]):
                estimator.set_params(max_iter=1, warm_start=step > 0)  # the first forgets an earlier fit
                estimator.fit(X, y, **fit_params)
                watch.update(estimator.predict_proba)
        estimator.set_params(**settings)
        watch.finish()


# %%
# That is enough
# --------------
# Logistic regression now has learning curves everywhere in the package.
audit = characterize(LogisticRegression(solver="saga", max_iter=30), X, y, track=range(300), random_state=0)
suspects = audit.suspects()
print(f"{len(suspects)} suspects, {flipped[suspects.index].mean():.0%} of them flipped")

# %%
# These are the probabilities of the given labels during the training. Flipped labels stay low:
import matplotlib.pyplot as plt

curves = audit.trajectories[np.arange(300), :, y]  # (rows, checkpoints)
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(curves[~flipped].T, color="C0", alpha=0.15)
ax.plot(curves[flipped].T, color="C3", alpha=0.5)
_ = ax.set(xlabel="checkpoint", ylabel="probability of the given label")

# %%
# A model whose checkpoints can be replayed after training, as boosted trees can, is simpler still: subclass
# :class:`~dips.backbones.StagedBackbone` and implement ``n_checkpoints`` and ``stages``.
