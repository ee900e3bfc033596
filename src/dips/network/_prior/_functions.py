"""Smooth functions from a table's columns to the scores of its classes."""

from __future__ import annotations

import torch
from torch import Tensor

from dips.network._prior._draws import Draws, standardized, take_columns, take_rows


def linear(draws: Draws, x: Tensor, scores: int) -> Tensor:
    """Weighted sums of the columns."""
    return x @ draws.normal(x.shape[0], x.shape[2], scores)


def additive(draws: Draws, x: Tensor, scores: int, waves: int = 4) -> Tensor:
    """Sums of a wavy function of each column."""
    tables, _, columns = x.shape
    pace = draws.log_uniform(tables, 1, columns, waves, low=0.2, high=2.5)
    phase = draws.uniform(tables, 1, columns, waves, high=6.283)
    bent = torch.sin(x.unsqueeze(-1) * pace + phase).flatten(2)
    size = (draws.normal(tables, columns, waves, scores) / pace.squeeze(1).sqrt().unsqueeze(-1)).flatten(1, 2)
    return bent @ size


def waves(draws: Draws, x: Tensor, scores: int, count: int = 64) -> Tensor:
    """Smooth functions of all columns at once: a Gaussian process by random waves."""
    tables, _, columns = x.shape
    reach = draws.log_uniform(tables, 1, 1, low=0.25, high=2.0) / columns**0.5
    pace = draws.normal(tables, columns, count) * reach * draws.log_uniform(tables, columns, 1, low=0.2, high=2.0)
    return torch.sin(x @ pace + draws.uniform(tables, 1, count, high=6.283)) @ draws.normal(tables, count, scores)


def products(draws: Draws, x: Tensor, scores: int, terms: int = 6) -> Tensor:
    """Sums of products of two columns, of their signs in some tables: nothing shows in one column alone."""
    tables, _, columns = x.shape
    x = torch.where(draws.chance(tables, 1, 1, p=0.4), torch.sign(x), x.clamp(-3, 3))
    left = take_columns(x, draws.integers(tables, terms, high=columns))
    right = take_columns(x, draws.integers(tables, terms, high=columns))
    size = draws.normal(tables, terms, scores) * draws.uniform(tables, terms, 1).pow(3)
    return standardized(left * right) @ size + 0.3 * draws.uniform(tables, 1, 1) * linear(draws, x, scores)


def prototypes(draws: Draws, x: Tensor, scores: int, per_class: int = 3) -> Tensor:
    """The nearer the closest of a class's own example rows, the higher its score."""
    tables, rows, columns = x.shape
    centers = take_rows(x, draws.integers(tables, scores * per_class, high=rows))
    scale = draws.log_uniform(tables, 1, columns, low=0.3, high=2.0)
    distance = torch.cdist(x * scale, centers * scale) / columns**0.5
    return -distance.view(tables, rows, per_class, scores).amin(2)
