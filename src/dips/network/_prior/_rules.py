"""Rules over categories: a score for each level, and for each pair of levels of two columns."""

from __future__ import annotations

from torch import Tensor

from dips.network._prior._draws import Draws, take_columns


def rules(draws: Draws, level: Tensor, scores: int, levels: int, terms: int = 6) -> Tensor:
    """Sums of tables of random scores, looked up by one level or by a pair of them (levels beyond a few share)."""
    tables, rows, columns = level.shape
    left = take_columns(level, draws.integers(tables, terms, high=columns))
    right = take_columns(level, draws.integers(tables, terms, high=columns))
    few = min(levels, 8)
    right = (right % few) * draws.chance(tables, 1, terms, p=draws.uniform(tables, 1, 1))  # else a single column's rule
    entry = left * few + right
    size = draws.uniform(tables, terms, 1, 1).pow(2)
    values = (draws.normal(tables, terms, levels * few, scores) * size).flatten(1, 2)
    out = values.new_zeros(tables, rows, scores)
    for term in range(terms):
        index = (entry[:, :, term] + term * levels * few).unsqueeze(-1).expand(-1, -1, scores)
        out = out + values.gather(1, index)
    return out
