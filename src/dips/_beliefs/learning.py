"""From labels to beliefs: ask the teachers, estimate the noise, and ask again without the labels that look wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dips._beliefs.belief import average_beliefs, probably_right, protect_classes
from dips._beliefs.graph_teacher import GraphTeacher
from dips._beliefs.lessons import Review
from dips._beliefs.noise import NoiseRate, calibrate_panels, estimate_noise
from dips._beliefs.teachers import Answers, BackboneTeacher, Teacher, linear_columns, make_helpers, numeric_columns
from dips._beliefs.usefulness import check_gain
from dips._data.folds import training_and_test
from dips._data.verified import Verified
from dips._rounds.training import Trainer
from dips._tools.arrays import Array, Rows

_MAX_COLUMNS = 300  # that wrong labels may have in common


@dataclass(frozen=True)
class RowBeliefs:
    """What is believed about every row.

    Attributes
    ----------
    labeled : (n, C) distribution over the true class of each labeled row, its label taken into account
    unlabeled : (m, C) of each unlabeled row
    made : (k, C) of each made-up row
    out_of_fold : (n, C) mean answer of the teachers, which do not know the row's label
    protected : (C,) whether more labels of the class looked wrong than the noise supports
    noise : the estimated share of wrong labels
    teachers : weight of each teacher under the most probable hypothesis about the noise
    check_gain : (n,) what a look at the label is worth
    """

    labeled: Array
    unlabeled: Array
    made: Array
    out_of_fold: Array
    protected: Array
    noise: NoiseRate
    teachers: dict[str, float]
    check_gain: Array


@dataclass(frozen=True)
class Effort:
    """How much is trained. Where labels are few, more teachers and folds pay; where they abound, they only cost."""

    n_folds: int
    helpers: tuple[str, ...]
    again: tuple[str, ...]  # teachers of the second round; none, no second round
    max_rows: int  # that one backbone is trained on
    max_rows_helper: int
    n_student: int = 0  # rows besides the labeled that the student learns from, made up where there are no others
    share_of_trees: float = 1.0  # of a forest
    graph: bool = False  # one more teacher, where unlabeled rows are more than the labels
    network: bool = False  # one more teacher

    @classmethod
    def for_labels(cls, n: int, n_folds: int | None = None, network: bool = False) -> Effort:
        """Return the effort for so many labels."""
        helpers, again = ("stiff linear", "linear", "trees", "stiff trees"), ("backbone", "linear", "trees")
        if n < 1_000:
            return cls(n_folds or 5, helpers, (*again, "graph"), 20_000, 4_000, 1_000, graph=True, network=network)
        if n < 10_000:
            n_student = 1_000 if n < 2_000 else 0
            return cls(n_folds or 3, helpers, again, 20_000, 4_000, n_student, share_of_trees=0.25, network=network)
        # so that an audit costs about three fits
        return cls(n_folds or 2, ("linear",), (), 15_000, 2_000, network=network)


def learn_beliefs(
    trainer: Trainer,
    labeled: Rows,
    labels: Array,
    unlabeled: Rows,
    effort: Effort,
    verified: Verified | None = None,
    made: Rows | None = None,
) -> RowBeliefs:
    """Return what is believed about labeled rows of the trainer's pool, and about unlabeled and made-up ones.

    Parameters
    ----------
    trainer : trains the backbone, and owns the pool
    labeled, labels : rows of the pool and their codes
    unlabeled : rows of the pool
    effort : how much to train
    verified : which of the labels were checked, and what they were before
    made : made-up rows of the pool
    """
    rng, every = trainer.rng, np.ones(labels.size, dtype=bool)
    n_real = labels.size + unlabeled.size
    unlabeled = unlabeled if made is None else np.concatenate([unlabeled, made])
    table = trainer.pool.take(np.concatenate([labeled, unlabeled]))
    X = numeric_columns(table)
    X = X if X is not None and X.shape[1] else None
    linear = None if X is None else linear_columns(X)
    verified = verified or Verified.nothing(labels.size)
    review = Review(labels, verified, _few(linear, labels.size) if verified.mask.any() else None)
    teachers = _make_teachers(trainer, labeled, unlabeled, n_real, effort, table, X, linear)
    order, groups = rng.permutation(labels.size), trainer.groups_of(labeled)
    folds = list(training_and_test(labels, effort.n_folds, order, groups))

    answers = _ask(teachers, labels, folds, every, rng)
    noise, panels = estimate_noise([a.labeled for a in answers], labels, rng, review.verified)
    heard = [panels[i] for i in noise.heard]
    before, distribution = average_beliefs(answers, review.given, noise, heard)
    right = probably_right(1 - review.revise(before)[np.arange(labels.size), labels], labels)
    if effort.again and not right.all():
        again = _ask_again(teachers, answers, effort, labels, folds, right, rng)
        hypotheses = [noise.hypotheses[i] for i in noise.heard]
        heard_again = calibrate_panels([a.labeled for a in again], labels, hypotheses, rng, review.verified)
        before_again, distribution_again = average_beliefs(again, review.given, noise, heard_again)
        before, distribution = (before + before_again) / 2, (distribution + distribution_again) / 2

    weights = panels[int(noise.posterior.argmax())].weights
    names = dict(zip([teacher.name for teacher in teachers], weights.tolist(), strict=True))
    out_of_fold = np.tensordot(weights, np.array([a.labeled for a in answers]), axes=1)
    noise = review.rate(noise, before)
    belief, protected = protect_classes(review.revise(before), labels, noise, review.known_classes(trainer.n_classes))
    of_real, of_made = np.split(distribution, [n_real - labels.size])
    given = np.where(review.given >= 0, review.given, labels)
    gain = check_gain(1 - belief[np.arange(labels.size), labels], given, review.verified.mask, trainer.n_classes)
    return RowBeliefs(belief, of_real, of_made, out_of_fold, protected, noise, names, gain)


def _few(columns: Array | None, n: int) -> Array | None:
    """Return the columns of the first n rows, or None where there are too many to learn from some dozen looks."""
    return columns[:n] if columns is not None and columns.shape[1] <= _MAX_COLUMNS else None


def _make_teachers(
    trainer: Trainer,
    labeled: Rows,
    unlabeled: Rows,
    n_real: int,
    effort: Effort,
    table: Any,
    X: Array | None,
    linear: Array | None,
) -> list[Teacher]:
    """Return the backbone, the helpers and the graph where rows can be read as numbers, and the network if asked."""
    teachers: list[Teacher] = [BackboneTeacher(trainer, labeled, unlabeled, effort.max_rows)]
    if X is not None and linear is not None:
        weights = None if trainer.sample_weight is None else trainer.sample_weight[labeled]
        shape = (trainer.n_classes, effort.n_folds, effort.max_rows_helper)
        teachers += make_helpers(effort.helpers, X, linear, weights, *shape, trainer.rng, effort.share_of_trees)
        if effort.graph and n_real > 2 * labeled.size:
            n_made = len(X) - n_real
            teachers.append(GraphTeacher(linear, n_made, trainer.n_classes, weights, effort.max_rows_helper))
    if effort.network:
        from dips._beliefs.network_teacher import network_teachers  # rarely asked, so loaded when it is

        teachers += network_teachers(table, labeled.size, trainer.n_classes, trainer.rng)
    return teachers


def _ask(
    teachers: Sequence[Teacher],
    labels: Array,
    folds: Sequence[tuple[Array, Array]],
    right: Array,
    rng: np.random.RandomState,
) -> list[Answers]:
    """Ask every teacher, trained on no more rows than it may be, and on none that is not right."""
    tests = [np.flatnonzero(test) for _, test in folds]
    answers = []
    for teacher in teachers:
        trainings = [_training_rows(train, right, labels, teacher.max_rows, rng) for train, _ in folds]
        answers.append(teacher.answer(trainings, tests, labels))
    return answers


def _ask_again(
    teachers: Sequence[Teacher],
    answers: Sequence[Answers],
    effort: Effort,
    labels: Array,
    folds: Sequence[tuple[Array, Array]],
    right: Array,
    rng: np.random.RandomState,
) -> list[Answers]:
    """Ask some teachers without the labels that look wrong; the network's first answers stand."""
    asked = _ask([teacher for teacher in teachers if teacher.name in effort.again], labels, folds, right, rng)
    return asked + [answer for teacher, answer in zip(teachers, answers, strict=True) if teacher.name == "network"]


def _training_rows(train: Array, right: Array, labels: Array, most: int, rng: np.random.RandomState) -> Rows:
    """Positions to train on: at most so many, right ones, and at least one of every class that the fold has."""
    rows = np.flatnonzero(train & right)
    if rows.size > most:
        rows = np.sort(rng.choice(rows, most, replace=False))
    everywhere = np.flatnonzero(train)
    classes, first = np.unique(labels[everywhere], return_index=True)
    missing = ~np.isin(classes, labels[rows])
    return np.concatenate([rows, everywhere[first[missing]]])
