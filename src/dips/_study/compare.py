"""Comparing the candidates: validated on the training part, scored once on the part held out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from dips._files.target import Target
from dips._study.candidates import CANDIDATES, NETWORK, PLAIN, Candidate
from dips._study.examples import Examples
from dips._study.folder import RunFolder
from dips._study.metrics import METRICS, Metric, metrics_for, read_costs
from dips._study.settings import Settings
from dips._study.splits import HoldOut, validation_folds
from dips._study.truth import Truth, believed_truth
from dips._study.warning_log import WarningLog, caught_warnings
from dips._tools.arrays import Array, Rows
from dips._tools.observer import Observer
from dips._tools.resampling import resamples
from dips._tools.wording import option
from dips.exceptions import DataError

_USUAL = (NETWORK, "curated_pseudo", "curated", PLAIN)  # in this order; benchmarks/choosing.py has the figures
FRACTION = 0.8  # of a study's work is its comparison, about
_CLEAR = 2  # standard errors
_N_RESAMPLES = 200


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
    model : that candidate, trained on the training part; None where a study that was stopped had done so before
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
    model: Any = None
    warnings: WarningLog = field(default_factory=WarningLog)

    @property
    def usual(self) -> str:
        """The candidate to keep unless another is clearly better: the best of those trained, as a rule."""
        return next(name for name in _USUAL if name in self.of_folds)

    def validate(
        self, truths: list[Truth], metric: str, positive: int, metrics: Mapping[str, Metric] = METRICS
    ) -> None:
        """Score every candidate in every fold."""
        for name, of_folds in self.of_folds.items():
            pairs = zip(truths, of_folds, strict=True)
            self.folds[name] = [truth.score(metrics[metric], p, positive) for truth, p in pairs]
            self.validation[name] = float(np.mean(self.folds[name]))


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
    reasons = {c: c.why_not(examples, split.train, split.unlabeled) for c in CANDIDATES}
    usable = [c for c, why_not in reasons.items() if not why_not]
    comparison.skipped = {c.name: why_not for c, why_not in reasons.items() if why_not}
    _refuse_lost_model(settings.keep, comparison.skipped)
    total, done, seconds_per_fit = sum(c.n_fits for c in usable) * len(parts), 0, 0.0
    models = {}

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
            training = _Training(candidate, examples, fit, predict, split, settings)
            part = folder.cached(_part_name(name, k, parts), training.answers)
            probabilities.append(part["p"])
            comparison.warnings.add(candidate.title, part["warnings"].tolist())
            comparison.seconds[name] = float(part["seconds"])
            done += candidate.n_fits
        *comparison.of_folds[name], comparison.test[name] = probabilities
        models[name] = training.model  # of the last part
        if not is_cached:
            seconds_per_fit = (time.perf_counter() - began) / n_fits
    truths = _truths(examples, target, split, folds, settings, folder, alone=len(comparison.test) == 1)
    metrics = metrics_for(read_costs(settings.costs, target.classes))
    comparison.validate(truths, settings.metric, target.positive, metrics)
    comparison.gains = gains_over_usual(comparison, truths, settings, target.positive, metrics=metrics)
    comparison.chosen = choose(comparison.gains) if settings.keep is None else settings.keep
    comparison.model = models[comparison.chosen]
    return comparison


@dataclass
class _Training:
    """Some rows for a candidate to learn from, others to answer for, and once it has done so, the model."""

    candidate: Candidate
    examples: Examples
    fit: Rows
    predict: Rows
    split: HoldOut
    settings: Settings
    model: Any = None

    def answers(self) -> dict[str, Any]:
        """Train; return class probabilities, what the training warned of, and how long it took."""
        with caught_warnings() as messages:
            began, unlabeled = time.perf_counter(), self.split.unlabeled_apart_from(self.predict)
            self.model = self.candidate.fit(self.examples, self.fit, unlabeled, self.settings)
            seconds = time.perf_counter() - began
            p = self.model.predict_proba(self.examples.X[self.predict]).astype(np.float64)
        return {"p": p, "warnings": np.array(messages, dtype=str), "seconds": np.array(seconds)}


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
        return [Truth.given(examples.codes[rows], n_classes, examples.groups_at(rows)) for _, rows in folds]
    learn = partial(believed_truth, examples, split.train, n_classes, settings)
    with caught_warnings():  # those of the candidates, whose teachers are the same, are kept
        belief = folder.cached("beliefs", lambda: {"belief": learn()})["belief"]
    return [Truth(belief[np.searchsorted(split.train, rows)], examples.groups_at(rows)) for _, rows in folds]


def _part_name(candidate: str, k: int, parts: list[tuple[Rows, Rows]]) -> str:
    return f"{candidate}-{'test' if k == len(parts) - 1 else k}"


def choose(gains: dict[str, Gain]) -> str:
    """Keep the usual model unless another is clearly better than it in validation: by two standard errors.

    Validation labels are dirty too, and few: of several models the best one there is often not the best. The usual one
    is the first of the gains.

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
    usual: str | None = None,
    metrics: Mapping[str, Metric] = METRICS,
) -> dict[str, Gain]:
    """How much better each model is in validation than the usual one, with its standard error over rows, or groups."""
    usual = usual or comparison.usual
    names = [usual, *(name for name in comparison.of_folds if name != usual)]
    metric = metrics[settings.metric]
    computed = {
        name: [t.prepare(metric, p, positive) for t, p in zip(truths, comparison.of_folds[name], strict=True)]
        for name in names
    }
    draws = []  # (resamples, models): the mean over the folds
    rng = np.random.default_rng(settings.seed)
    for weights in zip(*(resamples(len(t.belief), rng, _N_RESAMPLES, t.groups) for t in truths), strict=True):
        draws.append([np.mean([f(w) for f, w in zip(computed[name], weights, strict=True)]) for name in names])
    differences = metric.sign * (np.array(draws) - np.array(draws)[:, :1])
    errors = np.nanstd(differences, axis=0)
    values = [metric.gain(comparison.validation[name], comparison.validation[usual]) for name in names]
    return {name: Gain(float(v), float(e)) for name, v, e in zip(names, values, errors, strict=True)}
