"""The parts of a fit, and how far it has come with the steps of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dips._tools.observer import Observer

if TYPE_CHECKING:
    from dips.curators._base import Curator
    from dips.vision._rounds import CurationPlan
    from dips.vision._training import Recipe

PRETRAINING, PILOTS, PLAIN_PILOTS, WARM_UP, OUT_OF_FOLD, TRAINING = (
    "pretraining", "pilots", "pilots without pretraining", "warm-up", "out-of-fold warm-ups", "training",
)  # fmt: skip
_PART_OF_PILOTS = 10  # each is a tenth as long as the training
_LEAST_PILOT_STEPS, _MOST_PILOT_STEPS = 2_000, 4_000  # fewer tell little, more cost more than they tell


def steps_of_parts(recipe: Recipe, plan: CurationPlan, curator: Curator) -> dict[str, int]:
    """How many steps each part of a fit has, in order; the warm-up is left out where labels turn out to be clean."""
    parts = {}
    if recipe.pretrain_steps and recipe.start is None:
        parts[PRETRAINING] = recipe.pretrain_steps
    if getattr(curator, "has_pilots", False):
        n_steps = curator.n_pilots * steps_of_a_pilot(recipe, plan)
        parts[PILOTS] = n_steps
        if recipe.pretrain_steps or recipe.start is not None:
            parts[PLAIN_PILOTS] = n_steps
    if curator.curates:
        parts[WARM_UP] = plan.warm_up_steps
    if PILOTS not in parts and hasattr(curator, "n_folds"):  # pilots answer what out-of-fold warm-ups would
        parts[OUT_OF_FOLD] = curator.n_folds * plan.warm_up_steps
    return parts | {TRAINING: recipe.schedule.n_steps}


def steps_of_a_pilot(recipe: Recipe, plan: CurationPlan) -> int:
    """As planned, or a tenth of the training within limits."""
    n_steps = recipe.schedule.n_steps
    usual = min(n_steps, max(n_steps // _PART_OF_PILOTS, _LEAST_PILOT_STEPS), _MOST_PILOT_STEPS)
    return plan.pilot_steps or usual


class Progress:
    """Tells an observer how many steps of the whole fit are done, and to which part they belong."""

    def __init__(self, observer: Observer, parts: dict[str, int]) -> None:
        self.observer, self._parts = observer, parts
        self._n_before, self._n_steps, self._part = dict[str, int](), 0, ""
        for name, n_steps in parts.items():
            self._n_before[name] = self._n_steps
            self._n_steps += n_steps

    def tell(self, part: str, n_done: int) -> None:
        """Tell that `n_done` steps of a part are done; a part that was not foreseen is only named."""
        if part != self._part:
            self._part = part
            self.observer.on_part(part)
        if part in self._parts:
            self.observer.on_step(self._n_before[part] + min(n_done, self._parts[part]), self._n_steps)
