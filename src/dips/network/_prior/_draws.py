"""Random numbers on one device, and the few shapes of them that the prior is made of."""

from __future__ import annotations

import math

import torch
from torch import Tensor


class Draws:
    """A seeded source of random tensors; nothing here waits for the device."""

    def __init__(self, device: torch.device | str, seed: int) -> None:
        self.device = torch.device(device)
        self.generator = torch.Generator(self.device).manual_seed(seed)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Numbers spread evenly between two bounds."""
        return torch.rand(shape, generator=self.generator, device=self.device) * (high - low) + low

    def log_uniform(self, *shape: int, low: float, high: float) -> Tensor:
        """Numbers whose logarithm is spread evenly."""
        return self.uniform(*shape, low=math.log(low), high=math.log(high)).exp()

    def normal(self, *shape: int) -> Tensor:
        """Standard normal numbers."""
        return torch.randn(shape, generator=self.generator, device=self.device)

    def integers(self, *shape: int, high: int) -> Tensor:
        """Whole numbers from 0 up to, not including, a bound."""
        return torch.randint(high, shape, generator=self.generator, device=self.device)

    def chance(self, *shape: int, p: float | Tensor) -> Tensor:
        """True with probability p."""
        return self.uniform(*shape) < p

    def gumbel(self, *shape: int) -> Tensor:
        """Gumbel noise: the largest of scores plus this is a draw from their softmax."""
        return -(-self.uniform(*shape).clamp(1e-6, 1 - 1e-6).log()).log()

    def pick(self, weights: Tensor) -> Tensor:
        """One index along the last axis, in proportion to the weights."""
        return (weights.clamp_min(1e-20).log() + self.gumbel(*weights.shape)).argmax(-1)

    def order(self, *shape: int) -> Tensor:
        """A random order of the last axis."""
        return self.uniform(*shape).argsort(-1)

    def shares(self, *shape: int, low: float = 0.3, high: float = 10.0) -> Tensor:
        """Positive shares along the last axis that sum to one, from very uneven to nearly equal."""
        power = self.log_uniform(*shape[:-1], 1, low=low, high=high)
        raw = self.uniform(*shape).clamp_min(1e-3) ** (1 / power)
        return raw / raw.sum(-1, keepdim=True)


def standardized(x: Tensor, axis: int = 1) -> Tensor:
    """Mean 0 and deviation 1 along the rows."""
    return (x - x.mean(axis, keepdim=True)) / x.std(axis, keepdim=True).clamp_min(1e-6)


def ranks(x: Tensor) -> Tensor:
    """Ranks along the rows (axis 1) as numbers between 0 and 1."""
    order = x.argsort(1)
    place = torch.arange(x.shape[1], device=x.device, dtype=x.dtype).add(0.5).div(x.shape[1])
    place = place.view(1, -1, *[1] * (x.dim() - 2)).expand_as(x)
    return torch.empty_like(x).scatter_(1, order, place)


def take_columns(x: Tensor, index: Tensor) -> Tensor:
    """Columns of each table by index: (B, N, F) and (B, K) to (B, N, K)."""
    return x.gather(2, index.unsqueeze(1).expand(-1, x.shape[1], -1))


def take_rows(x: Tensor, index: Tensor) -> Tensor:
    """Rows of each table by index: (B, N, ...) and (B, K) to (B, K, ...)."""
    shape = index.shape + (1,) * (x.dim() - 2)
    return x.gather(1, index.view(shape).expand(-1, -1, *x.shape[2:]))
