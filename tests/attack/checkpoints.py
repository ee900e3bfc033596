"""Checkpoints of image trainings, damaged: refused, or continued to the same result."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from dips.curators._image_auto import ImageAuto
from dips.exceptions import DipsError
from dips.vision import _checkpoint
from dips.vision._rounds import ImageRounds
from tests.attack.outcomes import CLEAN, DIFFERENT, REFUSED, TRACEBACK
from tests.vision.examples import PLAN, pool, recipe, weights


def attack(place: Path, seed: int) -> str:
    """Change bytes of a checkpoint, and load it."""
    rng, path, sound = random.Random(seed), place / "run.pt", _sound(place)
    content = bytearray(sound)
    for _ in range(rng.choice((1, 1, 2, 9))):
        at = rng.randrange(len(content))
        if rng.random() < 0.7:
            content[at] ^= 1 << rng.randrange(8)
        else:
            del content[at : at + rng.choice((1, 100, len(content)))]
        content = content or bytearray(b"x")
    path.write_bytes(content)
    run = _run()
    before = weights(run.training.network).clone()
    try:
        _checkpoint.load(path, run)
    except DipsError as error:
        return REFUSED if "\n" not in str(error) else TRACEBACK
    return CLEAN if bytes(content) == sound or (weights(run.training.network) == before).all() else DIFFERENT


def _run() -> ImageRounds:
    return ImageRounds(pool(), recipe(n_steps=30), PLAN, ImageAuto(n_folds=3, least_noise=0), 0)


@cache
def _sound(place: Path) -> bytes:
    _checkpoint.save(place / "sound.pt", _run())
    return (place / "sound.pt").read_bytes()
