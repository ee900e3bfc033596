"""How long a fit takes on a CPU, told before it starts."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from dips._tools.arrays import Rows
from dips._tools.warnings import warn
from dips._tools.wording import duration
from dips.vision import _distributed
from dips.vision._image_pool import ImagePool
from dips.vision._method import Supervised
from dips.vision._parts import OUT_OF_FOLD, PRETRAINING, WARM_UP, steps_of_parts
from dips.vision._pretraining import images_of_pretraining
from dips.vision._training import Recipe, Training

if TYPE_CHECKING:
    from dips.vision._rounds import ImageRounds

LONG_S = 1200.0  # what takes longer is worth a word of advice
_FEW = 2  # labeled images in a step that is timed
_QUICK_S = 1.0
_TIMES = 3
_WITH_GRADIENT, _WITHOUT = 3, 1  # what an image costs


def expected_seconds(run: ImageRounds) -> dict[str, float] | None:
    """About how long each part of a fit takes on this CPU, by a step that is timed; None on a GPU, which is fast."""
    if run.pool.device.type != "cpu" or _distributed.n_processes() > 1:
        return None
    recipe = run.recipe
    seconds = _seconds_by_cost(run)
    n_pretrained = images_of_pretraining(recipe, run.pool.images.shape[0])
    on_labels = _cost(replace(recipe, method=Supervised()))
    costs = {PRETRAINING: 2 * n_pretrained * _WITH_GRADIENT, WARM_UP: on_labels, OUT_OF_FOLD: on_labels}
    parts = steps_of_parts(recipe, run.plan, run.curator)
    return {part: n_steps * seconds * costs.get(part, _cost(recipe)) for part, n_steps in parts.items()}


def warn_if_long(run: ImageRounds) -> None:
    """Warn of a fit that takes long, before it starts."""
    expected = expected_seconds(run)
    seconds = 0.0 if expected is None else sum(expected.values())
    if seconds > LONG_S:
        warn(
            f"This fit takes about {duration(seconds)} on this CPU. Use a GPU, or take a first look, by a network that "
            "sees much less, with ImageClassifier('tiny', n_steps=300, n_rounds=5, warm_up_steps=75, pilot_steps=75)."
        )


def _seconds_by_cost(run: ImageRounds) -> float:
    """Of a step on few images; of a whole one where that is quick, since there much does not depend on the images."""
    few = replace(run.recipe, batch_size=_FEW)
    seconds = _seconds_of_a_step(run.pool, few, run.rows) / _cost(few)
    if seconds * _cost(run.recipe) > _QUICK_S:
        return seconds
    return _seconds_of_a_step(run.pool, run.recipe, run.rows) / _cost(run.recipe)


def _seconds_of_a_step(pool: ImagePool, recipe: Recipe, rows: Rows) -> float:
    with torch.random.fork_rng(devices=[]):  # a network may draw random numbers of its own
        timed = Training(pool, recipe, rows, seed=0)
        timed.step()  # libraries set themselves up in the first one
        seconds = []
        for _ in range(_TIMES):
            began = time.perf_counter()
            timed.step()
            seconds.append(time.perf_counter() - began)
        return min(seconds)  # the others were disturbed


def _cost(recipe: Recipe) -> int:
    """Of one step: the images that pass through the network, those with gradients counted by what they take."""
    n_unlabeled = recipe.batch_size * recipe.unlabeled_ratio if recipe.method.uses_unlabeled else 0
    return _WITH_GRADIENT * (recipe.batch_size + n_unlabeled) + _WITHOUT * n_unlabeled
