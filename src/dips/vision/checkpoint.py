"""Checkpoints: written whole or not at all, and continued only by the run that wrote them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from dips.curators.base import Curator
from dips.vision.pool import Pool

if TYPE_CHECKING:
    from dips.vision.run import Run

_KEPT = ("curator", "useful", "confidence", "aleatoric", "unseen", "round", "elapsed_s", "history")


def settings(pool: Pool, recipe: Any, plan: Any, curator: Curator) -> str:
    """All that must be the same for a run to be continued, as text."""
    digest = hashlib.sha256(pool.labels.cpu().numpy().tobytes())
    digest.update(np.ascontiguousarray(pool.images[:: max(1, pool.images.shape[0] // 100)].cpu().numpy()).tobytes())
    return f"{recipe} {plan} {curator!r} data {digest.hexdigest()[:16]}"


def save(path: Path, run: Run, described: str) -> None:
    """Write beside the file, then put it in its place in one move."""
    state = {name: getattr(run, name) for name in _KEPT}
    beside = path.with_name(path.name + ".part")
    torch.save({"settings": described, "training": run.training.state(), "run": state}, beside)
    os.replace(beside, path)


def load(path: Path, run: Run, described: str) -> None:
    """Bring a run to where the file left it; without a file, leave it at its start.

    The file holds Python objects, so load only what you wrote yourself.
    """
    if not path.exists():
        return
    stored = torch.load(path, map_location=run.pool.device, weights_only=False)
    if stored["settings"] != described:
        raise ValueError(
            f"{path} was written by a run with other settings or data, so it cannot be continued; remove it, or name "
            f"another file. It has {stored['settings']}; this run has {described}."
        )
    for name, value in stored["run"].items():
        setattr(run, name, value)
    run.training.restore(stored["training"])
