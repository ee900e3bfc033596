"""What a semi-supervised method is: a loss of one batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


class Batch(NamedTuple):
    """One step's images, as the network takes them, and what is known of them."""

    labeled: Tensor  # (B, channels, height, width), weakly augmented
    labels: Tensor  # (B,)
    weak: Tensor  # (mu B, channels, height, width), two views of the same unlabeled images
    strong: Tensor
    trusted: Tensor  # (mu B,) False where a curator distrusts what the network says of the image


class Logits(NamedTuple):
    """What the network says of one step's images."""

    labeled: Tensor  # (B, C)
    weak: Tensor  # (mu B, C), without gradients
    strong: Tensor  # (mu B, C)


class Method:
    """A method has settings and a loss; what it remembers from step to step are tensors that it changes in place."""

    uses_unlabeled = True

    def state(self, n_classes: int, device: object) -> dict[str, Tensor]:
        """Return what the method remembers, at the start."""
        return {}

    def thresholds(self, state: dict[str, Tensor], n_classes: int) -> Tensor:
        """Return the least probability (C,) of a pseudo-label that is used, for each class."""
        return torch.ones(n_classes)

    def loss(self, logits: Logits, batch: Batch, state: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the loss, and the share of unlabeled images whose pseudo-label was used."""
        raise NotImplementedError


@dataclass(frozen=True)
class Supervised(Method):
    """The labeled images alone: the warm-up by which labels are first judged."""

    uses_unlabeled = False

    def loss(self, logits: Logits, batch: Batch, state: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Cross-entropy."""
        loss = cross_entropy(logits.labeled, batch.labels)
        return loss, loss.detach() * 0
