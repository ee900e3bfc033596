"""Beliefs, the default: how probable it is that each label is wrong, and a student trained on just that."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from dips._tools.arrays import Array
from dips._tools.sklearn_compat import Interval
from dips.curators._base import Curator, Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Beliefs(Curator):
    """Belief instead of verdict: no row is left out; each counts for every class with that class's probability.

    Teachers that err differently judge every label out of fold: the backbone itself, linear models and randomized
    trees. With fewer than 1,000 labels, and more unlabeled rows than labels, there is one more: a graph of nearby rows,
    along which labels spread. With a model of the noise, their answers give the share of wrong labels, the probability
    ``p_wrong`` that each label is wrong, and a distribution over the true class of every row. The last model is the
    backbone trained on these distributions, labeled and unlabeled rows alike; where unlabeled rows are few, also on
    synthetic ones, copies of a row with some values of a nearby one. The suspects are, in each class, as many labels as
    are expected to be wrong: those with the highest ``p_wrong``.

    Works with every classifier that has ``predict_proba``; no checkpoints are needed.

    Parameters
    ----------
    n_folds : int or None, default=None
        Folds of the judgment; None takes 5 below 1,000 labels, 3 below 10,000, and 2 above.
    max_unlabeled : int, default=2000
        How many unlabeled rows the last model learns from; if there are more, a sample is drawn. A few hundred give
        nearly all of the gain.
    network : bool, default=False
        Whether :class:`~dips.network.PriorFittedClassifier` is one more teacher, for tables of at most 1,000 labels and
        ten classes. It costs two to three times the rest, and added nothing to half a point of accuracy to dirty labels
        (docs/results.md).
    reviewer_error : float, default=0.0
        How often the reviewers who verified labels are wrong. Above 0, a verified label is weighed against the teachers
        and the label before it, and counts in training with the probability that it is right. It is never a suspect.
    trusted_labels : sequence of labels, default=()
        Labels that are never wrong, such as a confirmed fraud. Rows of these classes may still be labeled otherwise,
        such as a fraud that nobody noticed; with two classes, that is learning from positive and unlabeled rows.
    class_frequencies : mapping of label to share, sequence (C,) or None, default=None
        How often each class truly occurs among the labeled rows, where that is known: by a survey, or by experience. A
        mapping may leave out one class, which has the rest. How often each label was given then says in which
        direction labels are wrong.

    Attributes
    ----------
    noise_rate_ : the estimated share of wrong labels
        Of the labels before they were checked, if ``y_given`` tells them.
    noise_interval_ : lowest and highest share that explain the labels nearly as well
    teachers_ : weight of each teacher
    answers_ : (n_given, C) class probabilities of each labeled row, by teachers that did not see its label
    out_of_fold_ : (n_given,) the same, of the given labels
    """

    name = "beliefs"
    believes = True
    judges = ("tables",)
    evens_classes = False
    _parameter_constraints = {
        "n_folds": [Interval(Integral, 2, None, closed="left"), None],
        "max_unlabeled": [Interval(Integral, 0, None, closed="left")],
        "network": ["boolean"],
        "reviewer_error": [Interval(Real, 0, 0.5, closed="left")],
        "trusted_labels": ["array-like"],
        "class_frequencies": [dict, "array-like", None],
    }

    def __init__(
        self,
        n_folds: int | None = None,
        max_unlabeled: int = 2_000,
        network: bool = False,
        reviewer_error: float = 0.0,
        trusted_labels: Sequence[Any] | Array = (),
        class_frequencies: Mapping[Any, float] | Sequence[float] | Array | None = None,
    ) -> None:
        self.n_folds = n_folds
        self.max_unlabeled = max_unlabeled
        self.network = network
        self.reviewer_error = reviewer_error
        self.trusted_labels = trusted_labels
        self.class_frequencies = class_frequencies

    def remember(
        self, rate: float, interval: tuple[float, float], teachers: Mapping[str, float], answers: Array, labels: Array
    ) -> None:
        """Keep what was estimated."""
        self.noise_rate_, self.noise_interval_ = rate, interval
        self.teachers_, self.answers_ = dict(teachers), answers
        self.out_of_fold_ = answers[np.arange(labels.size), labels]

    def curate(self, evidence: Evidence) -> Array:
        """Keep every row: beliefs weigh rows, they do not drop them."""
        return np.ones(evidence.labels.shape, dtype=bool)
