"""From scores to classes: the largest noisy score, or the interval that one score falls into."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from dips.network._prior._draws import Draws, ranks, standardized


@dataclass
class Classes:
    """The true class of each row, the class it could be taken for, and how near the border it lies (0 to 1).

    `chances` are those with which the true class was drawn: to learn from them instead of from the class that came
    out takes the luck of the draw out of the gradients.
    """

    true: Tensor  # (B, N)
    chances: Tensor  # (B, N, C)
    runner_up: Tensor  # (B, N)
    doubt: Tensor  # (B, N)


def by_score(draws: Draws, scores: Tensor, sharpness: tuple[float, float]) -> Classes:
    """The class of the largest score after noise, from crisp borders to wide overlaps, with uneven classes."""
    tables, rows, classes = scores.shape
    low, high = sharpness
    sharp = draws.log_uniform(tables, 1, 1, low=low, high=high)
    bias = draws.normal(tables, 1, classes) * draws.uniform(tables, 1, 1, high=1.2)
    logits = (standardized(scores) + bias) * sharp
    true = (logits + draws.gumbel(tables, rows, classes)).argmax(-1)
    own = logits.gather(2, true.unsqueeze(-1)).squeeze(-1)
    best, runner_up = logits.scatter(2, true.unsqueeze(-1), -torch.inf).max(-1)
    return Classes(true, logits.softmax(-1), runner_up, ranks(best - own))


def by_interval(draws: Draws, scores: Tensor, noises: tuple[float, float]) -> Classes:
    """The class of the interval of the first score: one interval a class in most tables, three in the others."""
    tables, rows, classes = scores.shape
    count = 3 * classes
    low, high = noises
    noise = draws.log_uniform(tables, 1, low=low, high=high)
    score = standardized(scores[..., 0])
    blurred = score + noise * draws.normal(tables, rows)
    rank = ranks(blurred)
    index = torch.arange(count, device=scores.device)
    single = draws.chance(tables, 1, p=0.7)
    shares = draws.shares(tables, count) * torch.where(single, index < classes, index >= 0)
    ends = (shares / shares.sum(-1, keepdim=True)).cumsum(-1)
    names = torch.where(
        single, functional.pad(draws.order(tables, classes), (0, count - classes)), draws.order(tables, count) % classes
    )
    place = torch.searchsorted(ends, rank).clamp_max(count - 1)
    true = names.gather(1, place)
    below = rank - torch.where(place > 0, ends.gather(1, (place - 1).clamp_min(0)), -torch.inf)
    above = ends.gather(1, place) - rank
    last = torch.where(single, classes - 1, count - 1)
    above = torch.where(place < last, above, torch.inf)
    neighbor = names.gather(1, torch.where(below < above, place - 1, place + 1).clamp(0, count - 1))
    runner_up = torch.where(neighbor == true, (true + 1) % classes, neighbor)
    chances = _interval_chances(score, noise, blurred, ends, names, classes)
    return Classes(true, chances, runner_up, ranks(-torch.minimum(below, above)))


def _interval_chances(
    score: Tensor, noise: Tensor, blurred: Tensor, ends: Tensor, names: Tensor, classes: int
) -> Tensor:
    """Chances (B, N, C) that a score falls into an interval of each class once normal noise has blurred it."""
    rows = blurred.shape[1]
    place = (ends * rows).long().clamp_max(rows - 1)
    cuts = blurred.sort(1).values.gather(1, place).masked_fill(ends > 1 - 1e-6, torch.inf)
    upto = torch.special.ndtr((cuts.unsqueeze(1) - score.unsqueeze(-1)) / noise.unsqueeze(-1))
    within = upto.diff(dim=-1, prepend=torch.zeros_like(upto[..., :1]))
    chances = score.new_zeros(*score.shape, classes)
    return chances.scatter_add_(2, names.unsqueeze(1).expand_as(within), within)


def certain(true: Tensor, classes: int) -> Tensor:
    """Chances of one for the class that came out."""
    return functional.one_hot(true, classes).float()


def either(choice: Tensor, one: Classes, other: Classes) -> Classes:
    """Take each table's classes from one or the other, by a (B, 1) mask."""
    return Classes(
        torch.where(choice, one.true, other.true),
        torch.where(choice.unsqueeze(-1), one.chances, other.chances),
        torch.where(choice, one.runner_up, other.runner_up),
        torch.where(choice, one.doubt, other.doubt),
    )
