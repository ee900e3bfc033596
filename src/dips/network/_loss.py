"""What the network is asked for: the true class of every row, whatever its label says."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from dips.network._model import answers

NOISE_EDGES = (1e-6, 0.15, 0.3)
LABEL_EDGES = (40, 120, 300)
CLASS_EDGES = (2, 3, 6)


def losses_by_row(
    logits: Tensor, true: Tensor, chances: Tensor, present: Tensor, labeled: int
) -> tuple[Tensor, Tensor]:
    """Cross-entropy of each row with the chances of its classes, (B, N), and which rows count.

    Rows count whose class has a label.
    """
    said = answers(logits, labeled).log_softmax(-1)
    possible = chances * present.unsqueeze(1)
    wanted = possible / possible.sum(-1, keepdim=True).clamp_min(1e-6)
    counts = present.gather(1, true).to(said.dtype)
    return -(wanted * said).sum(-1) * counts, counts


def total_loss(loss: Tensor, counts: Tensor, labeled: int, labeled_weight: float) -> Tensor:
    """Mean over unlabeled rows plus the weighted mean over labeled ones."""
    of_labeled = loss[:, :labeled].sum() / counts[:, :labeled].sum().clamp_min(1)
    return loss[:, labeled:].sum() / counts[:, labeled:].sum().clamp_min(1) + labeled_weight * of_labeled


class LossBook:
    """Losses by number of classes, labels and noise, added up on the device and read rarely."""

    def __init__(self, device: torch.device) -> None:
        self.sums = torch.zeros(4 * 4 * 4, 6, device=device)
        self.edges = torch.tensor(NOISE_EDGES, device=device)

    def add(self, loss: Tensor, counts: Tensor, true: Tensor, noise: Tensor, labeled: int, classes: int) -> None:
        """Enter one batch: sums of losses, of rows, and of the entropy of the true classes."""
        kind = 4 * (4 * _bin(classes, CLASS_EDGES) + _bin(labeled, LABEL_EDGES)) + torch.bucketize(noise, self.edges)
        share = functional.one_hot(true, classes).float().mean(1)
        entropy = torch.special.entr(share).sum(-1)
        entries = torch.stack(
            [
                loss[:, labeled:].sum(1),
                counts[:, labeled:].sum(1),
                loss[:, :labeled].sum(1),
                counts[:, :labeled].sum(1),
                entropy,
                torch.ones_like(entropy),
            ],
            1,
        )
        self.sums.index_add_(0, kind, entries)

    def read(self) -> dict[str, dict[str, float]]:
        """Means since the last reading, overall and along each axis; waits for the device."""
        sums = self.sums.clone().cpu().view(4, 4, 4, 6)
        self.sums.zero_()
        report = {"all": _means(sums.sum((0, 1, 2)))}
        for axis, name, edges in ((0, "classes", CLASS_EDGES), (1, "labels", LABEL_EDGES), (2, "noise", NOISE_EDGES)):
            others = tuple(a for a in range(3) if a != axis)
            for number, entry in enumerate(sums.sum(others)):
                bound = f"<={edges[number]:g}" if number < len(edges) else f">{edges[-1]:g}"
                report[f"{name}{bound}"] = _means(entry)
        return report


def _bin(value: float, edges: tuple[int, ...]) -> int:
    return sum(value > edge for edge in edges)


def _means(entry: Tensor) -> dict[str, float]:
    unknown, unknown_rows, known, known_rows, entropy, tables = entry.tolist()
    return {
        "unlabeled": round(unknown / max(unknown_rows, 1), 4),
        "labeled": round(known / max(known_rows, 1), 4),
        "entropy": round(entropy / max(tables, 1), 4),
        "tables": int(tables),
    }
