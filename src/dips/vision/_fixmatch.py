"""FixMatch (Sohn et al. 2020): a confident prediction on a weak view is the label of the strong view."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from dips.vision._method import Batch, Logits, Method


@dataclass(frozen=True)
class FixMatch(Method):
    """Pseudo-labels above a fixed threshold.

    Attributes
    ----------
    threshold : lowest probability at which a pseudo-label is used (tau)
    weight : weight of the unlabeled images' loss (lambda_u)
    """

    threshold: float = 0.95
    weight: float = 1.0

    def thresholds(self, state: dict[str, Tensor], n_classes: int) -> Tensor:
        """The same for all classes."""
        return torch.full((n_classes,), self.threshold)

    def loss(self, logits: Logits, batch: Batch, state: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Equations 3 and 4 of the paper."""
        q = logits.weak.softmax(dim=1)
        confidence, pseudo_labels = q.max(dim=1)
        is_used = (confidence >= self.threshold) & batch.useful

        labeled_loss = cross_entropy(logits.labeled, batch.labels)
        unlabeled_loss = (cross_entropy(logits.strong, pseudo_labels, reduction="none") * is_used).mean()
        return labeled_loss + self.weight * unlabeled_loss, is_used.float().mean()
