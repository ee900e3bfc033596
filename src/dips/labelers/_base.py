"""The labeler's contract, and what a labeler is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, TypeAlias

import numpy as np

from dips._dynamics import Moments
from dips._tools.arrays import Array, Rows
from dips._tools.registry import Named
from dips._tools.sklearn_compat import Interval, StrOptions
from dips.exceptions import InputError


@dataclass(frozen=True)
class Candidates:
    """What a labeler is shown: the m rows that are still unlabeled in a round.

    Attributes
    ----------
    probabilities : (m, C) of the round's model
    class_frequencies : (C,) of the useful given labels
        Of pseudo-labels too if there are none. Very skewed ones are evened out if the curator allows it.
    round, n_rounds : t of T
    caps : (C,) the most rows that each class may get in this round
    ensemble : function of a number of members
        Trains them on the useful rows and returns the moments of their probabilities.
    checkpoints : function of a number of members
        The same without training, over at most that many checkpoints of the round's model; only for a labeler that has
        a ``member_window``.
    features : returns the m rows as the round's model sees them, all in memory at once
    map_features : function of a function
        Applies it to the m rows as the round's model sees them, a batch at a time, and returns its results (m, ...);
        for pools larger than memory.
    useful_labels : (k,) codes of the k rows that the round's model was trained on
    useful_is_given : (k,) False for pseudo-labels
    useful_features : returns these k rows as the model sees them
    """

    probabilities: Array
    class_frequencies: Array
    round: int
    n_rounds: int
    caps: Array
    ensemble: Callable[[int], Moments]
    checkpoints: Callable[[int], Moments]
    features: Callable[[], Any]
    map_features: Callable[[Callable[[Any], Array]], Array]
    useful_labels: Array
    useful_is_given: Array
    useful_features: Callable[[], Any]

    @property
    def share(self) -> float:
        """The share of the rows left that this round may label."""
        return share_of_round(self.round, self.n_rounds)


Choice: TypeAlias = Callable[[Array], tuple[Array, Array, Array]]
Total: TypeAlias = Callable[[Callable[[Array], Array]], Array]


class Labeler(Named):
    """Proposes rows of the unlabeled pool with labels: the selector s of the paper.

    A subclass has a ``name`` and implements :meth:`choose`, or :meth:`rule` if only a row's own probabilities decide.
    The best rows of each class are taken, up to its cap.
    """

    _parameter_constraints: dict[str, list[Any]] = {}

    @property
    def member_window(self) -> tuple[float, float] | None:
        """The part of the training, as fractions, whose checkpoints are ensemble members; None if they are not used."""
        return None

    has_rule: ClassVar[bool] = False
    """Whether there is a :meth:`rule`, so that rows may be on many machines."""

    def rule(self, total: Total) -> Choice:
        """Return a function that turns probabilities (m, C) into labels, scores from 0 to 1 and a mask, (m,) each.

        `total` takes a function from probabilities to an array, and returns the sum of that array over all rows that
        may be taken. The function returned can be pickled.
        """
        raise NotImplementedError

    def choose(self, candidates: Candidates) -> tuple[Array, Array, Array]:
        """Return for each row its label, its score, and whether it may be taken; (m,) each."""
        p = candidates.probabilities
        return self.rule(lambda function: function(p))(p)

    def propose(self, candidates: Candidates) -> tuple[Rows, Array]:
        """Return positions among the candidates and the labels proposed for them."""
        labels, scores, eligible = (np.asarray(a) for a in self.choose(candidates))
        _check_choice(labels, scores, eligible, candidates)
        rows = best_of_each_class(labels, scores, eligible, candidates.caps)
        return rows, labels[rows]


class EnsembleLabeler(Labeler):
    """A labeler that asks an ensemble of `n_models` members, trained or taken from the checkpoints."""

    n_models: int
    members: str
    _parameter_constraints = {
        "n_models": [Interval(Integral, 2, None, closed="left")],
        "members": [StrOptions({"trained", "checkpoints"})],
    }

    @property
    def member_window(self) -> tuple[float, float] | None:
        """The second half of the training: models that are already good, and differ."""
        return (0.5, 1.0) if self.members == "checkpoints" else None

    def moments(self, candidates: Candidates) -> Moments:
        """Mean and standard deviation of the class probabilities over the members."""
        ask = candidates.checkpoints if self.members == "checkpoints" else candidates.ensemble
        return ask(self.n_models)


class FunctionLabeler(Labeler):
    """A labeler from a plain function of the :class:`Candidates` that returns positions and labels (codes).

    Parameters
    ----------
    function : callable
        Takes :class:`Candidates`, returns positions among them and a code for each.
    """

    def __init__(self, function: Callable[[Candidates], Any]) -> None:
        self.function = function

    def propose(self, candidates: Candidates) -> tuple[Rows, Array]:
        """Call the function."""
        return self.function(candidates)


def checked_proposal(labeler: Labeler, candidates: Candidates) -> tuple[Rows, Array]:
    """Ask any labeler for its proposal, and check that it holds distinct positions and a code for each."""
    n, n_classes = candidates.probabilities.shape
    returned = labeler.propose(candidates)
    try:
        rows, labels = returned
    except (TypeError, ValueError):
        raise InputError(
            f"The labeler must return two things, positions and labels; got {type(returned).__name__}."
        ) from None
    rows, labels = _whole_numbers(rows, "positions"), _whole_numbers(labels, "labels")
    if rows.shape != labels.shape or rows.ndim != 1:
        raise InputError(f"The labeler must return as many labels as positions; got {labels.shape} and {rows.shape}.")
    if rows.size and not (rows.min() >= 0 and rows.max() < n and _are_distinct(rows, n)):
        raise InputError(f"The labeler must return distinct positions from 0 to {n - 1}.")
    _check_codes(labels, n_classes)
    return rows, labels


def _check_choice(labels: Array, scores: Array, eligible: Array, candidates: Candidates) -> None:
    """Refuse a choice from which the best rows of a class cannot be taken."""
    n, n_classes = candidates.probabilities.shape
    shapes = [a.shape for a in (labels, scores, eligible)]
    if shapes != [(n,)] * 3 or eligible.dtype != bool:
        raise InputError(
            f"The labeler must choose with labels, scores and a boolean mask of shape {(n,)}; got shapes "
            f"{', '.join(map(str, shapes))} and a mask of {eligible.dtype}."
        )
    _check_codes(_whole_numbers(labels[eligible], "labels"), n_classes)
    if np.isnan(scores[eligible]).any():
        raise InputError("The labeler must return a score for every row that may be taken; got NaN.")


def _check_codes(labels: Array, n_classes: int) -> None:
    if labels.size and not (labels.min() >= 0 and labels.max() < n_classes):
        raise InputError(f"The labeler must return labels as codes from 0 to {n_classes - 1}.")


def _whole_numbers(values: Any, what: str) -> Array:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"The labeler must return {what} as whole numbers; got {array.dtype}.")
    return array.astype(np.intp, copy=False)


def _are_distinct(rows: Rows, n: int) -> bool:
    is_taken = np.zeros(n, dtype=bool)
    is_taken[rows] = True
    return np.count_nonzero(is_taken) == rows.size


def best_of_each_class(labels: Array, scores: Array, eligible: Array, caps: Array) -> Rows:
    """Positions of the eligible rows with the highest scores, at most ``caps[c]`` labeled c; ties to earlier rows."""
    chosen = np.zeros(labels.size, dtype=bool)
    for c, cap in enumerate(caps):
        rows = np.flatnonzero(eligible & (labels == c))
        if rows.size > cap:
            rows = rows[_largest(scores[rows], int(cap))]
        chosen[rows] = True
    return np.flatnonzero(chosen)


def _largest(scores: Array, k: int) -> Rows:
    """Positions of the k largest in linear time, ties to the earlier."""
    if k == 0:
        return np.empty(0, dtype=np.intp)
    threshold = np.partition(scores, scores.size - k)[scores.size - k]
    above = np.flatnonzero(scores > threshold)
    return np.concatenate([above, np.flatnonzero(scores == threshold)[: k - above.size]])


_SKEWED = 5


def class_frequencies(labels: Array, n_classes: int, evened: bool = True) -> Array:
    """Share of each class; evened out, it is mixed half and half with uniform where the largest is over five times the
    smallest.
    """
    counts = np.bincount(labels, minlength=n_classes)
    shares = counts / labels.size
    return (shares + 1 / n_classes) / 2 if evened and counts.max() > _SKEWED * counts.min() else shares


def share_of_round(t: int, n_rounds: int) -> float:
    """Share of the rows left that round t of T may label: falls linearly from 2/(T + 1); adds up to 1 over the rounds.

    The share is of the rows *left*, and the last round proposes nothing, so part of the pool is never labeled: at T = 5
    about a third, even if the model is sure of every row.

    Examples
    --------
    >>> [round(share_of_round(t, 3), 2) for t in (1, 2, 3)]
    [0.5, 0.33, 0.17]
    """
    return 2 * (n_rounds - t + 1) / (n_rounds * (n_rounds + 1))


def caps_of_round(frequencies: Array, t: int, n_rounds: int, n_left: int) -> Array:
    """Rows that each class may get in round t of T: its frequency's part of the round's share of the rows left.

    Examples
    --------
    >>> caps_of_round(np.array([0.5, 0.5]), t=1, n_rounds=5, n_left=900)
    array([150, 150])
    """
    return np.ceil(frequencies * share_of_round(t, n_rounds) * n_left).astype(np.intp)
