"""What a review says so far: how many suspects are wrong, how many errors nobody suspects, how far people agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import beta

from dips._review.decisions import OPEN, Answer, Decisions
from dips._review.material import Material
from dips._review.queue import Queue

_LEVEL = 0.95
_PRIOR = 4.0  # wrong labels' worth of trust in p_wrong before anything was looked at
_AHEAD = 10
_ENOUGH_JUDGED_TWICE = 20  # rows, to know how often reviewers err


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


def share(k: int, n: int) -> Estimate | None:
    """A share with its exact (Clopper-Pearson) interval; None if nothing was looked at.

    Examples
    --------
    >>> share(0, 10)
    Estimate(value=0.0, low=0.0, high=0.308...)
    """
    if n == 0:
        return None
    tail = (1 - _LEVEL) / 2
    low = float(beta.ppf(tail, k, n - k + 1)) if k else 0.0
    high = float(beta.ppf(1 - tail, k + 1, n - k)) if k < n else 1.0
    return Estimate(k / n, low, high)


def total(k: int, n: int, population: int, besides: int = 0) -> Estimate | None:
    """How many there are in a population, from k found among n that were drawn from it at random, and some besides."""
    rate = share(k, n)
    if rate is None:
        return None
    known, left = k + besides, population - n  # those looked at are known
    return Estimate(known + rate.value * left, known + rate.low * left, known + rate.high * left)


def kappa(first: Sequence[Any], second: Sequence[Any]) -> Estimate | None:
    """Cohen's kappa of two reviewers' labels of the same rows: agreement beyond chance.

    The interval is from the large-sample variance. None where there is nothing to compare, or where both gave all rows
    one and the same label, so that chance alone would agree everywhere.

    Examples
    --------
    >>> round(kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"]).value, 2)
    0.5
    """
    n = len(first)
    if n == 0:
        return None
    labels = {label: k for k, label in enumerate(dict.fromkeys([*first, *second]))}
    if len(labels) == 1:
        return None
    counts = np.zeros((len(labels), len(labels)))
    for a, b in zip(first, second, strict=True):
        counts[labels[a], labels[b]] += 1
    p = counts / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    seen, by_chance = float(np.trace(p)), float(rows @ columns)
    value = (seen - by_chance) / (1 - by_chance)
    # Fleiss, Cohen and Everitt (1969), equation 13
    on = sum(p[i, i] * ((1 - by_chance) - (rows[i] + columns[i]) * (1 - seen)) ** 2 for i in range(len(labels)))
    off = (
        sum(p[i, j] * (columns[i] + rows[j]) ** 2 for i in range(len(labels)) for j in range(len(labels)) if i != j)
        * (1 - seen) ** 2
    )
    rest = (seen * by_chance - 2 * by_chance + seen) ** 2
    error = float(np.sqrt(max(on + off - rest, 0) / n)) / (1 - by_chance) ** 2
    return Estimate(value, max(-1.0, value - 1.96 * error), min(1.0, value + 1.96 * error))


def progress(material: Material, queue: Queue, decisions: Decisions, reviewer: str) -> dict[str, Any]:
    """What one reviewer has done, as plain data: counts, estimates, and what the next ten are worth."""
    answers = decisions.answers_of(reviewer)
    planned = {row: answers[row] for row in queue.rows if row in answers}
    checks = {row: a for row, a in planned.items() if row in queue.checks}
    openers = {row: a for row, a in planned.items() if row in queue.openers}
    suspects = {row: a for row, a in planned.items() if row not in checks and row not in openers}
    missed = total(_n_wrong(checks), len(checks), queue.n_unsuspected - len(openers), _n_wrong(openers))
    return {
        "looked": len(planned),
        "left": len(queue.rows) - len(planned),
        "wrong": _n_wrong(planned),
        "next": _next_ten(material, queue, decisions, reviewer, suspects),
        "suspects": {"looked": len(suspects), "wrong": _n_wrong(suspects), "n": queue.n_suspects},
        "checks": {"looked": len(checks), "wrong": _n_wrong(checks), "n": queue.n_unsuspected},
        "precision": _plain(share(_n_wrong(suspects), len(suspects))),
        "missed": _plain(missed),
        "truth": _against_truth(material, answers),
    }


def agreement(decisions: Decisions) -> list[dict[str, Any]]:
    """How far each pair of reviewers agrees, on the rows that both decided."""
    pairs = []
    for one, other in combinations(decisions.reviewers(), 2):
        first, second = decisions.answers_of(one), decisions.answers_of(other)
        both = [row for row in first if row in second]
        if both:
            labels = [first[row].label for row in both], [second[row].label for row in both]
            same = sum(a == b for a, b in zip(*labels, strict=True))
            beyond_chance = _plain(kappa(*labels))
            pairs.append({"reviewers": [one, other], "n": len(both), "same": same, "kappa": beyond_chance})
    return pairs


def reviewer_error(decisions: Decisions, n_classes: int) -> float | None:
    """How often what reviewers settled on is wrong, from the rows that two of them judged; None with too few of these.

    Two who err independently, each in a share e of the rows and evenly over the other classes, give different answers
    with probability 2e - e²C/(C - 1); that is solved for e. Where two agree, both must have made the same error.
    """
    answers = decisions.by_row()
    pairs = [pair for of_row in answers.values() for pair in combinations((a.label for a in of_row.values()), 2)]
    if len(pairs) < _ENOUGH_JUDGED_TWICE:
        return None
    differ, most = sum(a != b for a, b in pairs) / len(pairs), (n_classes - 1) / n_classes
    alone = most * (1 - max(1 - differ / most, 0) ** 0.5)
    same_error = alone**2 / (n_classes - 1)
    agreed = same_error / ((1 - alone) ** 2 + same_error)
    n_alone = [len(answers[row]) == 1 for row in decisions.settled()]
    return sum(alone if one else agreed for one in n_alone) / max(len(n_alone), 1)


def _next_ten(
    material: Material, queue: Queue, decisions: Decisions, reviewer: str, looked: dict[int, Answer]
) -> dict[str, Any]:
    """How many of the next suspects are wrong: what is believed of them, put right by what was found so far."""
    ahead = (r for r in queue.rows if r not in queue.checks and decisions.status(reviewer, r) == OPEN)
    rows = [row for row, _ in zip(ahead, range(_AHEAD), strict=False)]
    believed = _believed(material, rows)
    if np.isnan(believed).any():
        is_known = len(looked) >= _AHEAD  # one look would promise ten wrong labels, or none
        return {"n": len(rows), "worth": _n_wrong(looked) / len(looked) * len(rows) if is_known else None}
    expected = float(np.nansum(_believed(material, list(looked))))
    factor = (_n_wrong(looked) + _PRIOR) / (expected + _PRIOR)
    return {"n": len(rows), "worth": float(min(believed.sum() * factor, len(rows)))}


def _believed(material: Material, rows: list[int]) -> np.ndarray:
    return material.account["p_wrong"].to_numpy(dtype=float)[[material.position[row] for row in rows]]


def _n_wrong(answers: dict[int, Answer]) -> int:
    return sum(answer.is_wrong for answer in answers.values())


def _against_truth(material: Material, answers: dict[int, Answer]) -> dict[str, int] | None:
    """Where the truth is known: how many wrong labels there are, were found, and how many answers are right."""
    if material.truth is None:
        return None
    wrong = {row for row, label in material.truth.items() if row in material.given and material.given[row] != label}
    right = Counter(answer.label == material.truth[row] for row, answer in answers.items())
    n_found = sum(row in wrong and answer.is_wrong for row, answer in answers.items())
    return {"wrong": len(wrong), "found": n_found, "looked": len(answers), "right": right[True]}


def _plain(estimate: Estimate | None) -> dict[str, float] | None:
    return None if estimate is None else asdict(estimate)
