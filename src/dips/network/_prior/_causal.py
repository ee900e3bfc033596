"""Random sparse networks of causes: some nodes become columns, some the scores of the classes."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from dips.network._prior._draws import Draws, standardized, take_columns


def _bent(x: Tensor, kind: Tensor) -> Tensor:
    """Bend each node by the activation its table and place call for."""
    bends = (
        torch.tanh(x),
        torch.relu(x),
        torch.sin(2 * x),
        x.abs(),
        torch.sign(x),
        x.square() - 1,
        torch.exp(-x.square()) * 2,
        torch.floor(2 * x) / 2,
    )
    out = x
    for number, bend in enumerate(bends):
        out = torch.where(kind == number, bend, out)
    return out


def causal_nodes(draws: Draws, tables: int, rows: int, width: int, depth: int) -> Tensor:
    """All nodes of the networks, (B, N, depth × width), causes first; each table leans to its own activations."""
    kinds = 12  # eight bends and four chances of none
    favorite = draws.integers(tables, 1, high=kinds)
    loyal = draws.uniform(tables, 1)
    layer = draws.normal(tables, rows, width) + draws.normal(tables, 1, width)
    nodes = [standardized(layer)]
    for _ in range(depth - 1):
        keep = draws.chance(tables, width, width, p=draws.log_uniform(tables, 1, 1, low=min(0.6, 2 / width), high=0.9))
        weights = draws.normal(tables, width, width) * keep
        kind = torch.where(draws.chance(tables, width, p=loyal), favorite, draws.integers(tables, width, high=kinds))
        bent = standardized(_bent(standardized(nodes[-1] @ weights), kind.unsqueeze(1)))
        noise = draws.log_uniform(tables, 1, width, low=0.01, high=0.4)
        nodes.append(standardized(bent + noise * draws.normal(tables, rows, width)))
    return torch.cat(nodes, 2)


def causal(draws: Draws, tables: int, rows: int, columns: int, scores: int, depth: int = 4) -> tuple[Tensor, Tensor]:
    """Columns and scores from the same network, so that columns are causes, effects and kin of the label."""
    width = 2 + math.ceil(1.3 * (columns + scores) / depth)
    nodes = causal_nodes(draws, tables, rows, width, depth)
    total = nodes.shape[2]
    place = torch.arange(total, device=nodes.device) / total
    late = draws.uniform(tables, 1, low=-1.5, high=2.5)  # where on the way from causes to effects the label lies
    order = (draws.uniform(tables, total) - late * place).argsort(-1)  # the label's nodes first
    others = order[:, scores:].gather(1, draws.order(tables, total - scores)[:, :columns])
    return take_columns(nodes, others), take_columns(nodes, order[:, :scores])
