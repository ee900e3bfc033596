"""SGD with Nesterov's momentum, a cosine schedule and an average of the weights, entirely on the device."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Schedule:
    """Settings of the optimizer; the defaults are FixMatch's.

    Attributes
    ----------
    n_steps : length of the training
    lr : at the start; at step k it is ``lr * cos(7 pi k / (16 n_steps))``
    momentum, weight_decay : biases and norms are not decayed
    average : share of the averaged weights that is kept at each step, after the first steps
    """

    n_steps: int
    lr: float = 0.03
    momentum: float = 0.9
    weight_decay: float = 5e-4
    average: float = 0.999


class Optimizer:
    """Updates a network and its averaged copy in place.

    The step number lives on the device and the learning rate is computed from it there, so that one recorded step can
    be replayed for the whole training.
    """

    def __init__(self, network: nn.Module, averaged: nn.Module, schedule: Schedule) -> None:
        self.schedule = schedule
        self.parameters = [p for p in network.parameters() if p.requires_grad]
        self._decayed = [i for i, p in enumerate(self.parameters) if p.ndim > 1]  # neither biases nor norms
        self._network, self._averaged = list(_floats(network)), list(_floats(averaged))
        self.velocity = [torch.zeros_like(p) for p in self.parameters]
        self.step_number = torch.zeros((), device=self.parameters[0].device)

    @torch.no_grad()
    def step(self, gradients: Iterable[Tensor]) -> None:
        """Take one step down the gradients, then move the average."""
        s, gradients = self.schedule, list(gradients)
        lr = s.lr * torch.cos(7 * math.pi / 16 / s.n_steps * self.step_number)
        torch._foreach_add_(
            [gradients[i] for i in self._decayed], [self.parameters[i] for i in self._decayed], alpha=s.weight_decay
        )
        torch._foreach_mul_(self.velocity, s.momentum)
        torch._foreach_add_(self.velocity, gradients)
        torch._foreach_add_(gradients, self.velocity, alpha=s.momentum)
        torch._foreach_mul_(gradients, lr)
        torch._foreach_sub_(self.parameters, gradients)
        self.step_number += 1
        self._average()

    def _average(self) -> None:
        """Average the weights and the norms' running statistics; the first steps are forgotten quickly."""
        stays = torch.clamp((1 + self.step_number) / (10 + self.step_number), max=self.schedule.average)
        change = torch._foreach_sub(self._network, self._averaged)
        torch._foreach_mul_(change, 1 - stays)
        torch._foreach_add_(self._averaged, change)

    def state(self) -> dict[str, Any]:
        """What is needed to continue; the weights are in the networks."""
        return {"velocity": self.velocity, "step_number": self.step_number}

    @torch.no_grad()
    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a stored state, in place."""
        torch._foreach_copy_(self.velocity, state["velocity"])
        self.step_number.copy_(state["step_number"])


def _floats(network: nn.Module) -> Iterable[Tensor]:
    """Weights and running statistics, in a fixed order; counters are not averaged."""
    yield from (p.data for p in network.parameters())
    yield from (b for b in network.buffers() if b.is_floating_point())
