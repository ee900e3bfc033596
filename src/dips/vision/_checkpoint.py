"""Checkpoint files: complete or absent, without pickle, and continued only with the same settings and data."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator

from dips._tools.arrays import Array
from dips._tools.files import write_whole
from dips.curators._base import Curator
from dips.exceptions import InputError
from dips.vision._image_pool import ImagePool
from dips.vision._packing import packed, unpacked

if TYPE_CHECKING:
    from dips.vision._rounds import ImageRounds

_KEPT = ("useful", "confidence", "aleatoric", "unseen", "curves", "round", "elapsed_s", "history")
_ROWS_IN_DIGEST = 1000
_DAMAGE = (OSError, EOFError, ValueError, KeyError, TypeError, RecursionError, zipfile.BadZipFile)


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
    state = {name: getattr(run, name) for name in _KEPT} | {"curator": _learned(run.curator)}
    write_whole(path, packed({"described": run.described, "training": run.training.state(), "run": state}))


def load(path: Path, run: ImageRounds) -> None:
    """Continue a training from the file, if it exists; reading it runs no code."""
    if not path.exists():
        return
    try:
        stored = unpacked(path.read_bytes(), run.pool.device)
        described, state, training = stored["described"], stored["run"], stored["training"]
    except _DAMAGE as error:
        raise InputError(
            f"Training cannot continue from {path}: {error}; remove it, or choose another file."
        ) from error
    if described != run.described:
        raise InputError(
            f"{path} was written with other settings or data, so training cannot continue from it; remove it, or "
            f"choose another file. It has: {described}. This training has: {run.described}."
        )
    try:
        for name in _KEPT:
            setattr(run, name, state[name])
        for name in set(state["curator"]) - set(run.curator.get_params()):
            setattr(run.curator, name, state["curator"][name])
        run.training.restore(training)
    except (*_DAMAGE, AttributeError, RuntimeError) as error:
        raise InputError(
            f"Training cannot continue from {path}: it does not hold what this training needs ({error}); remove it."
        ) from error


def _learned(curator: Curator) -> dict[str, Any]:
    """What a curator keeps from round to round, besides its settings."""
    return {name: value for name, value in vars(curator).items() if name not in curator.get_params()}
