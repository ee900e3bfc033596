"""From labels to beliefs: ask the teachers, estimate the noise, and ask again without the labels that look wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dips._beliefs.asked_rows import AskedRows
from dips._beliefs.belief import average_beliefs, probably_right, protect_classes
from dips._beliefs.effort import Effort
from dips._beliefs.graph_teacher import GraphTeacher
from dips._beliefs.lessons import Review
from dips._beliefs.noise import NoiseRate, calibrate_panels, estimate_noise
from dips._beliefs.teachers import Answers, BackboneTeacher, Teacher, make_helpers
from dips._beliefs.usefulness import check_gain
from dips._data.folds import training_and_test
from dips._data.known import Known
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
    synthetic : (k, C) of each synthetic row
    out_of_fold : (n, C) mean answer of the teachers, which do not know the row's label
    in_danger : (C,) whether more labels of the class look wrong than the noise of all labels supports
    noise : the estimated share of wrong labels
    teachers : weight of each teacher under the most probable hypothesis about the noise
    check_gain : (n,) what a look at the label is worth
    """

    labeled: Array
    unlabeled: Array
    synthetic: Array
    out_of_fold: Array
    in_danger: Array
    noise: NoiseRate
    teachers: dict[str, float]
    check_gain: Array


def learn_beliefs(
    trainer: Trainer,
    labeled: Rows,
    labels: Array,
    unlabeled: Rows,
    effort: Effort,
    verified: Verified | None,
    known: Known | None,
    synthetic: Rows | None = None,
) -> RowBeliefs:
    """Return what is believed about labeled rows of the trainer's pool, and about unlabeled and synthetic ones.

    Parameters
    ----------
    trainer : trains the backbone, and owns the pool
    labeled, labels : rows of the pool and their codes
    unlabeled : rows of the pool
    effort : how much to train
    verified : which of the labels were checked, and what they were before
    known : what is known of the errors
    synthetic : synthetic rows of the pool
    """
    rng, n_classes, at_label = trainer.rng, trainer.n_classes, (np.arange(labels.size), labels)
    rows = AskedRows.of(trainer, labeled, unlabeled, unlabeled[:0] if synthetic is None else synthetic)
    verified = verified or Verified.nothing(labels.size)
    review = Review(labels, verified, _few(rows.linear, labels.size) if verified.mask.any() else None)
    teachers = _make_teachers(trainer, rows, effort)
    order, groups = rng.permutation(labels.size), trainer.groups_of(labeled)
    strata = trainer.strata_of(labeled, labels)
    ask = partial(_ask, labels, strata, list(training_and_test(strata, effort.n_folds, order, groups)), rng)

    answers = ask(teachers)
    noise, panels = estimate_noise([a.labeled for a in answers], labels, rng, verified, known)
    heard = [panels[i] for i in noise.heard]
    before, distribution = average_beliefs(answers, review.given, noise, heard)
    right = probably_right(1 - review.revise(before)[at_label], labels)
    if effort.again and not right.all():
        again = ask([teacher for teacher in teachers if teacher.name in effort.again], right)
        # The network is not trained, so its first answers stand.
        again += [answer for teacher, answer in zip(teachers, answers, strict=True) if teacher.name == "network"]
        hypotheses = [noise.hypotheses[i] for i in noise.heard]
        heard_again = calibrate_panels([a.labeled for a in again], labels, hypotheses, rng, verified)
        before_again, distribution_again = average_beliefs(again, review.given, noise, heard_again)
        before, distribution = (before + before_again) / 2, (distribution + distribution_again) / 2

    weights = panels[int(noise.posterior.argmax())].weights
    noise = review.rate(noise, before)
    settled = verified.mask if known is None else verified.mask | known.trusts(review.first_known)
    belief, in_danger = protect_classes(review.revise(before), labels, noise, review.known_classes(n_classes))
    return RowBeliefs(
        labeled=belief,
        unlabeled=distribution[: unlabeled.size],
        synthetic=distribution[unlabeled.size :],
        out_of_fold=np.tensordot(weights, np.array([a.labeled for a in answers]), axes=1),
        in_danger=in_danger,
        noise=noise,
        teachers=dict(zip([teacher.name for teacher in teachers], weights.tolist(), strict=True)),
        check_gain=check_gain(1 - belief[at_label], review.first_known, settled, n_classes),
    )


def _few(columns: Array | None, n: int) -> Array | None:
    """Return the columns of the first n rows, or None if there are too many to learn from a few dozen checks."""
    return columns[:n] if columns is not None and columns.shape[1] <= _MAX_COLUMNS else None


def _make_teachers(trainer: Trainer, rows: AskedRows, effort: Effort) -> list[Teacher]:
    """Return the backbone, the helpers and the graph where rows can be read as numbers, and the network if asked."""
    n_classes, n_labeled = trainer.n_classes, rows.labeled.size
    teachers: list[Teacher] = [BackboneTeacher(trainer, rows.labeled, rows.others, effort.max_rows)]
    if rows.linear is not None:
        teachers += make_helpers(rows, effort, n_classes, trainer.rng)
        if effort.graph and rows.others.size - rows.n_synthetic > n_labeled:
            most = effort.max_rows_helper
            teachers.append(GraphTeacher(rows.linear, rows.n_synthetic, n_classes, rows.weights, most))
    if effort.network:
        from dips._beliefs.network_teacher import network_teachers  # rarely asked, so loaded when it is

        teachers += network_teachers(rows.table, n_labeled, n_classes, trainer.rng)
    return teachers


def _ask(
    labels: Array,
    strata: Array,
    folds: Sequence[tuple[Array, Array]],
    rng: np.random.RandomState,
    teachers: Sequence[Teacher],
    right: Array | None = None,
) -> list[Answers]:
    """Ask every teacher, each trained on at most its ``max_rows``, and only on `right` labels (a mask, (n,))."""
    right = np.ones(labels.size, dtype=bool) if right is None else right
    tests = [np.flatnonzero(test) for _, test in folds]
    answers = []
    for teacher in teachers:
        trainings = [_training_rows(train, right, strata, teacher.max_rows, rng) for train, _ in folds]
        answers.append(teacher.answer(trainings, tests, labels))
    return answers


def _training_rows(train: Array, right: Array, strata: Array, most: int, rng: np.random.RandomState) -> Rows:
    """Positions to train on: at most `most` of the right labels, and at least one of every stratum in the fold."""
    rows = np.flatnonzero(train & right)
    if rows.size > most:
        rows = np.sort(rng.choice(rows, most, replace=False))
    everywhere = np.flatnonzero(train)
    distinct, first = np.unique(strata[everywhere], return_index=True)
    missing = ~np.isin(distinct, strata[rows])
    return np.concatenate([rows, everywhere[first[missing]]])
