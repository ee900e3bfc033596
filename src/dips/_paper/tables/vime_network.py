"""VIME (Yoon et al. 2020) in PyTorch: learn a representation by undoing corruption, then classify on it.

First, without labels: a random part of each row's entries is replaced by values of other rows, and an encoder learns to
tell which (the mask) and what was there (the row). Then a classifier is trained on the encoded labeled rows; in the
semi-supervised variant it must also say the same of several corrupted copies of an unlabeled row.

One change: the published encoder is as wide as the table. Tables of a dozen columns lose much of a row in so narrow a
layer of rectified units, so here it is at least as wide as the classifier's layers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.preprocessing import MinMaxScaler
from torch import Tensor, nn

from dips._tools.arrays import Array

_BATCH = 128
_RATE = 1e-3
_VALIDATE_EVERY = 50
_VALIDATION_SHARE = 0.1


class VIME:
    """Value imputation and mask estimation, self-supervised or semi-supervised.

    Parameters
    ----------
    consistency : bool
        Use unlabeled rows a second time, by the consistency of their predictions (the semi-supervised variant).
    corruption : float
        Chance that an entry is replaced; p_m.
    alpha, beta : float
        Weights of the reconstruction beside the mask, and of the consistency beside the labels.
    n_copies : int
        Corrupted copies of an unlabeled row; K.
    n_epochs, n_steps, hidden : int
        Epochs of the first part, steps of the second, units of each hidden layer of the classifier.
    random_state : int
    """

    def __init__(
        self,
        consistency: bool = True,
        corruption: float = 0.3,
        alpha: float = 2.0,
        beta: float = 1.0,
        n_copies: int = 3,
        n_epochs: int = 10,
        n_steps: int = 1000,
        hidden: int = 100,
        random_state: int = 0,
    ) -> None:
        self.consistency, self.corruption, self.alpha, self.beta = consistency, corruption, alpha, beta
        self.n_copies, self.n_epochs, self.n_steps, self.hidden = n_copies, n_epochs, n_steps, hidden
        self.random_state = random_state

    def fit(self, X: Array, y: Array, X_unlabeled: Array) -> VIME:
        """Learn from labeled rows, with codes 0..C-1, and unlabeled ones."""
        self._random = torch.Generator().manual_seed(self.random_state % 2**31)
        self._scaler = MinMaxScaler(clip=True).fit(np.nan_to_num(np.concatenate([X, X_unlabeled])))
        labeled, pool = self._tensor(X), self._tensor(np.concatenate([X, X_unlabeled]))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.random_state % 2**31)
            self._encoder = self._learn_to_undo(pool)
            self._head = _layers(self._width(pool), self.hidden, int(y.max()) + 1)
            self._learn_to_classify(labeled, torch.as_tensor(y), self._tensor(X_unlabeled))
        return self

    def predict(self, X: Array) -> Array:
        """Most probable class."""
        with torch.no_grad():
            return self._head(self._encoder(self._tensor(X))).argmax(dim=1).numpy()

    def _learn_to_undo(self, pool: Tensor) -> nn.Module:
        """Train the encoder on which entries were replaced, and what they were."""
        d, width = pool.shape[1], self._width(pool)
        encoder = nn.Sequential(_linear(d, width), nn.ReLU())
        mask_head, row_head = (nn.Sequential(_linear(width, d), nn.Sigmoid()) for _ in range(2))
        parts = nn.ModuleList([encoder, mask_head, row_head])
        optimizer = torch.optim.RMSprop(parts.parameters(), lr=_RATE)
        for _ in range(self.n_epochs):
            for rows in torch.randperm(len(pool), generator=self._random).split(_BATCH):
                clean = pool[rows]
                corrupted, mask = self._corrupt(clean, pool)
                code = encoder(corrupted)
                loss = nn.functional.binary_cross_entropy(mask_head(code), mask)
                loss = loss + self.alpha * nn.functional.mse_loss(row_head(code), clean)
                _step(optimizer, loss)
        return encoder.requires_grad_(False)

    def _learn_to_classify(self, X: Tensor, y: Tensor, unlabeled: Tensor) -> None:
        """Train the classifier; keep the one that does best on held-out labels."""
        order = torch.randperm(len(X), generator=self._random)
        n_held_out = max(1, int(_VALIDATION_SHARE * len(X))) if len(X) > 1 else 0
        held_out, rows = order[:n_held_out], order[n_held_out:]
        codes, optimizer = self._encoder(X), torch.optim.Adam(self._head.parameters())
        best, best_loss = _copy(self._head), float("inf")
        for step in range(1, self.n_steps + 1):
            batch = rows[torch.randint(len(rows), (min(_BATCH, len(rows)),), generator=self._random)]
            loss = nn.functional.cross_entropy(self._head(codes[batch]), y[batch])
            if self.consistency:
                loss = loss + self.beta * self._disagreement(unlabeled)
            _step(optimizer, loss)
            if step % _VALIDATE_EVERY == 0 or step == self.n_steps:
                with torch.no_grad():
                    held_out_loss = float(nn.functional.cross_entropy(self._head(codes[held_out]), y[held_out]))
                if held_out_loss < best_loss:
                    best, best_loss = _copy(self._head), held_out_loss
        self._head.load_state_dict(best)

    def _disagreement(self, unlabeled: Tensor) -> Tensor:
        """Variance of the outputs over the corrupted copies of a batch of rows."""
        batch = unlabeled[torch.randint(len(unlabeled), (_BATCH,), generator=self._random)]
        copies = [self._corrupt(batch, unlabeled)[0] for _ in range(self.n_copies)]
        return torch.stack([self._head(self._encoder(copy)) for copy in copies]).var(dim=0, unbiased=False).mean()

    def _corrupt(self, rows: Tensor, pool: Tensor) -> tuple[Tensor, Tensor]:
        """Replace entries by those of other rows of the pool, column by column; return which truly changed too."""
        chosen = torch.rand(rows.shape, generator=self._random) < self.corruption
        donors = torch.randint(len(pool), rows.shape, generator=self._random)
        corrupted = torch.where(chosen, pool.gather(0, donors), rows)
        return corrupted, (corrupted != rows).float()

    def _width(self, pool: Tensor) -> int:
        return max(pool.shape[1], self.hidden)

    def _tensor(self, X: Array) -> Tensor:
        return torch.as_tensor(self._scaler.transform(np.nan_to_num(X)), dtype=torch.float32)


def _layers(n_in: int, hidden: int, n_out: int) -> nn.Sequential:
    return nn.Sequential(_linear(n_in, hidden), nn.ReLU(), _linear(hidden, hidden), nn.ReLU(), _linear(hidden, n_out))


def _linear(n_in: int, n_out: int) -> nn.Linear:
    """A layer that starts as the published one does: weights after Glorot, no offset."""
    layer = nn.Linear(n_in, n_out)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def _step(optimizer: Any, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def _copy(module: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in module.state_dict().items()}
