"""FreeMatch (Wang et al. 2023): FixMatch with thresholds that follow how well each class is learned."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from dips.vision._method import Batch, Logits, Method

_LEAST = 1e-12


@dataclass(frozen=True)
class FreeMatch(Method):
    """Self-adaptive thresholds and a fairness term.

    Attributes
    ----------
    weight : weight of the unlabeled images' loss (w_u)
    fairness : weight of the term that rewards predicting all classes (w_f)
    memory : share of the running averages that is kept at each step (0.999 in the paper, which trains a million steps)
    """

    weight: float = 1.0
    fairness: float = 0.01
    memory: float = 0.99

    def state(self, n_classes: int, device: object) -> dict[str, Tensor]:
        """Global threshold, mean probability of each class and how often each is predicted: all uniform at first."""
        uniform = torch.full((n_classes,), 1 / n_classes, device=device)
        return {"threshold": uniform[0].clone(), "probability": uniform.clone(), "frequency": uniform.clone()}

    def thresholds(self, state: dict[str, Tensor], n_classes: int) -> Tensor:
        """The global threshold, lower for classes that are not learned well yet."""
        return state["threshold"] * state["probability"] / state["probability"].max()

    def loss(self, logits: Logits, batch: Batch, state: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Equations 5 to 12 of the paper."""
        q = logits.weak.softmax(dim=1)  # (mu B, C)
        confidence, pseudo_labels = q.max(dim=1)
        frequency = one_hot(pseudo_labels, q.shape[1]).float().mean(dim=0)
        state["threshold"].lerp_(confidence.mean(), 1 - self.memory)
        state["probability"].lerp_(q.mean(dim=0), 1 - self.memory)
        state["frequency"].lerp_(frequency, 1 - self.memory)
        is_used = (confidence >= self.thresholds(state, q.shape[1])[pseudo_labels]) & batch.useful

        labeled_loss = cross_entropy(logits.labeled, batch.labels)
        unlabeled_loss = (cross_entropy(logits.strong, pseudo_labels, reduction="none") * is_used).mean()
        fairness = _fairness(logits.strong.softmax(dim=1), is_used, state)
        return labeled_loss + self.weight * unlabeled_loss + self.fairness * fairness, is_used.float().mean()


def _fairness(strong: Tensor, is_used: Tensor, state: dict[str, Tensor]) -> Tensor:
    """Negative cross-entropy of expected and present class shares, each relative to how often it is predicted."""
    used = is_used.float()[:, None]
    n_used = used.sum().clamp(min=1)
    mean = (strong * used).sum(dim=0) / n_used
    predicted = (one_hot(strong.argmax(dim=1), strong.shape[1]) * used).sum(dim=0) / n_used
    present = _to_sum_1(torch.where(predicted > 0, mean / predicted.clamp(min=_LEAST), 0.0))
    expected = _to_sum_1(state["probability"] / state["frequency"].clamp(min=_LEAST))
    return (expected * torch.log(present + _LEAST)).sum() * is_used.any()


def _to_sum_1(x: Tensor) -> Tensor:
    return x / x.sum().clamp(min=_LEAST)
