"""The network: cells and classes as tokens, attention along rows and along columns.

Every row holds one token for each group of columns and one for each class. A block lets the tokens of a row look at
each other, then each token at the context rows of its own column, then bends each by itself. Only context rows are
looked at, so that their part can be computed once and every other row asks it at a constant cost. Weights of all
blocks are kept in one tensor a kind, (layers, out, in), which the optimizer treats in a few launches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import ModuleType

import torch
from torch import Tensor, nn
from torch.nn import functional

from dips.network._cells import Cells
from dips.network._settings import NEVER, USUAL_CONTEXT, ModelSettings
from dips.network._weights import shapes

BLOCKS = ("row_qkv", "row_out", "column_qkv", "column_out", "bend_in", "bend_out")


def _norm(x: Tensor) -> Tensor:
    return functional.rms_norm(x, (x.shape[-1],))


def enter(x: Tensor, qkv: Tensor) -> Tensor:
    """Queries, keys and values of the tokens (M, width)."""
    return functional.linear(_norm(x), qkv)


def between(x: Tensor, attended: Tensor, out: Tensor, qkv: Tensor) -> tuple[Tensor, Tensor]:
    """Add what one attention found, and ask the next."""
    x = x + functional.linear(attended, out)
    return x, functional.linear(_norm(x), qkv)


def leave(x: Tensor, attended: Tensor, out: Tensor, bend_in: Tensor, bend_out: Tensor) -> Tensor:
    """Add what the last attention found, and bend each token by itself."""
    x = x + functional.linear(attended, out)
    return x + functional.linear(functional.linear(_norm(x), bend_in).relu().square(), bend_out)


def along_rows(qkv: Tensor, rows: int, tokens: int, heads: int, mask: Tensor | None) -> Tensor:
    """Attention among the tokens of a row; with a mask, several short rows lie side by side in one sequence."""
    length = tokens if mask is None else mask.shape[-1]
    q, k, v = qkv.view(rows * tokens // length, length, heads, 3, -1).unbind(3)
    q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(rows * tokens, -1)


def along_columns(qkv: Tensor, tables: int, rows: int, tokens: int, heads: int, context: int) -> Tensor:
    """Attention of every row to the context rows of the same column; columns count as heads, so nothing is copied."""
    q, k, v = qkv.view(tables, rows, tokens * heads, 3, -1).unbind(3)
    k, v = k[:, :context].transpose(1, 2), v[:, :context].transpose(1, 2)
    attended = functional.scaled_dot_product_attention(q.transpose(1, 2), k, v).transpose(1, 2)
    return attended.reshape(tables * rows * tokens, -1)


def same_row_mask(rows: int, tokens: int, most: int, dtype: torch.dtype, device: torch.device) -> Tensor | None:
    """Mask for as many rows side by side as divide the batch and fit into `most` tokens; None for a single one."""
    packed = max((g for g in (16, 8, 4, 2, 1) if rows % g == 0 and g * tokens <= most), default=1)
    if packed == 1:
        return None
    row = torch.arange(packed * tokens, device=device) // tokens
    mask = torch.zeros(len(row), len(row), dtype=dtype, device=device)
    return mask.masked_fill(row[:, None] != row[None], -torch.inf)


class Network(nn.Module):
    """Reads tables, answers two logits for each row and class: given no label, and given a doubtful one."""

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        width, layers, code = settings.width, settings.layers, settings.code_width
        self.settings = settings
        self.cell_in = nn.Linear(settings.columns_per_token * settings.cell_width, width)
        self.token_in = nn.Linear(code, width, bias=False)
        self.mark_in = nn.Linear(settings.mark_width, width)
        self.class_in = nn.Linear(code, width, bias=False)
        self.sharpen = nn.Parameter(torch.zeros(layers))
        for name in BLOCKS:
            scale = 0.0 if name.endswith("out") else width**-0.5
            setattr(self, name, nn.Parameter(scale * torch.randn(shapes(settings)[name])))
        self.answer = nn.Linear(width, 2)
        nn.init.normal_(self.answer.weight, std=0.02)
        self.pieces: tuple[Callable, ...] = (enter, between, leave)
        self.row_kernel: ModuleType | None = None

    def compile(self, backend: str = "inductor") -> None:
        """Fuse what lies between the attentions; only the number of tokens may vary."""
        pieces = (torch.compile(piece, backend=backend) for piece in (enter, between, leave))
        self.pieces = tuple(_with_varying_rows(piece) for piece in pieces)

    def use_row_kernel(self) -> None:
        """Take our own attention along rows, for training on a GPU; it needs Triton, which PyTorch brings for these."""
        from dips.network import _row_attention

        self.row_kernel = _row_attention

    def _blocks(self, dtype: torch.dtype, context: int) -> list[tuple[Tensor, ...]]:
        """Weights of each block in the working precision, attention sharpened by the size of the context."""
        layers, heads = self.settings.layers, self.settings.column_heads
        sharp = 1 + self.sharpen * math.log(context / USUAL_CONTEXT)
        factor = torch.stack([sharp, torch.ones_like(sharp), torch.ones_like(sharp)], 1).view(layers, 1, 3, 1, 1)
        weights = {name: getattr(self, name) for name in BLOCKS}
        column = weights["column_qkv"]
        weights["column_qkv"] = (column.view(layers, heads, 3, -1, column.shape[-1]) * factor).view_as(column)
        return list(zip(*(weights[name].to(dtype).unbind(0) for name in BLOCKS), strict=True))

    def _tokens(self, tables: Cells) -> Tensor:
        """The first state of all tokens, (B, N, T, width)."""
        dtype = tables.cells.dtype
        cells = _linear(self.cell_in, tables.cells) + _linear(self.token_in, tables.token_code).unsqueeze(1)
        classes = _linear(self.mark_in, tables.marks) + _linear(self.class_in, tables.class_code).unsqueeze(1)
        return torch.cat([cells, classes], 2).to(dtype)

    def _along_rows(self, rows: int, tokens: int, like: Tensor) -> Callable[[Tensor], Tensor]:
        """Attention along rows of so many tokens: our own where it is used and they are short, else the library's."""
        heads = self.settings.row_heads
        if self.row_kernel is not None and self.row_kernel.can_attend(tokens, self.settings.width // heads):
            return partial(self.row_kernel.attend, tokens=tokens, heads=heads)
        mask = same_row_mask(rows, tokens, self.settings.packed_tokens, like.dtype, like.device)
        return partial(along_rows, rows=rows, tokens=tokens, heads=heads, mask=mask)

    def forward(self, tables: Cells, context: int) -> Tensor:
        """Logits (B, N, C, 2) in single precision; the first `context` rows are looked at by all."""
        x = self._tokens(tables)
        batch, rows, tokens, width = x.shape
        x = x.view(-1, width)
        attend_in_row = self._along_rows(batch * rows, tokens, x)
        ask, ask_next, bend = self.pieces
        classes = tables.class_code.shape[1]
        for layer, weights in enumerate(self._blocks(x.dtype, context)):
            row_qkv, row_out, column_qkv, column_out, bend_in, bend_out = weights
            attended = attend_in_row(ask(x, row_qkv))
            if layer == self.settings.layers - 1:  # only the tokens of the classes are asked
                x, attended = (_last(part, tokens, classes) for part in (x, attended))
                tokens = classes
            x, qkv = ask_next(x, attended, row_out, column_qkv)
            attended = along_columns(qkv, batch, rows, tokens, self.settings.column_heads, context)
            x = bend(x, attended, column_out, bend_in, bend_out)
        answers = _linear(self.answer, _norm(x.view(batch, rows, classes, width))).float()
        return answers.masked_fill(~tables.present[:, None, :, None], NEVER)


def answers(logits: Tensor, labeled: int) -> Tensor:
    """Logits (B, N, C) that count: those given a doubtful label for the labeled rows, which come first."""
    return torch.cat([logits[:, :labeled, :, 1], logits[:, labeled:, :, 0]], 1)


def _last(x: Tensor, tokens: int, count: int) -> Tensor:
    """The last so many tokens of each row: (rows × tokens, width) to (rows × count, width)."""
    width = x.shape[-1]
    return x.view(-1, tokens, width)[:, -count:].reshape(-1, width)


def _linear(layer: nn.Linear, x: Tensor) -> Tensor:
    bias = None if layer.bias is None else layer.bias.to(x.dtype)
    return functional.linear(x, layer.weight.to(x.dtype), bias)


def _with_varying_rows(piece: Callable) -> Callable:
    def call(x: Tensor, *others: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        torch._dynamo.maybe_mark_dynamic(x, 0)
        if len(others) > 1:
            torch._dynamo.maybe_mark_dynamic(others[0], 0)  # what attention found
        return piece(x, *others)

    return call


def training_flops(settings: ModelSettings, tokens: int, row_tokens: int, context: int) -> float:
    """Floating-point operations of one training step: a forward pass, and twice that backward."""
    products = (16 + 4 * settings.expansion) * settings.width**2
    attention = 4 * (context + row_tokens) * settings.width
    return 3.0 * tokens * settings.layers * (products + attention)
