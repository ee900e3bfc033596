"""Attention along short rows while the network trains: our kernel, PyTorch's own, and the time to move the bytes.

python benchmarks/network_rows.py

Milliseconds for so many tokens in bfloat16, forward and back; needs a GPU. `off` is the largest difference of the two
from single precision, in answers and in gradients.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from torch import Tensor

from dips.network._model import along_rows, same_row_mask
from dips.network._profile import seconds
from dips.network._row_attention import attend
from dips.network._settings import NetworkSettings

TOKENS_OF_A_ROW = (5, 9, 13, 17, 24, 31, 48)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=50)
    options = parser.parse_args()
    print("tokens a row   floor    ours  library  ours / floor  library / ours  off, ours  off, library")
    for tokens in TOKENS_OF_A_ROW:
        print(_line(options.tokens // (16 * tokens) * 16, tokens, options.repeats), flush=True)


def _line(rows: int, tokens: int, repeats: int) -> str:
    model, device = NetworkSettings().model, torch.device("cuda")
    qkv = torch.randn(rows * tokens, 3 * model.width, device=device, dtype=torch.bfloat16)
    mask = same_row_mask(rows, tokens, model.packed_tokens, qkv.dtype, device)

    def ours(x: Tensor) -> Tensor:
        return attend(x, tokens, model.row_heads)

    def library(x: Tensor) -> Tensor:
        return along_rows(x, rows, tokens, model.row_heads, mask)

    def exact(x: Tensor) -> Tensor:
        return along_rows(x, rows, tokens, model.row_heads, None)

    truth = _both_ways(exact, qkv.float())
    off = [max(map(_largest, _both_ways(way, qkv), truth)) for way in (ours, library)]
    times = [1e3 * seconds(lambda way=way: _both_ways(way, qkv), device, repeats) for way in (ours, library)]
    floor = 1e3 * _floor(qkv, repeats)
    return (
        f"{tokens:12} {floor:7.3f} {times[0]:7.3f} {times[1]:8.3f} {times[0] / floor:13.2f} "
        f"{times[1] / times[0]:15.2f} {off[0]:10.4f} {off[1]:13.4f}"
    )


def _both_ways(way: Callable[[Tensor], Tensor], qkv: Tensor) -> tuple[Tensor, Tensor]:
    """What attention finds, and the gradients of its square."""
    x = qkv.detach().requires_grad_()
    found = way(x)
    found.backward(found.detach())
    return found.detach(), x.grad


def _largest(one: Tensor, other: Tensor) -> Tensor:
    return (one.float() - other).abs().max()


def _floor(qkv: Tensor, repeats: int) -> float:
    """Seconds to read and write each tensor once: 4 parts of the width forward, 7 back; a copy moves 6."""
    target = torch.empty_like(qkv)
    return 11 / 6 * seconds(lambda: target.copy_(qkv), qkv.device, repeats)


if __name__ == "__main__":
    main()
