"""Methods that the image experiments compare, as cells with the names that tables and figures use."""

from __future__ import annotations

from collections.abc import Iterator

from dips._paper.experiment import Cell, Plan
from dips._paper.images.sets import require_torch
from dips._paper.images.trial import ImageTrial
from dips.exceptions import UserError

METHODS = {"fixmatch": "FixMatch", "freematch": "FreeMatch"}
CURATORS = {
    "none": "",
    "percentile": "+percentile",  # the authors' rule for images
    "auto": "+default",
    "dips": "+DIPS thresholds",
    "confidence": "+confidence",
    "small_loss": "+small loss",
    "fluctuation": "+fluctuation",
}
_MEMORY = {"freematch": 0.99}  # its paper's 0.999 takes a thousand steps to rise, too long for short schedules
_WARM_UP_STEPS, _ROUNDS, _LEAST_STEPS_A_ROUND = 1000, 20, 5


def compared(plan: Plan, data: str, noise: str | float, n_labeled: int, method: str = "fixmatch") -> Iterator[Cell]:
    """A method with each curator of the plan on a set, if it is there, with each seed."""
    if data not in plan.data:
        return
    for seed in plan.seeds:
        for curator in plan.curators:
            trial = ImageTrial(
                data,
                seed,
                noise,
                min(n_labeled, plan.max_labeled or n_labeled),
                method,
                _MEMORY.get(method),
                curator,
                plan.network,
                plan.n_steps,
                warm_up_steps=min(_WARM_UP_STEPS, plan.n_steps),
                rounds=max(1, min(_ROUNDS, plan.n_steps // _LEAST_STEPS_A_ROUND)),
                max_images=plan.max_unlabeled,
            )
            yield Cell(trial, {"method": METHODS[method] + CURATORS[curator], "data": data})


def check(network: str, curators: tuple[str, ...]) -> None:
    """Refuse names that are not known, before any work."""
    require_torch()
    from dips.vision._networks import NETWORKS

    for option, names, known in (("network", [network], list(NETWORKS)), ("curator", curators, list(CURATORS))):
        for name in names:
            if name not in known:
                raise UserError(f"--{option} {name} is not known; there are {', '.join(known)}.")
