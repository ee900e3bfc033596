"""Tables as the network reads them: each cell a handful of numbers, each class a column of marks."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor
from torch.nn import functional

from dips.network._hints import fit_hints
from dips.network._prior._draws import Draws
from dips.network._settings import ModelSettings


@dataclass
class Cells:
    """A batch of tables, ready for the network."""

    cells: Tensor  # (B, N, tokens, columns of a token × numbers of a cell)
    token_code: Tensor  # (B, tokens, code) random names of the tokens
    marks: Tensor  # (B, N, C, marks) is the row labeled; with this class; hints
    class_code: Tensor  # (B, C, code) random names of the classes
    present: Tensor  # (B, C) does any label name this class

    def __getitem__(self, which: slice) -> Cells:
        return Cells(*(getattr(self, field.name)[which] for field in fields(self)))

    def to(self, dtype: torch.dtype) -> Cells:
        """The same with numbers of another type."""
        parts = (getattr(self, field.name) for field in fields(self))
        return Cells(*(part if part.dtype == torch.bool else part.to(dtype) for part in parts))


def encode(
    values: Tensor,
    categorical: Tensor,
    given: Tensor,
    classes: int,
    context: int,
    levels: int,
    draws: Draws,
    settings: ModelSettings,
) -> Cells:
    """Describe tables (B, N, F) whose first rows carry the labels `given`; statistics come from the context rows."""
    tables, rows, columns = values.shape
    described = torch.cat(
        [
            _numbers(values, categorical, context, settings.waves),
            _level_codes(values, categorical, levels, settings.code_width, draws),
        ],
        -1,
    )
    marks, present = _marks(given, rows, classes)
    if settings.hints:
        marks = torch.cat([marks, _hints(described, given, classes, settings)], -1)
    group = settings.columns_per_token
    tokens = settings.tokens_of(columns)
    described = functional.pad(described, (0, 0, 0, tokens * group - columns))
    return Cells(
        described.reshape(tables, rows, tokens, -1),
        draws.normal(tables, tokens, settings.code_width),
        marks,
        _class_codes(tables, classes, settings.code_width, draws),
        present,
    )


def _numbers(values: Tensor, categorical: Tensor, context: int, waves: tuple[int, ...]) -> Tensor:
    """Standardized value, rank, waves of the rank, frequency, and the flags missing and categorical."""
    absent = values.isnan()
    seen = ~absent[:, :context]
    count = seen.sum(1, keepdim=True).clamp_min(1)  # (B, 1, F)
    known = values[:, :context].nan_to_num(0.0)
    mean = known.sum(1, keepdim=True) / count
    spread = ((known - mean).square() * seen).sum(1, keepdim=True).div(count).sqrt().clamp_min(1e-6)
    below, upto = _places(values, context)
    rank = (below + upto) / (2 * count)
    plain = ~(absent | categorical.unsqueeze(1))
    angles = [rank * (math.pi * wave) for wave in waves]
    ordered = [
        torch.asinh((values.nan_to_num(0.0) - mean) / spread),
        2 * rank - 1,
        *(torch.sin(a) for a in angles),
        *(torch.cos(a) for a in angles),
    ]
    frequency = (upto - below) / count * ~absent
    flags = [absent.to(rank.dtype), categorical.unsqueeze(1).expand_as(absent).to(rank.dtype)]
    return torch.stack([*(number * plain for number in ordered), frequency, *flags], -1)


def _places(values: Tensor, context: int) -> tuple[Tensor, Tensor]:
    """How many context values of the column are smaller, and how many smaller or equal, (B, N, F) each."""
    columns = values.transpose(1, 2).nan_to_num(torch.inf).contiguous()
    known = columns[:, :, :context].sort(-1).values
    below = torch.searchsorted(known, columns)
    upto = torch.searchsorted(known, columns, right=True)
    return below.transpose(1, 2).to(values.dtype), upto.transpose(1, 2).to(values.dtype)


def _level_codes(values: Tensor, categorical: Tensor, levels: int, width: int, draws: Draws) -> Tensor:
    """The random vector of each categorical cell's level, drawn anew for every table and column."""
    tables, _, columns = values.shape
    codes = draws.normal(tables, columns, levels, width)
    level = values.nan_to_num(0.0).clamp(0, levels - 1).long().transpose(1, 2).unsqueeze(-1)
    picked = codes.gather(2, level.expand(-1, -1, -1, width)).transpose(1, 2)
    return picked * (categorical.unsqueeze(1) & ~values.isnan()).unsqueeze(-1)


def _marks(given: Tensor, rows: int, classes: int) -> tuple[Tensor, Tensor]:
    """Marks of the class tokens, and the classes that the labels name."""
    named = functional.one_hot(given, classes).float()
    marks = torch.stack([torch.ones_like(named), named], -1)
    return functional.pad(marks, (0, 0, 0, 0, 0, rows - given.shape[1])), named.amax(1) > 0


@torch.no_grad()
def _hints(described: Tensor, given: Tensor, classes: int, settings: ModelSettings) -> Tensor:
    """Hints (B, N, C, hints) for all rows, from those that are labeled."""
    labeled = given.shape[1]
    hints = fit_hints(torch, described[:, :labeled], functional.one_hot(given, classes).to(described.dtype), settings)
    return torch.cat([hints.of_labeled(), hints.of_others(described[:, labeled:])], 1)


def _class_codes(tables: int, classes: int, width: int, draws: Draws) -> Tensor:
    """Names of the classes at right angles: random rows of a Hadamard matrix with random signs."""
    matrix = torch.ones(1, 1, device=draws.device)
    while len(matrix) < width:
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    signs = draws.integers(tables, 1, width, high=2) * 2 - 1
    return matrix[draws.order(tables, width)[:, :classes]] * signs
