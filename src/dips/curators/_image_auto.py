"""The default curator for images: an estimate of the noise says how many labels are suspects, the last round which."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from dips._tools.arrays import Array
from dips._tools.sklearn_compat import Interval
from dips.curators._adaptive import noise_rate
from dips.curators._base import Curator, Evidence

_LEAST_OF_A_CLASS = 5  # labels; with fewer, pilots learn from nearly the same few images, and agree where all err


class ImageAuto(Curator):
    """All labels are useful unless some are shown to be wrong; then those that look wrong are suspects, and some more.

    Before the training, *pilots* are trained: short trainings of the same kind that each leave out a part of the labels
    and judge it. Calibrated by one another on unlabeled images, they give the share of wrong labels with an interval,
    and the probability ``p_wrong`` that each label is wrong. If less than `least_noise` is shown, the training is the
    same as without a curator, to the last bit. Pilots also show whether pretraining helps; if not, it is discarded.

    With few labels, pilots may be too weak to judge them, and curation would only lose labels. So where there are fewer
    than `enough` labels a class, pilots that contradict more labels than may be suspects (`max_drop`) show nothing: it
    is they who err. Nor do they with fewer than five labels a class, where errors that they share look like noise.

    It differs from the tables' :class:`~dips.curators.Adaptive` because semi-supervised training on images differs:

    - If there are enough labels, leaving one out costs little, because its image stays among the unlabeled ones; but a
      wrong label is memorized. So `margin` times the estimated share are suspects, as long as `enough` labels are left.
    - The network that judges gets better from round to round. So the share is estimated again at each curation, and
      only the last round counts. But it also comes to agree with labels that it was trained on, wrong ones included. So
      the share never falls below the estimate of the pilots, which were not trained on the labels that they judge.
    - Some classes are harder than others. So every class has the same share of suspects, and none is left empty.

    The share is estimated by confident learning (Northcutt et al. 2021) from networks that were not trained on the
    label: out-of-fold at the start, later in the rounds in which the label sat out.

    Parameters
    ----------
    n_folds : int
        Parts of the labels. At the start each part is judged by a network trained on the others; in the rounds the
        parts sit out in turn.
    margin : float
        How many suspects there are for each label that looks wrong.
    enough : int
        How many useful labels a class must keep if it is to have more suspects than labels that look wrong.
    max_drop : float
        The largest share of suspects in a class.
    least_noise : float
        Labels are judged only if at least about this share of them is shown to be wrong. 0 trains no pilots and always
        judges labels.
    n_pilots : int
        Parts of the labels that are left out in turn to estimate the noise.

    Attributes
    ----------
    noise_rate_ : the share of wrong labels that the pilots estimate; errors that they share make it somewhat too high
    noise_interval_ : lowest and highest share that explain the labels nearly as well
    why_all_useful_ : why no label is judged, in words; empty where labels are
    look_wrong_ : the share of labels that looked wrong to the pilots, or at the last curation
    out_of_fold_ : probability of each given label by networks that were not trained on it, or not in the last round
    """

    name = "image_auto"
    judges = ("images",)
    _parameter_constraints = {
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "margin": [Interval(Real, 1, None, closed="left")],
        "enough": [Interval(Integral, 0, None, closed="left")],
        "max_drop": [Interval(Real, 0, 1, closed="left")],
        "least_noise": [Interval(Real, 0, 1, closed="left")],
        "n_pilots": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        n_folds: int = 5,
        margin: float = 2.0,
        enough: int = 40,
        max_drop: float = 0.6,
        least_noise: float = 0.15,
        n_pilots: int = 4,
    ) -> None:
        self.n_folds = n_folds
        self.margin = margin
        self.enough = enough
        self.max_drop = max_drop
        self.least_noise = least_noise
        self.n_pilots = n_pilots

    def remember(self, rate: float, interval: tuple[float, float], answers: Array, labels: Array) -> None:
        """Keep what the pilots said; where they show little noise, or are weak, their errors may be all of it."""
        (low, high), n_of_a_class = interval, labels.size / answers.shape[1]
        self.noise_rate_, self.out_of_fold_ = rate, answers[np.arange(labels.size), labels]
        self.look_wrong_ = noise_rate(answers, labels)
        is_shown = rate >= self.least_noise and self._can_tell(n_of_a_class)
        self.noise_interval_ = (low if is_shown else 0.0, high)
        self.why_all_useful_ = "" if self.is_open else f"All are trained on: {self._why_closed(n_of_a_class)}."

    def _why_closed(self, n_of_a_class: float) -> str:
        """Why no label is judged, having so many of each class on average."""
        if self.noise_rate_ < self.least_noise:
            under = f"the estimate is under {100 * self.least_noise:.0f} %"
            return f"{under}, which may be the errors of the networks that judge them"
        if not self._can_tell(n_of_a_class) and n_of_a_class < _LEAST_OF_A_CLASS:
            return f"with fewer than {_LEAST_OF_A_CLASS} labels a class, networks cannot tell which are wrong"
        if not self._can_tell(n_of_a_class):
            said = f"the short trainings that judge them contradict {100 * self.look_wrong_:.0f} % of them"
            return f"{said}, and are more likely to be wrong themselves"
        return "they can be explained nearly as well without any that is wrong"

    def _can_tell(self, n_of_a_class: float) -> bool:
        """Whether pilots can tell which labels are wrong, having so many of each class on average."""
        are_weak = self.look_wrong_ >= self.max_drop  # more contradicted than may be suspects
        return n_of_a_class >= self.enough or (n_of_a_class >= _LEAST_OF_A_CLASS and not are_weak)

    @property
    def has_pilots(self) -> bool:
        """Whether the noise is estimated before the training."""
        return self.least_noise > 0

    @property
    def is_open(self) -> bool:
        """Whether labels are judged: some were shown to be wrong, by pilots that can tell which."""
        return self.noise_interval_[0] > 0

    @property
    def n_sit_out(self) -> int:
        """Into how many parts the labels are divided, one of which sits out in each round."""
        return self.n_folds

    def curate(self, evidence: Evidence) -> Array:
        """Find the suspects of each class; a pseudo-label is useful if it was the most probable class on average."""
        given = np.flatnonzero(evidence.is_given)
        labels, p = evidence.labels[given], evidence.out_of_fold(self.n_folds)[given]
        self.look_wrong_ = noise_rate(p, labels)
        self.out_of_fold_ = p[np.arange(given.size), labels]
        confidence = evidence.confidence[given] * self.out_of_fold_
        useful = evidence.mean_probabilities.argmax(axis=1) == evidence.labels
        useful[given] = True
        for c in range(evidence.n_classes):
            of_class = np.flatnonzero(labels == c)
            worst_first = of_class[np.argsort(confidence[of_class], kind="stable")]
            useful[given[worst_first[: self._n_suspects(of_class.size)]]] = False
        return useful

    def _n_suspects(self, n: int) -> int:
        """How many of a class's n labels are suspects: as many as look wrong, and more while enough are left."""
        share = max(self.look_wrong_, getattr(self, "noise_rate_", 0.0))
        look_wrong, at_most = (int(min(k * share, self.max_drop) * n) for k in (1, self.margin))
        return max(look_wrong, min(at_most, n - self.enough))
