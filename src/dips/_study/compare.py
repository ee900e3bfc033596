"""Comparing the candidates: validated on the training part, scored once on the part held out."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from dips._data.grouped_folds import grouped_folds
from dips._files.target import Target
from dips._study.candidates import CANDIDATES, PLAIN, Candidate
from dips._study.examples import Examples
from dips._study.folder import RunFolder
from dips._study.metrics import METRICS, Metric, metrics_for, read_costs
from dips._study.settings import Settings
from dips._study.truth import Truth, believed_truth
from dips._study.warning_log import WarningLog, caught_warnings
from dips._tools.arrays import Array, Rows
from dips._tools.observer import Observer
from dips._tools.resampling import resample_weights
from dips._tools.wording import counted, option
from dips.exceptions import DataError

USUAL = ("curated_pseudo", "curated", PLAIN)  # the first that was trained; benchmarks/choosing.py has the figures
FRACTION = 0.8  # of a study's work is its comparison, about
_CLEAR = 2  # standard errors
_PARTS, _NEARLY = 20, 0.25  # into which groups are dealt out, to hold some out; how far off the share of these may be
_LEAST_FOLDS = 2
_N_RESAMPLES = 200
_FEW, _MANY = 2_000, 20_000  # labeled rows; fewer need more folds for a steady choice


@dataclass(frozen=True)
class HoldOut:
    """Rows to train on, rows held out, unlabeled rows that are used, and the group of every row, if there are any."""

    train: Rows
    test: Rows
    unlabeled: Rows
    groups: Array | None = None

    def unlabeled_apart_from(self, rows: Rows) -> Rows:
        """Return the unlabeled rows that do not belong to a group of the given rows."""
        return _apart(self.unlabeled, rows, self.groups)


def _apart(rows: Rows, others: Rows, groups: Array | None) -> Rows:
    """Return the rows that do not belong to a group of the others."""
    return rows if groups is None else rows[~np.isin(groups[rows], groups[others])]


@dataclass(frozen=True)
class Gain:
    """How much better, with its standard error."""

    value: float
    error: float


@dataclass
class Comparison:
    """Results of the comparison, by name of the candidate.

    Attributes
    ----------
    folds, validation : the deciding metric in each fold, expected under what is believed of its rows, and its mean
    test : class probabilities of the held-out rows
    of_folds : class probabilities of the rows of each fold
    gains : over the usual candidate, in validation
    skipped : why a candidate was left out
    seconds : training time on the training part
    chosen : the candidate to keep
    warnings : what the trainings warned of
    """

    validation: dict[str, float] = field(default_factory=dict)
    folds: dict[str, list[float]] = field(default_factory=dict)
    test: dict[str, Array] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    of_folds: dict[str, list[Array]] = field(default_factory=dict)
    gains: dict[str, Gain] = field(default_factory=dict)
    chosen: str = PLAIN
    warnings: WarningLog = field(default_factory=WarningLog)

    def validate(
        self, truths: list[Truth], metric: str, positive: int, metrics: Mapping[str, Metric] = METRICS
    ) -> None:
        """Score every candidate in every fold."""
        for name, of_folds in self.of_folds.items():
            pairs = zip(truths, of_folds, strict=True)
            self.folds[name] = [truth.score(metrics[metric], p, positive) for truth, p in pairs]
            self.validation[name] = float(np.mean(self.folds[name]))


def hold_out(target: Target, settings: Settings, groups: Array | None = None, now: Target | None = None) -> HoldOut:
    """Hold out a share of the labeled rows, the same of each class; no group is divided.

    The rows are drawn by the labels as they were given, so that corrections leave the held-out rows as they are, and
    two runs can be compared on them. Rows that have a label only `now` are trained on, unless others of their group
    are held out; those that lost it are neither.
    """
    now = target if now is None else now
    labeled, n_classes = np.flatnonzero(target.is_labeled), len(target.classes)
    if math.ceil(settings.holdout * labeled.size) < n_classes:
        raise DataError(
            f"{100 * settings.holdout:.0f} % of {labeled.size} labeled {target.origin.unit}s are too few to hold out "
            f"some of each of {n_classes} classes; choose a larger {option('holdout')}, or label more."
        )
    train, test = _parted(labeled, target.codes[labeled], settings.holdout, settings.seed, groups)
    _refuse_rare_class(target, test, groups, 1, "hold out", settings)
    new = np.flatnonzero(now.is_labeled & ~target.is_labeled)
    train = np.sort(np.concatenate([train, _apart(new, test, groups)]))
    train, test, unlabeled = train[now.is_labeled[train]], test[now.is_labeled[test]], np.flatnonzero(~now.is_labeled)
    _refuse_rare_class(now, train, None, _LEAST_FOLDS, "learn from", settings)
    if unlabeled.size > settings.max_unlabeled:
        unlabeled = np.sort(np.random.RandomState(settings.seed).permutation(unlabeled)[: settings.max_unlabeled])
    return HoldOut(train, test, unlabeled, groups)


def _parted(rows: Rows, codes: Array, share: float, seed: int, groups: Array | None) -> tuple[Rows, Rows]:
    """Rows to train on and rows to test on, a share of them, the same of each class as far as groups stay whole."""
    if groups is None:
        train, test = train_test_split(rows, test_size=share, stratify=codes, random_state=seed)
        return np.sort(train), np.sort(test)
    part, n_test = _grouped(codes, groups[rows], _PARTS, seed), max(1, round(share * _PARTS))
    far_apart = np.arange(n_test) * _PARTS // n_test  # because a class of few rows is in the first parts only
    is_test = np.isin(part, far_apart)
    if abs(is_test.mean() - share) > _NEARLY * share:  # a few large groups make parts of different sizes
        is_test = np.isin(part, _some_parts(codes, part, share))
    return rows[~is_test], rows[is_test]


def _some_parts(codes: Array, part: Array, share: float) -> list[int]:
    """Return the parts that come nearest to a share of each class, found one after another; at least one."""
    counts = np.zeros((int(part.max()) + 1, int(codes.max()) + 1))
    np.add.at(counts, (part, codes), 1)
    total = np.maximum(counts.sum(axis=0), 1)
    left, off = [k for k in range(len(counts)) if counts[k].any()], np.inf
    taken: list[int] = []
    while left:
        there = counts[taken].sum(axis=0)
        by_part = [float(((there + counts[k] - share * total) ** 2 / total).sum()) for k in left]
        if min(by_part) >= off:
            break
        off = min(by_part)
        taken.append(left.pop(int(np.argmin(by_part))))
    return taken


def _grouped(codes: Array, groups: Array, n_folds: int, seed: int) -> Array:
    return grouped_folds(codes, groups, n_folds, np.random.RandomState(seed).permutation(codes.size))


def _n_apart(codes: Array, groups: Array | None, n_classes: int) -> Array:
    """How many rows each class has, (C,); those of one group count once."""
    if groups is not None:
        codes = np.unique(np.column_stack([codes, groups]), axis=0)[:, 0]
    return np.bincount(codes, minlength=n_classes)


def _refuse_rare_class(
    target: Target, rows: Rows, groups: Array | None, least: int, what: str, settings: Settings
) -> None:
    """Refuse rows among which a class is rarer than it may be."""
    n_apart = _n_apart(target.codes[rows], None if groups is None else groups[rows], len(target.classes))
    if n_apart.min() >= least:
        return
    unit, remedy = "labeled rows", f"label more of them, or choose a smaller {option('holdout')}"
    if target.origin.unit == "image":  # whose groups are copies
        unit, remedy = "different images", f"label more, or use {option('holdout', 0)}"
    elif settings.group is not None:
        unit, remedy = "groups", f"label rows of more groups, or leave out {option('group')}"
    elif groups is not None:
        unit, remedy = "different rows", "label more of them"
    few = f"The class {target.classes[n_apart.argmin()]!r} is in too few {unit}"
    raise DataError(f"{few}: {'only one' if n_apart.min() else 'none'} is left to {what}; {remedy}.")


def compare(
    examples: Examples,
    target: Target,
    split: HoldOut,
    settings: Settings,
    folder: RunFolder,
    deadline: float = np.inf,
    observer: Observer | None = None,
) -> Comparison:
    """Validate every candidate in folds of the training part, then train it on all of that and score the held-out rows.

    A candidate that would not finish by the deadline is left out; the plain model, and the one to keep, never are.
    """
    observer = observer or Observer()
    comparison = Comparison(warnings=WarningLog(target.classes))
    folds = validation_folds(examples.codes, split, settings)
    parts = [*folds, (split.train, split.test)]
    usable = [c for c in CANDIDATES if split.unlabeled.size or not c.uses_unlabeled]
    comparison.skipped = {c.name: "there are no unlabeled rows" for c in CANDIDATES if c not in usable}
    _refuse_lost_model(settings.keep, comparison.skipped)
    total, done, seconds_per_fit = sum(c.n_fits for c in usable) * len(parts), 0, 0.0

    for candidate in usable:
        name, n_fits = candidate.name, candidate.n_fits * len(parts)
        is_cached = folder.is_cached(_part_name(name, len(folds), parts))
        if (
            name not in (PLAIN, settings.keep)
            and not is_cached
            and time.monotonic() + 2 * n_fits * seconds_per_fit > deadline
        ):
            comparison.skipped[name] = "the time limit"
            continue
        began, probabilities = time.perf_counter(), []
        for k, (fit, predict) in enumerate(parts):
            observer.message(f"comparing: {candidate.title}", FRACTION * done / total)
            train = partial(_fit_and_predict, candidate, examples, fit, predict, split, settings)
            part = folder.cached(_part_name(name, k, parts), train)
            probabilities.append(part["p"])
            comparison.warnings.add(candidate.title, part["warnings"].tolist())
            comparison.seconds[name] = float(part["seconds"])
            done += candidate.n_fits
        *comparison.of_folds[name], comparison.test[name] = probabilities
        if not is_cached:
            seconds_per_fit = (time.perf_counter() - began) / n_fits
    truths = _truths(examples, target, split, folds, settings, folder, alone=len(comparison.test) == 1)
    metrics = metrics_for(read_costs(settings.costs, target.classes))
    comparison.validate(truths, settings.metric, target.positive, metrics)
    comparison.gains = gains_over_usual(comparison, truths, settings, target.positive, metrics=metrics)
    comparison.chosen = choose(comparison.gains) if settings.keep is None else settings.keep
    return comparison


def _refuse_lost_model(keep: str | None, skipped: dict[str, str]) -> None:
    if keep in skipped:
        raise DataError(f"{option('keep', keep)} cannot be trained here: {skipped[keep]}.")


def _truths(
    examples: Examples,
    target: Target,
    split: HoldOut,
    folds: list[tuple[Rows, Rows]],
    settings: Settings,
    folder: RunFolder,
    alone: bool,
) -> list[Truth]:
    """Return what the rows of each fold may truly be; one candidate alone is scored by the labels as given."""
    n_classes = len(target.classes)
    if alone:
        return [Truth.given(examples.codes[validate], n_classes) for _, validate in folds]
    learn = partial(believed_truth, examples, split.train, n_classes, settings)
    with caught_warnings():  # those of the candidates, whose teachers are the same, are kept
        belief = folder.cached("beliefs", lambda: {"belief": learn()})["belief"]
    return [Truth(belief[np.searchsorted(split.train, validate)]) for _, validate in folds]


def _part_name(candidate: str, k: int, parts: list[tuple[Rows, Rows]]) -> str:
    return f"{candidate}-{'test' if k == len(parts) - 1 else k}"


def choose(gains: dict[str, Gain]) -> str:
    """Keep the usual model unless another is clearly better than it in validation: by two standard errors.

    Validation labels are dirty too, and few: of four models the best one there is often not the best. The usual one is
    the first of the gains.

    Examples
    --------
    >>> choose({"curated": Gain(0, 0), "plain": Gain(0.01, 0.01), "pseudo": Gain(-0.02, 0.01)})
    'curated'
    >>> choose({"curated": Gain(0, 0), "plain": Gain(0.04, 0.01), "pseudo": Gain(0.03, 0.01)})
    'plain'
    """
    usual = next(iter(gains))
    clear = {name: gain.value for name, gain in gains.items() if gain.value > _CLEAR * gain.error}
    return max(clear, key=lambda name: clear[name]) if clear else usual


def gains_over_usual(
    comparison: Comparison,
    truths: list[Truth],
    settings: Settings,
    positive: int,
    usual_ones: Sequence[str] = USUAL,
    metrics: Mapping[str, Metric] = METRICS,
) -> dict[str, Gain]:
    """How much better each model is in validation than the usual one, with its standard error."""
    usual = next(name for name in usual_ones if name in comparison.of_folds)
    names = [usual, *(name for name in comparison.of_folds if name != usual)]
    metric = metrics[settings.metric]
    computed = {
        name: [t.prepare(metric, p, positive) for t, p in zip(truths, comparison.of_folds[name], strict=True)]
        for name in names
    }
    draws = []  # (resamples, models): the mean over the folds
    rng = np.random.default_rng(settings.seed)
    for _ in range(_N_RESAMPLES):
        weights = [resample_weights(len(truth.belief), rng) for truth in truths]
        draws.append([np.mean([f(w) for f, w in zip(computed[name], weights, strict=True)]) for name in names])
    sign = 1 if metric.more_is_better else -1
    differences = sign * (np.array(draws) - np.array(draws)[:, :1])
    errors = np.nanstd(differences, axis=0)
    values = [metric.gain(comparison.validation[name], comparison.validation[usual]) for name in names]
    return {name: Gain(float(v), float(e)) for name, v, e in zip(names, values, errors, strict=True)}


def validation_folds(codes: Array, split: HoldOut, settings: Settings) -> list[tuple[Rows, Rows]]:
    """Return the rows to learn from and those to validate on, of each fold; refuse groups that are too few for that."""
    return _folds(codes[split.train], split.train, settings, split.groups)


def _folds(codes: Array, rows: Rows, settings: Settings, groups: Array | None = None) -> list[tuple[Rows, Rows]]:
    """Five folds for few rows, three for more, a single split for many."""
    if rows.size > _MANY:
        return [_parted(rows, codes, 0.2, settings.seed, groups)]
    n_folds = min(5 if rows.size < _FEW else 3, int(np.bincount(codes).min()))
    if groups is not None:
        return _grouped_folds(codes, rows, min(n_folds, np.unique(groups[rows]).size), settings, groups)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=settings.seed)
    return [(rows[fit], rows[validate]) for fit, validate in folds.split(rows, codes)]


def _grouped_folds(
    codes: Array, rows: Rows, n_folds: int, settings: Settings, groups: Array
) -> list[tuple[Rows, Rows]]:
    """Folds that leave groups whole, but for those without which a class could not be learned."""
    fold, classes = _grouped(codes, groups[rows], n_folds, settings.seed), np.unique(codes)
    learned = [k for k in range(n_folds) if np.unique(codes[fold != k]).size == classes.size]
    if not learned:
        n = counted(np.unique(groups[rows]).size, "group")
        raise DataError(
            f"Groups are too few to compare models: besides the rows held out, {n} with labels; label rows of more, or "
            f"leave out {option('group')}."
        )
    return [(rows[fold != k], rows[fold == k]) for k in learned]


def _fit_and_predict(
    candidate: Candidate, examples: Examples, fit: Rows, predict: Rows, split: HoldOut, settings: Settings
) -> dict[str, Any]:
    with caught_warnings() as messages:
        began = time.perf_counter()
        model = candidate.fit(examples, fit, split.unlabeled_apart_from(predict), settings)
        seconds = time.perf_counter() - began
        p = model.predict_proba(examples.X[predict]).astype(np.float64)
    return {"p": p, "warnings": np.array(messages, dtype=str), "seconds": np.array(seconds)}
