"""Wrong labels: spread evenly, by class, by row, near the border or by annotator."""

from __future__ import annotations

import torch
from torch import Tensor

from .._settings import PriorSettings
from ._classes import Classes
from ._draws import Draws, standardised

KINDS = ("even", "class", "row", "border", "annotator")
EVEN = 0.25  # share of tables that have even noise whatever the other draw says: the kind that is met most


def noise_rate(draws: Draws, tables: int, classes: int, settings: PriorSettings) -> Tensor:
    """The share of wrong labels each table aims at, (B, 1): zero in the clean ones."""
    top = settings.max_noise if classes == 2 else settings.max_noise_many
    rate = draws.uniform(tables, 1, high=top)
    return torch.where(draws.chance(tables, 1, p=settings.clean), torch.zeros_like(rate), rate)


def wrong_chance(draws: Draws, kind: Tensor, labels: Classes, rank: Tensor, classes: int) -> Tensor:
    """How much likelier than the mean each row's label is wrong, (B, L), by the table's kind of noise."""
    tables, rows, columns = rank.shape
    column = draws.integers(tables, 1, 1, high=columns).expand(-1, rows, -1)
    place = rank.gather(2, column).squeeze(-1)  # (B, L) ranks of one column
    hard = standardised((rank - 0.5) @ draws.normal(tables, columns, 1)).squeeze(-1)
    by_class = draws.shares(tables, classes).gather(1, labels.true)
    bad = place < draws.uniform(tables, 1, low=0.1, high=0.6)
    likelier = (
        torch.ones_like(place),
        by_class,
        torch.exp(draws.uniform(tables, 1, low=0.3, high=1.5) * hard),
        labels.doubt ** draws.uniform(tables, 1, low=1.0, high=5.0),
        torch.where(bad, 1.0, draws.uniform(tables, 1, high=0.3)),
    )
    out = likelier[0]
    for number in range(1, len(KINDS)):
        out = torch.where(kind == number, likelier[number], out)
    return out / out.mean(1, keepdim=True).clamp_min(1e-6)


def wrong_class(draws: Draws, kind: Tensor, labels: Classes, classes: int) -> Tensor:
    """The class that a wrong label would name, (B, L): any other, a usual confusion, or the neighbour's."""
    tables, rows = labels.true.shape
    confusion = draws.shares(tables, classes, classes)
    usual = confusion.gather(1, labels.true.unsqueeze(-1).expand(-1, -1, classes))
    weights = torch.where((kind == 1).unsqueeze(-1), usual, torch.ones_like(usual))
    other = draws.pick(weights.scatter(2, labels.true.unsqueeze(-1), 0.0))
    near = (kind == 3) & draws.chance(tables, rows, p=0.8)
    return torch.where(near, labels.runner_up, other)


def dirty(draws: Draws, labels: Classes, rank: Tensor, classes: int, settings: PriorSettings) -> tuple[Tensor, Tensor]:
    """Given labels of the labeled rows, (B, L), and the share of wrong ones that came out, (B,)."""
    tables, rows = labels.true.shape
    kind = draws.integers(tables, 1, high=len(KINDS)) * ~draws.chance(tables, 1, p=EVEN)
    rate = noise_rate(draws, tables, classes, settings)
    p = (rate * wrong_chance(draws, kind, labels, rank, classes)).clamp_max(0.9)
    given = torch.where(draws.chance(tables, rows, p=p), wrong_class(draws, kind, labels, classes), labels.true)
    return given, (given != labels.true).float().mean(1)
