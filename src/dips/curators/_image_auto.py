"""The default curator for images: how many labels to drop from an estimate of the noise, which from the last round."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval

from dips._tools.arrays import Array
from dips.curators._auto import noise_rate
from dips.curators._base import Curator, Evidence


class ImageAuto(Curator):
    """Drop the labels that look wrong, and some more, those believed least; no threshold to tune.

    It differs from the tables' :class:`~dips.curators.Auto` where semi-supervised training on images does:

    - Where there are enough labels, a dropped one costs little, for the image stays among the unlabeled ones; a wrong
      one is learned by heart. So `margin` times the estimated share is dropped, as long as `enough` are left.
    - The network that judges gets better from round to round. So the share is estimated anew at each curation, and only
      the last round says which labels are believed.
    - Classes are not equally hard. So each loses the same share of its labels, and none is emptied.

    The estimate is confident learning (Northcutt et al. 2021) on probabilities by networks that were not trained on the
    label: out-of-fold at the start, later from the rounds in which the label sat out.

    Parameters
    ----------
    n_folds : int
        Parts of the labels: at the start each is judged by a network trained on the others, in the rounds each sits out
        in turn.
    margin : float
        Labels dropped for each that looks wrong.
    enough : int
        Labels of a class that must be left for more to be dropped than look wrong.
    max_drop : float
        Never drop more than this share of a class.

    Attributes
    ----------
    noise_rate_ : the estimated share of wrong labels, as of the last curation
    out_of_fold_ : probability of each given label by networks not trained on it, or not lately
    """

    name = "image_auto"
    judges = ("images",)
    _parameter_constraints = {
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "margin": [Interval(Real, 1, None, closed="left")],
        "enough": [Interval(Integral, 0, None, closed="left")],
        "max_drop": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(self, n_folds: int = 5, margin: float = 2.0, enough: int = 40, max_drop: float = 0.6) -> None:
        self.n_folds = n_folds
        self.margin = margin
        self.enough = enough
        self.max_drop = max_drop

    @property
    def n_sit_out(self) -> int:
        """Of so many parts of the labels one sits out in each round."""
        return self.n_folds

    def curate(self, evidence: Evidence) -> Array:
        """Estimate the noise, drop from each class; keep pseudo-labels that the round as a whole believes."""
        given = np.flatnonzero(evidence.is_given)
        labels, p = evidence.labels[given], evidence.out_of_fold(self.n_folds)[given]
        self.noise_rate_ = noise_rate(p, labels)
        self.out_of_fold_ = p[np.arange(given.size), labels]
        belief = evidence.confidence[given] * self.out_of_fold_
        useful = evidence.mean_probabilities.argmax(axis=1) == evidence.labels
        useful[given] = True
        for c in range(evidence.n_classes):
            of_class = np.flatnonzero(labels == c)
            worst_first = of_class[np.argsort(belief[of_class], kind="stable")]
            useful[given[worst_first[: self._n_dropped(of_class.size)]]] = False
        return useful

    def _n_dropped(self, n: int) -> int:
        """Of n labels of a class: as many as look wrong, and more while enough are left."""
        look_wrong, at_most = (int(min(k * self.noise_rate_, self.max_drop) * n) for k in (1, self.margin))
        return max(look_wrong, min(at_most, n - self.enough))
