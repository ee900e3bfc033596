"""Sums of random oblivious trees: each level of a tree asks one question of all its rows."""

from __future__ import annotations

import torch
from torch import Tensor

from dips.network._prior._draws import Draws, take_columns


def trees(draws: Draws, x: Tensor, scores: int, count: int = 16, depth: int = 4) -> Tensor:
    """Scores of trees that split at values seen in the table; some tables are one tree, some a forest."""
    tables, rows, columns = x.shape
    asked = draws.integers(tables, count * depth, high=columns)
    answers = take_columns(x, asked)  # (B, N, count × depth)
    cut = answers.gather(1, draws.integers(tables, 1, count * depth, high=rows))
    dull = draws.chance(tables, 1, count * depth, p=draws.uniform(tables, 1, 1, high=0.5))  # a question not asked
    bits = ((answers > cut) & ~dull).view(tables, rows, count, depth)
    leaf = (bits * 2 ** torch.arange(depth, device=x.device)).sum(-1)  # (B, N, count)
    leaf = leaf + torch.arange(count, device=x.device) * 2**depth
    fading = draws.uniform(tables, 1, low=0.1).pow(2) ** torch.arange(count, device=x.device)  # (B, count)
    values = draws.normal(tables, count, 2**depth, scores) * fading[:, :, None, None]
    values = values.flatten(1, 2)  # (B, count × leaves, S)
    picked = values.gather(1, leaf.flatten(1).unsqueeze(-1).expand(-1, -1, scores))
    return picked.view(tables, rows, count, scores).sum(2)
