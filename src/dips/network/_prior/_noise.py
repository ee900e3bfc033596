"""Wrong labels: symmetric, by class, by row, near the border or by annotator."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor
from torch.nn import functional

from dips.network._prior._classes import Classes, certain
from dips.network._prior._draws import Draws, standardized
from dips.network._settings import PriorSettings

KINDS = ("symmetric", "class", "row", "border", "annotator")
SHARES = (0.36, 0.28, 0.12, 0.12, 0.12)  # of the kinds: symmetric noise is met most, errors by class hurt most
ONE_WAY = 0.5  # share of the tables with noise by class in which one class alone has wrong labels


def noise_rate(draws: Draws, tables: int, classes: int, settings: PriorSettings) -> Tensor:
    """The share of wrong labels each table aims at, (B, 1): zero in the clean ones."""
    top = settings.max_noise if classes == 2 else settings.max_noise_many
    rate = draws.uniform(tables, 1, high=top)
    return torch.where(draws.chance(tables, 1, p=settings.clean), torch.zeros_like(rate), rate)


def wrong_chance(draws: Draws, kind: Tensor, labels: Classes, rank: Tensor, classes: int) -> Tensor:
    """How much likelier than the mean a label is wrong, (B, L, C), by the table's kind of noise and the true class."""
    tables, rows, columns = rank.shape
    column = draws.integers(tables, 1, 1, high=columns).expand(-1, rows, -1)
    place = rank.gather(2, column).squeeze(-1)  # (B, L) ranks of one column
    hard = standardized((rank - 0.5) @ draws.normal(tables, columns, 1)).squeeze(-1)
    bad = place < draws.uniform(tables, 1, low=0.1, high=0.6)
    by_row = (
        torch.ones_like(place),
        torch.ones_like(place),
        torch.exp(draws.uniform(tables, 1, low=0.3, high=1.5) * hard),
        labels.doubt ** draws.uniform(tables, 1, low=1.0, high=5.0),
        torch.where(bad, 1.0, draws.uniform(tables, 1, high=0.3)),
    )
    out = by_row[0]
    for number in range(2, len(KINDS)):
        out = torch.where(kind == number, by_row[number], out)
    out = out.unsqueeze(-1) * _by_class(draws, kind, classes).unsqueeze(1)
    mean = out.gather(2, labels.true.unsqueeze(-1)).mean(1, keepdim=True)
    return out / mean.clamp_min(1e-6)


def _by_class(draws: Draws, kind: Tensor, classes: int) -> Tensor:
    """How often labels of each class are wrong, (B, C): alike, or, with noise by class, unevenly or in one only."""
    tables = len(kind)
    uneven = draws.shares(tables, classes)
    single = functional.one_hot(draws.integers(tables, high=classes), classes).to(uneven.dtype)
    uneven = torch.where(draws.chance(tables, 1, p=ONE_WAY), single, uneven)
    return torch.where(kind == KINDS.index("class"), uneven, torch.ones_like(uneven))


def confusions(draws: Draws, kind: Tensor, classes: int) -> Tensor:
    """What a wrong label of each true class names, (B, C, C): any other class, or its usual confusions."""
    tables = len(kind)
    usual = torch.where((kind == KINDS.index("class")).unsqueeze(-1), draws.shares(tables, classes, classes), 1.0)
    other = usual * (1 - torch.eye(classes, device=draws.device))
    return other / other.sum(-1, keepdim=True).clamp_min(1e-6)


@dataclass
class Dirt:
    """Given labels of the labeled rows, and what they tell."""

    given: Tensor  # (B, L)
    noise: Tensor  # (B,) share of wrong labels that came out
    chances: Tensor  # (B, L, C) of the true class for one who knows the scores, the noise and the given label


def dirty(draws: Draws, labels: Classes, rank: Tensor, classes: int, settings: PriorSettings) -> Dirt:
    """Make some labels wrong, by a kind of noise drawn for each table."""
    tables, rows = labels.true.shape
    drawn = draws.uniform(tables, 1)
    kind = sum(((drawn > end).long() for end in accumulate(SHARES[:-1])), torch.zeros_like(drawn, dtype=torch.long))
    rate = noise_rate(draws, tables, classes, settings)
    p = (rate.unsqueeze(-1) * wrong_chance(draws, kind, labels, rank, classes)).clamp_max(0.9)
    confusion = confusions(draws, kind, classes)
    own = labels.true.unsqueeze(-1)
    other = draws.pick(confusion.gather(1, own.expand(-1, -1, classes)))
    near = (kind == KINDS.index("border")) & draws.chance(tables, rows, p=0.8)
    other = torch.where(near, labels.runner_up, other)
    given = torch.where(draws.chance(tables, rows, p=p.gather(2, own).squeeze(-1)), other, labels.true)
    told = _told(labels.chances, given, p, confusion)
    told = torch.where((kind == KINDS.index("border")).unsqueeze(-1), certain(labels.true, classes), told)
    return Dirt(given, (given != labels.true).float().mean(1), told)


def _told(chances: Tensor, given: Tensor, p: Tensor, confusion: Tensor) -> Tensor:
    """Chances of the true class after the label was seen, by Bayes' rule."""
    classes = chances.shape[-1]
    named = certain(given, classes)
    # how likely each true class makes the given label: kept, or confused
    likely = named * (1 - p) + p * confusion.transpose(1, 2).gather(1, given.unsqueeze(-1).expand(-1, -1, classes))
    told = chances * likely
    return told / told.sum(-1, keepdim=True).clamp_min(1e-9)
