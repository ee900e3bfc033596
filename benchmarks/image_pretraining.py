"""Weights of one pretraining on images, which benchmarks of many seeds share."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import torch

from dips.vision import ImageClassifier
from dips.vision._tensor_file import read_tensors, write_tensors


def shared_pretraining(path: Path, network: str, images: np.ndarray, n_steps: int) -> dict[str, torch.Tensor]:
    """Weights from the file, or from a pretraining, which is timed and written there."""
    if not path.exists():
        began = time.perf_counter()
        clf = ImageClassifier(
            network, curator="none", n_steps=1, n_rounds=1, pretrain_steps=n_steps, batch_size=64, random_state=0
        )
        clf.fit(images, np.arange(len(images)) % 2)
        print(f"pretraining: {(time.perf_counter() - began) / 60:.1f} minutes, with compiling", flush=True)
        write_tensors(path, clf.pretrained_weights_, {})
    return read_tensors(path)[0]
