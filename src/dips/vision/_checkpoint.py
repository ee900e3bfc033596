"""The checkpoint of a training of images."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dips._data.verified import Verified
from dips._tools.checkpoints import as_text, learned, read_checkpoint, relearn, restoring
from dips._tools.files import write_whole
from dips.vision._image_pool import ImagePool
from dips.vision._packing import packed, unpacked

if TYPE_CHECKING:
    from dips.vision._rounds import ImageRounds

_KEPT = ("useful", "confidence", "aleatoric", "unseen", "p_wrong", "curves", "round", "elapsed_s", "history")
_ROWS_IN_DIGEST = 1000


def describe(pool: ImagePool, *settings: Any, verified: Verified | None = None) -> str:
    """Describe what must be the same for a training to continue: settings, labels and a sample of the images."""
    digest = hashlib.sha256(pool.labels.cpu().numpy().tobytes())
    every = max(1, pool.images.shape[0] // _ROWS_IN_DIGEST)
    digest.update(pool.images[::every].cpu().numpy().tobytes())
    if verified is not None and verified.mask.any():
        digest.update(verified.mask.tobytes())
        digest.update(verified.before[verified.mask].tobytes())
    return " ".join([*map(as_text, settings), f"data={digest.hexdigest()[:16]}"])


def save(path: Path, run: ImageRounds) -> None:
    """Save the state of a training before the rounds, or between two of them."""
    state = {
        "described": run.described,
        "start": run.recipe.start,
        "unfinished": run.unfinished.state(),
        "training": run.training.state(),
        "run": {name: getattr(run, name) for name in _KEPT} | {"curator": learned(run.curator)},
    }
    write_whole(path, packed(state))


def load(path: Path, run: ImageRounds) -> None:
    """Continue a training from the file, if it exists; reading it runs no code."""
    state = read_checkpoint(path, run.described, lambda stored: unpacked(stored, run.pool.device))
    if state is None:
        return
    with restoring(path):
        for name in _KEPT:
            setattr(run, name, state["run"][name])
        relearn(run.curator, state["run"]["curator"])
        run.recipe = replace(run.recipe, start=state["start"])
        run.unfinished.restore(state["unfinished"], path)
        run.training.restore(state["training"])
