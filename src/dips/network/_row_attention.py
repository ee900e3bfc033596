"""Attention among the tokens of short rows on a GPU, where libraries are slow.

Their kernels are made for long sequences; rows of 5 to 40 tokens fill little of their tiles. Here as many whole rows as
fit lie side by side in a block, which is read once and written once. A head's queries, keys and values lie next to each
other, and so do their gradients, so nothing is copied. Nothing is planned anew for rows of another length.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

MOST_TOKENS = 128  # of a row: a block holds one at the least
LEAST_HEAD = 16  # numbers; what a tile of the hardware needs
SMALL_BLOCK = 64


def can_attend(tokens: int, head: int) -> bool:
    """Whether rows of so many tokens and heads of so many numbers are served."""
    return tokens <= MOST_TOKENS and head >= LEAST_HEAD and head.bit_count() == 1


def attend(qkv: Tensor, tokens: int, heads: int) -> Tensor:
    """Attention (M, width) from queries, keys and values (M, 3 × width) by head, among every so many tokens."""
    return _Attention.apply(qkv, tokens, heads)


class _Attention(torch.autograd.Function):
    """The two kernels, for PyTorch."""

    @staticmethod
    def forward(ctx: Any, qkv: Tensor, tokens: int, heads: int) -> Tensor:
        qkv = qkv.contiguous()
        ctx.save_for_backward(qkv)
        ctx.sizes = tokens, heads
        out = qkv.new_empty(len(qkv), qkv.shape[1] // 3)
        _launch(_forward, qkv, tokens, heads, out)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (qkv,) = ctx.saved_tensors
        out = torch.empty_like(qkv)
        _launch(_backward, qkv, *ctx.sizes, out, gradients[0].contiguous())
        return out, None, None


def _launch(kernel: Any, qkv: Tensor, tokens: int, heads: int, *others: Tensor) -> None:
    """Run a kernel for every block of rows and every head."""
    head = qkv.shape[1] // (3 * heads)
    block = SMALL_BLOCK if tokens <= SMALL_BLOCK else MOST_TOKENS
    blocks = triton.cdiv(len(qkv), block // tokens * tokens)
    kernel[(blocks, heads)](qkv, *others, len(qkv), tokens, head**-0.5, heads, head, block)


@triton.jit
def _forward(qkv, out, n, tokens, scale, HEADS: tl.constexpr, HEAD: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    token, there, same_row = _rows(n, tokens, BLOCK)
    q, k, v = _queries_keys_values(qkv, token, there, HEADS, HEAD)
    found = tl.dot(_weights(q, k, same_row, scale).to(v.dtype), v)
    tl.store(out + _places(token, 0, 1, HEADS, HEAD), found.to(v.dtype), there)


@triton.jit
def _backward(qkv, out, above, n, tokens, scale, HEADS: tl.constexpr, HEAD: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    token, there, same_row = _rows(n, tokens, BLOCK)
    q, k, v = _queries_keys_values(qkv, token, there, HEADS, HEAD)
    of_found = tl.load(above + _places(token, 0, 1, HEADS, HEAD), there, 0.0)
    weights = _weights(q, k, same_row, scale)
    of_weights = tl.dot(of_found, tl.trans(v))
    of_scores = weights * (of_weights - tl.sum(weights * of_weights, 1)[:, None]) * scale
    of_scores = of_scores.to(q.dtype)
    tl.store(out + _places(token, 0, 3, HEADS, HEAD), tl.dot(of_scores, k).to(q.dtype), there)
    tl.store(out + _places(token, 1, 3, HEADS, HEAD), tl.dot(tl.trans(of_scores), q).to(q.dtype), there)
    of_values = tl.dot(tl.trans(weights.to(of_found.dtype)), of_found)
    tl.store(out + _places(token, 2, 3, HEADS, HEAD), of_values.to(q.dtype), there)


@triton.jit
def _rows(n, tokens, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Numbers of a block's tokens, which of them there are (BLOCK, 1), and which pairs are of one row."""
    place = tl.arange(0, BLOCK)
    length = BLOCK // tokens * tokens  # of the rows that fit; what is left over belongs to rows of its own
    token = tl.program_id(0).to(tl.int64) * length + place
    row = place // tokens
    return token, ((place < length) & (token < n))[:, None], row[:, None] == row[None]


@triton.jit
def _queries_keys_values(qkv, token, there, HEADS: tl.constexpr, HEAD: tl.constexpr):  # type: ignore[no-untyped-def]
    q = tl.load(qkv + _places(token, 0, 3, HEADS, HEAD), there, 0.0)
    k = tl.load(qkv + _places(token, 1, 3, HEADS, HEAD), there, 0.0)
    v = tl.load(qkv + _places(token, 2, 3, HEADS, HEAD), there, 0.0)
    return q, k, v


@triton.jit
def _places(token, part: tl.constexpr, parts: tl.constexpr, HEADS: tl.constexpr, HEAD: tl.constexpr):  # type: ignore[no-untyped-def]
    """Where one of so many parts of this program's head is, for each token."""
    column = (tl.program_id(1) * parts + part) * HEAD + tl.arange(0, HEAD)
    return token[:, None] * (parts * HEADS * HEAD) + column[None]


@triton.jit
def _weights(q, k, same_row, scale):  # type: ignore[no-untyped-def]
    """What each token takes of each, in single precision: nothing outside its row."""
    scores = tl.where(same_row, tl.dot(q, tl.trans(k)) * scale, float("-inf"))
    weights = tl.exp(scores - tl.max(scores, 1)[:, None])
    return weights / tl.sum(weights, 1)[:, None]
