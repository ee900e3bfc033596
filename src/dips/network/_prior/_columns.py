"""How hidden numbers show in a table: categories, skewed, counted and rounded columns, missing cells."""

from __future__ import annotations

import torch
from torch import Tensor

from dips.network._prior._draws import Draws


def categorical_columns(draws: Draws, tables: int, columns: int) -> Tensor:
    """Which columns are categories, (B, F): none in a third of the tables, all in a fifth."""
    kind = draws.uniform(tables, 1)
    share = torch.where(kind < 0.35, torch.zeros_like(kind), draws.uniform(tables, 1, high=0.8))
    return draws.chance(tables, columns, p=torch.where(kind > 0.8, torch.ones_like(kind), share))


def relevant_columns(draws: Draws, tables: int, columns: int, dense: float) -> Tensor:
    """How much each column matters, (B, F): nothing for many and something for one at least, or all alike."""
    kept = draws.chance(tables, columns, p=draws.uniform(tables, 1, low=0.1, high=1.1))
    kept |= torch.arange(columns, device=draws.device) == draws.integers(tables, 1, high=columns)
    amount = kept * draws.uniform(tables, columns, low=0.1)
    return torch.where(draws.chance(tables, 1, p=dense), torch.ones_like(amount), amount)


def levels(draws: Draws, rank: Tensor, most: int) -> Tensor:
    """Cut ranks into two to `most` uneven levels a column and name the levels in a random order, (B, N, F).

    In a third of the columns the lowest level is the most frequent one and every further level is rarer, as with
    answers from "never" to "daily".
    """
    tables, _, columns = rank.shape
    many = draws.log_uniform(tables, columns, 1, low=2.0, high=most + 0.99).floor()
    shares = draws.shares(tables, columns, most) * (torch.arange(most, device=rank.device) < many)
    shares = torch.where(draws.chance(tables, columns, 1, p=0.35), shares.sort(-1, descending=True).values, shares)
    ends = (shares / shares.sum(-1, keepdim=True)).cumsum(-1)
    level = torch.searchsorted(ends, rank.transpose(1, 2).contiguous()).clamp_max(most - 1)
    return draws.order(tables, columns, most).gather(2, level).transpose(1, 2).contiguous()


def effects(draws: Draws, level: Tensor, most: int) -> Tensor:
    """A random number for each level of each column: what a category means to the functions."""
    tables, _, columns = level.shape
    return draws.normal(tables, columns, most).gather(2, level.transpose(1, 2)).transpose(1, 2)


def warped(draws: Draws, z: Tensor, rank: Tensor) -> Tensor:
    """Numbers as tables show them: plain, skewed, heavy-tailed, even, many zeros, counts, rounded, two-valued."""
    tables, _, columns = z.shape
    shape = (tables, 1, columns)
    z = z.clamp(-5, 5)
    kind = draws.integers(*shape, high=10)
    strength = draws.uniform(*shape, low=0.3, high=1.5)
    floor = draws.uniform(*shape, low=0.2, high=0.9)
    grain = draws.log_uniform(*shape, low=0.7, high=8.0)
    shown = (
        torch.exp(strength * z),
        z.sign() * z.abs() ** (1 + strength),
        rank,
        torch.where(rank > floor, torch.exp(strength * z), torch.zeros_like(z)),
        torch.floor(torch.exp(strength * z + 2 * strength - 0.5)),
        torch.round(z * grain),
        (rank > floor).to(z.dtype),
    )
    out = z  # the kinds left over stay plain
    for number, form in enumerate(shown):
        out = torch.where(kind == number, form, out)
    return torch.where(draws.chance(*shape, p=0.5), out, -out)


def missing(draws: Draws, rank: Tensor, true: Tensor, classes: int, telling: Tensor) -> Tensor:
    """Which cells are missing, (B, N, F): by chance, by the value, or, in telling tables (B, 1), by the class.

    In half of the tables columns go missing together, as answers do where a whole part of a form was left out.
    """
    tables, rows, columns = rank.shape
    touched = draws.chance(tables, 1, columns, p=draws.uniform(tables, 1, 1)) & draws.chance(tables, 1, 1, p=0.4)
    base = draws.uniform(tables, 1, columns, low=-4.0, high=0.3)
    by_value = 4 * draws.normal(tables, 1, columns) * draws.chance(tables, 1, columns, p=0.3)
    hints = draws.normal(tables, classes, columns) * telling.unsqueeze(-1)
    by_class = hints.gather(1, true.unsqueeze(-1).expand(-1, -1, columns))
    p = torch.sigmoid(base + by_value * (rank - 0.5) + by_class)
    return (_luck(draws, tables, rows, columns) < p) & touched


def _luck(draws: Draws, tables: int, rows: int, columns: int, groups: int = 3) -> Tensor:
    """What p must exceed for a cell to go, (B, N, F): each cell's own, or in half of the tables a group of columns'."""
    group = draws.integers(tables, 1, columns, high=groups)
    shared = draws.uniform(tables, rows, groups).gather(2, group.expand(-1, rows, -1))
    return torch.where(draws.chance(tables, 1, 1, p=0.5), shared, draws.uniform(tables, rows, columns))
