"""Muon for the blocks' matrices, AdamW for the rest; no step waits for the device."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dips.network._model import BLOCKS, Network
from dips.network._settings import TrainingSettings


def orthogonal(update: Tensor, steps: int = 5) -> Tensor:
    """The nearest matrices with equal singular values, (L, out, in), by Newton and Schulz's iteration in bfloat16."""
    tall = update.shape[-2] > update.shape[-1]
    x = update.transpose(-1, -2) if tall else update
    x = x.bfloat16() / (x.float().norm(dim=(-2, -1), keepdim=True) + 1e-7).bfloat16()
    for _ in range(steps):
        square = x @ x.transpose(-1, -2)
        square = torch.baddbmm(square, square, square, beta=-4.7750, alpha=2.0315)
        x = torch.baddbmm(x, square, x, beta=3.4445)
    return x.transpose(-1, -2) if tall else x


class Muon:
    """Momentum whose step is made orthogonal, scaled to move weights as much as AdamW would.

    Queries, keys and values lie in one matrix but are made orthogonal each by itself; `heads` says how many groups of
    the three the matrix of a name holds.
    """

    def __init__(
        self,
        weights: dict[str, nn.Parameter],
        heads: dict[str, int],
        rate: float,
        decay: float,
        momentum: float = 0.95,
    ) -> None:
        self.weights, self.heads, self.rate, self.decay, self.momentum = weights, heads, rate, decay, momentum
        self.moments = {name: torch.zeros_like(weight) for name, weight in weights.items()}

    @torch.no_grad()
    def step(self, share: float) -> None:
        """Move the weights by a share of the full rate."""
        rate = self.rate * share
        for name, weight in self.weights.items():
            moment = self.moments[name].lerp_(weight.grad, 1 - self.momentum)
            direction = self._direction(name, weight.grad.lerp(moment, self.momentum))
            weight.mul_(1 - rate * self.decay)
            weight.add_(direction.to(weight.dtype), alpha=-0.2 * rate)

    def _direction(self, name: str, update: Tensor) -> Tensor:
        """An update (L, out, in) made orthogonal, with entries of mean square one."""
        if name not in self.heads:
            return orthogonal(update) * max(update.shape[-2:]) ** 0.5
        layers, _, width = update.shape
        parts = update.view(layers, self.heads[name], 3, -1, width).transpose(1, 2)  # (L, 3, heads, head, width)
        directions = orthogonal(parts.reshape(3 * layers, width, width)) * width**0.5
        return directions.view(parts.shape).transpose(1, 2).reshape(update.shape)


class MuonAndAdam:
    """Both, the clipping and the running mean of the weights."""

    def __init__(self, model: Network, settings: TrainingSettings) -> None:
        self.settings = settings
        self.named = dict(model.named_parameters())
        blocks = {name: self.named[name] for name in BLOCKS} if settings.optimizer == "muon" else {}
        rest = [weight for name, weight in self.named.items() if name not in blocks]
        fused = rest[0].is_cuda
        heads = {"row_qkv": model.settings.row_heads, "column_qkv": model.settings.column_heads}
        self.muon = Muon(blocks, heads, settings.muon_rate, settings.weight_decay)
        self.adam = torch.optim.AdamW(
            rest, settings.adam_rate, betas=(0.9, 0.98), weight_decay=settings.weight_decay, fused=fused
        )
        self.mean = {name: weight.detach().clone() for name, weight in self.named.items()}

    def step(self, share: float, steps_done: int) -> None:
        """Clip, move by a share of the full rate, average, and clear the gradients."""
        weights = list(self.named.values())
        self._clip([weight.grad for weight in weights])
        self.muon.step(share)
        for group in self.adam.param_groups:
            group["lr"] = self.settings.adam_rate * share
        self.adam.step()
        keep = min(self.settings.ema, (steps_done + 1) / (steps_done + 10))
        torch._foreach_lerp_(list(self.mean.values()), [weight.detach() for weight in weights], 1 - keep)
        for weight in weights:
            weight.grad = None

    @torch.no_grad()
    def _clip(self, grads: list[Tensor]) -> None:
        """Shrink large gradients; one that is not finite becomes zero."""
        size = torch.stack(torch._foreach_norm(grads)).norm()
        shrink = (self.settings.clip / size.clamp_min(1e-6)).clamp_max(1.0)
        torch._foreach_mul_(grads, torch.where(size.isfinite(), shrink, 0.0))
        for grad in grads:
            grad.nan_to_num_(0.0, 0.0, 0.0)

    def state(self) -> dict[str, Tensor]:
        """Everything needed to go on, by name."""
        state = {f"muon.{name}": moment for name, moment in self.muon.moments.items()}
        for number, entry in self.adam.state_dict()["state"].items():
            state |= {f"adam.{number}.{key}": torch.as_tensor(value) for key, value in entry.items()}
        return state

    @torch.no_grad()
    def load(self, state: dict[str, Tensor]) -> None:
        """Go on from :meth:`state`."""
        for name, moment in self.muon.moments.items():
            moment.copy_(state[f"muon.{name}"])
        adam = self.adam.state_dict()
        adam["state"] = {}
        for name, value in state.items():
            if name.startswith("adam."):
                _, number, key = name.split(".")
                adam["state"].setdefault(int(number), {})[key] = value
        self.adam.load_state_dict(adam)
