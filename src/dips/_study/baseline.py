"""What the most frequent answer alone would score; a model has to be measured against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dips._files.target import Target
from dips._study.metrics import METRICS, Metric
from dips._tools.arrays import Array
from dips._tools.wording import count_of, option

_ONE_SIDED = 0.9  # of the labels; there accuracy hardly tells models apart
_NEAR_CHANCE = 0.01


def majority(target: Target) -> dict[str, Any]:
    """Return the most frequent label and its share of the labels."""
    counts = target.counts
    return {"label": target.classes[int(counts.argmax())], "share": float(counts.max() / counts.sum())}


def baseline_scores(
    train: Array,
    test: Array,
    target: Target,
    metrics: Mapping[str, Metric] = METRICS,
    costs: Array | None = None,
) -> dict[str, Any]:
    """Scores on the test labels of always answering as frequently as the classes are in training.

    The label is the most frequent one, or where costs decide, the one that costs least if it is always answered.
    """
    counts = np.bincount(train, minlength=len(target.classes))
    p = np.tile(counts / counts.sum(), (test.size, 1))
    scores = {name: metric.score(test, p, target.positive) for name, metric in metrics.items()}
    always = int((counts if costs is None else counts * costs).argmax())
    return {"label": target.classes[always], **scores}


def imbalance_notes(target: Target, metric: str) -> list[str]:
    """Suggest another metric where nearly all labels are the same."""
    most = majority(target)
    if most["share"] < _ONE_SIDED or metric != "accuracy":
        return []
    counts = target.counts
    rare = ", ".join(count_of(repr(c), n) for c, n in zip(target.classes, counts, strict=True) if n != counts.max())
    return [
        f"{100 * most['share']:.1f} % of the labels are {most['label']!r} ({rare} rows): always answering that is as "
        f"accurate, so accuracy says little here. Decide by {' and '.join(better_options(target))}."
    ]


def better_options(target: Target) -> list[str]:
    """Return the options by which models are told apart where one class is rare."""
    if len(target.classes) > 2:
        return [option("metric", "balanced_accuracy")]
    rare = int(target.counts.argmin())
    about_it = [] if rare == target.positive else [option("positive", str(target.classes[rare]))]
    return [option("metric", "average_precision"), *about_it]


def chance_warnings(scores: dict[str, dict[str, Any]], target: Target, costs_decide: bool = False) -> list[str]:
    """Warn where the kept model tells the classes apart no better than a guess."""
    score, chance = scores["balanced_accuracy"]["value"], 1 / len(target.classes)
    if score > chance + _NEAR_CHANCE:
        return []
    auc = scores["roc_auc"]
    say = _told_by_costs if costs_decide else _told_by_probability
    compared = (
        f"its balanced accuracy on the held-out rows is {100 * score:.1f} %, that of a guess {100 * chance:.1f} %"
    )
    return [say(compared, f"ROC AUC {auc['value']:.2f}, {auc['low']:.2f} to {auc['high']:.2f}", auc["low"] > 0.5)]


def _told_by_probability(compared: str, auc: str, ranks: bool) -> str:
    if not ranks:
        return f"The kept model does not tell the classes apart: {compared}. Do not use it."
    return (
        f"The kept model's answers do not tell the classes apart: {compared}. Its probabilities do, better than chance "
        f"({auc}): use them, with a threshold that you choose."
    )


def _told_by_costs(compared: str, auc: str, ranks: bool) -> str:
    """Where one class is dear enough, to answer it always is right; probabilities say what the model is worth."""
    answers = f"With the given costs, the kept model's answers do not tell the classes apart: {compared}."
    if not ranks:
        return f"{answers} Its probabilities are not clearly better than chance either ({auc}). Do not use it."
    return (
        f"{answers} Its probabilities do, better than chance ({auc}), but one kind of error costs so much that they "
        f"hardly ever change the answer: check that {option('costs')} says what you mean."
    )
