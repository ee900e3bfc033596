"""The curator's contract, and what a curator is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dips._dynamics import STATISTICS
from dips._tools.arrays import Array
from dips._tools.registry import Named
from dips._tools.warnings import warn
from dips.exceptions import InputError


@dataclass(frozen=True)
class Evidence:
    """What a curator is shown: the m rows of the training pool D, labeled and pseudo-labeled.

    Attributes
    ----------
    labels : (m,) codes 0..C-1, given or pseudo-labels
    is_given : (m,) False for pseudo-labels
    n_classes : C
    round : 0 at the start, else the round just trained
    statistics : (m,) each, at the row's label: confidence, aleatoric, and what else the curator lists
    mean_probabilities : (m, C) average over the checkpoints
    probabilities : (m, C) at the last checkpoint
    features : returns the rows as the model sees them
    out_of_fold : function of a number of folds
        Returns cross-validated probabilities (m, C) of the rows with given labels; NaN for the others.
    groups : (m,) group of each row, which no fold may divide; None if there are no groups
    weights : (m,) sample weight of each row; None if no weights were given
    """

    labels: Array
    is_given: Array
    n_classes: int
    round: int
    statistics: Mapping[str, Array]
    mean_probabilities: Array
    probabilities: Array
    features: Callable[[], Any]
    out_of_fold: Callable[[int], Array]
    groups: Array | None = None
    weights: Array | None = None

    @property
    def confidence(self) -> Array:
        """Average confidence in each row's label (Definition 4.1)."""
        return self.statistics["confidence"]

    @property
    def aleatoric(self) -> Array:
        """Aleatoric uncertainty of each row (Definition 4.2)."""
        return self.statistics["aleatoric"]


class Curator(Named):
    """Says which rows of the training pool are useful: the selector r of the paper.

    A subclass has a ``name``, lists the ``statistics`` it reads besides confidence and aleatoric, and implements
    :meth:`curate`. One object serves one fit, from the start through the rounds, so it may remember what it learned;
    such attributes end in ``_``.

    Attributes
    ----------
    believes : True for a curator that gives beliefs, on which the last model is trained, instead of a mask
    curates : False for a curator that keeps every row, so that no dynamics are needed
    evens_classes : whether very skewed class proportions are evened out for the labeler
        Labelers propose rows of each class in proportion to the useful labels. Where these are very skewed, the authors
        even them out; False leaves them as they are.
    judges : what it can judge: tables, images or both
    window : the part of the training that counts, as fractions
    """

    judges: ClassVar[tuple[str, ...]] = ("tables", "images")
    statistics: ClassVar[tuple[str, ...]] = ()
    believes: ClassVar[bool] = False
    curates: ClassVar[bool] = True
    evens_classes: ClassVar[bool] = True
    window: tuple[float, float] = (0.0, 1.0)
    _parameter_constraints: dict[str, list[Any]] = {}

    def curate(self, evidence: Evidence) -> Array:
        """Return the mask (m,) of useful rows."""
        raise NotImplementedError

    def has_rule(self, at_start: bool) -> bool:
        """Whether each pseudo-label is judged by itself; `at_start`: the given labels were judged before the rounds."""
        return False

    def judge_pseudo(self, evidence: Evidence) -> Array:
        """Return the mask (m,) of useful pseudo-labels, each judged by itself; for curators that have a rule."""
        return self.curate(evidence)


class FunctionCurator(Curator):
    """A curator made from a function that takes :class:`Evidence`, with every statistic, and returns a mask.

    Parameters
    ----------
    function : callable
        Takes an :class:`Evidence`, returns a boolean mask (m,).
    """

    statistics = STATISTICS

    def __init__(self, function: Callable[[Evidence], Any]) -> None:
        self.function = function

    def curate(self, evidence: Evidence) -> Array:
        """Call the function."""
        return self.function(evidence)


def checked_mask(curator: Curator, evidence: Evidence) -> Array:
    """Ask any curator which rows are useful, and check that it answers with a mask of them."""
    useful = np.asarray(curator.curate(evidence))
    if useful.shape != evidence.labels.shape or useful.dtype != bool:
        raise InputError(
            f"The curator must return a boolean mask of shape {evidence.labels.shape}; "
            f"got {useful.dtype} of shape {useful.shape}."
        )
    return useful


SHARE_USEFUL_OF_A_LOST_CLASS = 0.1


def keep_every_class(useful: Array, evidence: Evidence, weighs: Array | None = None) -> Array:
    """Take the most confident tenth of each class that would be left with no useful row as useful, and warn.

    Where no row at all is useful, the curator has told nothing apart, so every row is useful. Only rows that weigh
    something, if a mask (m,) says so, can keep a class.
    """
    if not useful.any():
        warn_of_no_useful_row()
        return np.ones_like(useful)
    weighs = np.ones_like(useful) if weighs is None else weighs
    present = np.bincount(evidence.labels[weighs], minlength=evidence.n_classes) > 0
    lost = np.flatnonzero(present & (np.bincount(evidence.labels[useful & weighs], minlength=evidence.n_classes) == 0))
    if lost.size == 0:
        return useful
    useful = useful.copy()
    for c in lost:
        rows = np.flatnonzero((evidence.labels == c) & weighs)
        n_useful = int(np.ceil(SHARE_USEFUL_OF_A_LOST_CLASS * rows.size))
        useful[rows[np.argsort(-evidence.confidence[rows], kind="stable")[:n_useful]]] = True
    warn_of_lost_classes(lost.size, evidence.n_classes)
    return useful


def warn_of_no_useful_row() -> None:
    """Say that every row is taken as useful, as the curator found none."""
    warn(
        "The curator found no useful row, so every row is taken as useful. Its thresholds do not suit this backbone; "
        'try curator="auto", which adapts.'
    )


def warn_of_lost_classes(n_lost: int, n_classes: int) -> None:
    """Say that some rows of classes which the curator left without any are taken as useful."""
    warn(
        f"The curator would have left {n_lost} of {n_classes} classes with no useful row; the most confident rows of "
        "each are taken as useful."
    )
