"""Hidden numbers behind the columns: independent, correlated, clustered, copied and shifted."""

from __future__ import annotations

import torch
from torch import Tensor

from dips.network._prior._draws import Draws, standardized

_N_SOURCES = 3  # at most, that rows of a table come from


def correlated(draws: Draws, tables: int, rows: int, columns: int) -> tuple[Tensor, Tensor]:
    """Columns (B, N, F) that share hidden causes (B, N, K), one or many, from not at all to nearly wholly.

    Their tails are normal to heavy.
    """
    factors = max(2, columns // 3)
    hidden = draws.normal(tables, rows, factors)
    fading = draws.uniform(tables, 1, low=0.2, high=1.2).clamp_max(1.0) ** torch.arange(factors, device=hidden.device)
    size = fading / fading.norm(dim=1, keepdim=True)
    shared = hidden @ (draws.normal(tables, factors, columns) * size.unsqueeze(-1))
    own = draws.normal(tables, rows, columns)
    share = draws.uniform(tables, 1, columns) * draws.uniform(tables, 1, 1)
    mixed = share.sqrt() * shared + (1 - share).sqrt() * own
    tail = 1 + 2 * draws.uniform(tables, 1, 1).pow(4)
    return mixed.sign() * mixed.abs() ** tail, hidden * size.unsqueeze(1)


def clustered(draws: Draws, tables: int, rows: int, columns: int, clusters: int) -> tuple[Tensor, Tensor]:
    """Rows around uneven clusters of differing width, and each row's cluster: unlabeled rows show where they lie."""
    weights = draws.shares(tables, clusters)
    cluster = draws.pick(weights.unsqueeze(1).expand(-1, rows, -1))  # (B, N)
    centers = draws.normal(tables, clusters, columns) * draws.chance(
        tables, 1, columns, p=draws.uniform(tables, 1, 1, low=0.3, high=1.2)
    )
    widths = draws.log_uniform(tables, 1, 1, low=0.12, high=0.9) * draws.log_uniform(
        tables, clusters, columns, low=0.5, high=2.0
    )
    index = cluster.unsqueeze(-1).expand(-1, -1, columns)
    return centers.gather(1, index) + widths.gather(1, index) * draws.normal(tables, rows, columns), cluster


def with_copies(draws: Draws, latent: Tensor) -> Tensor:
    """Some columns of some tables become noisy copies of others."""
    tables, rows, columns = latent.shape
    own = torch.arange(columns, device=latent.device).expand(tables, -1)
    copied = draws.chance(tables, columns, p=0.25) & draws.chance(tables, 1, p=0.3)
    source = torch.where(copied, draws.integers(tables, columns, high=columns), own)
    blur = draws.uniform(tables, 1, columns).square() * copied.unsqueeze(1)
    copy = standardized(latent).gather(2, source.unsqueeze(1).expand(-1, rows, -1))
    return copy + blur * draws.normal(tables, rows, columns)


def sources(draws: Draws, tables: int, rows: int) -> Tensor:
    """The source that each row comes from, (B, N); most tables have a single one."""
    weights = draws.shares(tables, _N_SOURCES)
    single = ~draws.chance(tables, 1, p=0.25)
    weights = torch.where(single, torch.eye(_N_SOURCES, device=draws.device)[0], weights)
    return draws.pick(weights.unsqueeze(1).expand(-1, rows, -1))


def shifted(draws: Draws, latent: Tensor, source: Tensor) -> Tensor:
    """Move and stretch some columns by the row's source."""
    tables, _, columns = latent.shape
    touched = draws.chance(tables, 1, columns, p=0.4)
    move = draws.normal(tables, _N_SOURCES, columns) * touched
    stretch = (0.4 * draws.normal(tables, _N_SOURCES, columns) * touched).exp()
    index = source.unsqueeze(-1).expand_as(latent)
    return latent * stretch.gather(1, index) + move.gather(1, index)
