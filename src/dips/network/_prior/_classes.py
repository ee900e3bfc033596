"""From scores to classes: the largest noisy score, or the interval that one score falls into."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from ._draws import Draws, ranks, standardised


@dataclass
class Classes:
    """The true class of each row, the class it could be taken for, and how near the border it lies (0 to 1)."""

    true: Tensor  # (B, N)
    runner_up: Tensor  # (B, N)
    doubt: Tensor  # (B, N)


def by_score(draws: Draws, scores: Tensor) -> Classes:
    """The class of the largest score after noise, from crisp borders to wide overlaps, with uneven classes."""
    tables, rows, classes = scores.shape
    sharp = draws.log_uniform(tables, 1, 1, low=2.5, high=60.0)
    bias = draws.normal(tables, 1, classes) * draws.uniform(tables, 1, 1, high=1.2)
    logits = (standardised(scores) + bias) * sharp
    true = (logits + draws.gumbel(tables, rows, classes)).argmax(-1)
    own = logits.gather(2, true.unsqueeze(-1)).squeeze(-1)
    best, runner_up = logits.scatter(2, true.unsqueeze(-1), -torch.inf).max(-1)
    return Classes(true, runner_up, ranks(best - own))


def by_interval(draws: Draws, scores: Tensor) -> Classes:
    """The class of the interval of the first score: one interval a class in most tables, three in the others."""
    tables, rows, classes = scores.shape
    count = 3 * classes
    noise = draws.log_uniform(tables, 1, low=0.02, high=0.8)
    rank = ranks(standardised(scores[..., 0]) + noise * draws.normal(tables, rows))
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
    neighbour = names.gather(1, torch.where(below < above, place - 1, place + 1).clamp(0, count - 1))
    runner_up = torch.where(neighbour == true, (true + 1) % classes, neighbour)
    return Classes(true, runner_up, ranks(-torch.minimum(below, above)))


def either(choice: Tensor, one: Classes, other: Classes) -> Classes:
    """Take each table's classes from one or the other, by a (B, 1) mask."""
    return Classes(
        torch.where(choice, one.true, other.true),
        torch.where(choice, one.runner_up, other.runner_up),
        torch.where(choice, one.doubt, other.doubt),
    )
