"""What a semi-supervised method is: a loss of one batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


class Batch(NamedTuple):
    """The images of one step, as the network takes them, and their labels."""

    labeled: Tensor  # (B, channels, height, width), weakly augmented
    labels: Tensor  # (B,)
    weak: Tensor  # (mu B, channels, height, width), two views of the same unlabeled images
    strong: Tensor
    useful: Tensor  # (mu B,) False where a curator suspects the pseudo-label


class Logits(NamedTuple):
    """The network's outputs for the images of one step."""

    labeled: Tensor  # (B, C)
    weak: Tensor  # (mu B, C), without gradients
    strong: Tensor  # (mu B, C)


class Method:
    """A method has settings and a loss. What it keeps from step to step are tensors that it updates in place."""

    uses_unlabeled = True

    def state(self, n_classes: int, device: object) -> dict[str, Tensor]:
        """Return what the method keeps from step to step, as it is at the start."""
        return {}

    def thresholds(self, state: dict[str, Tensor], n_classes: int) -> Tensor:
        """Return the lowest probability (C,) at which a pseudo-label of each class is used."""
        return torch.ones(n_classes)

    def loss(self, logits: Logits, batch: Batch, state: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the loss, and the share of unlabeled images whose pseudo-label was used."""
        raise NotImplementedError


@dataclass(frozen=True)
class Supervised(Method):
    """The labeled images alone: the warm-up, by which labels are judged first."""

    uses_unlabeled = False

    def loss(self, logits: Logits, batch: Batch, state: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Cross-entropy."""
        loss = cross_entropy(logits.labeled, batch.labels)
        return loss, loss.detach() * 0
