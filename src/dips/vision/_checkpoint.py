"""Checkpoint files: complete or absent, and continued only with the same settings and data."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from sklearn.base import BaseEstimator

from dips._tools.arrays import Array
from dips._tools.files import whole_file
from dips.exceptions import InputError
from dips.vision._image_pool import ImagePool

if TYPE_CHECKING:
    from dips.vision._rounds import ImageRounds

_KEPT = ("curator", "useful", "confidence", "aleatoric", "unseen", "curves", "round", "elapsed_s", "history")
_ROWS_IN_DIGEST = 1000


def describe(pool: ImagePool, *settings: Any, is_verified: Array | None = None) -> str:
    """Describe what must be the same for a training to continue: settings, labels and a sample of the images."""
    digest = hashlib.sha256(pool.labels.cpu().numpy().tobytes())
    every = max(1, pool.images.shape[0] // _ROWS_IN_DIGEST)
    digest.update(pool.images[::every].cpu().numpy().tobytes())
    if is_verified is not None and is_verified.any():
        digest.update(is_verified.tobytes())
    return " ".join([*map(_as_text, settings), f"data={digest.hexdigest()[:16]}"])


def _as_text(value: Any) -> str:
    """Like repr, but the same in every process: functions by name, objects by their settings."""
    if is_dataclass(value) and not isinstance(value, type):
        settings = {field.name: getattr(value, field.name) for field in fields(value)}
    elif isinstance(value, BaseEstimator):
        settings = value.get_params()
    elif callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    else:
        return repr(value)
    return f"{type(value).__name__}({', '.join(f'{k}={_as_text(v)}' for k, v in sorted(settings.items()))})"


def save(path: Path, run: ImageRounds) -> None:
    """Save the state of a training between two rounds."""
    state = {name: getattr(run, name) for name in _KEPT}
    with whole_file(path, survives_power_loss=True) as file:
        torch.save({"described": run.described, "training": run.training.state(), "run": state}, file)


def load(path: Path, run: ImageRounds) -> None:
    """Continue a training from the file, if it exists.

    The file holds Python objects, so load only files that you trust.
    """
    if not path.exists():
        return
    stored = torch.load(path, map_location=run.pool.device, weights_only=False)
    if stored["described"] != run.described:
        raise InputError(
            f"{path} was written with other settings or data, so training cannot continue from it; remove it, or "
            f"choose another file. It has: {stored['described']}. This training has: {run.described}."
        )
    for name, value in stored["run"].items():
        setattr(run, name, value)
    run.training.restore(stored["training"])
