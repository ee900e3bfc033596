"""Methods that the image experiments compare, as cells with the names that tables and figures use."""

from __future__ import annotations

from collections.abc import Iterator

from dips._paper.experiment import Cell, Plan
from dips._paper.images.trial import ImageTrial

METHODS = {"fixmatch": "FixMatch", "freematch": "FreeMatch"}
_CURATORS = ("none", "percentile", "auto")  # percentile is the authors' rule for images
_PRETRAINED = ("none", "auto")
_TITLES = {"none": "", "auto": "+default", "dips": "+DIPS thresholds"}
_MEMORY = {"freematch": 0.99}  # its paper's 0.999 takes a thousand steps to rise, too long for short schedules
_WARM_UP_STEPS, _ROUNDS, _LEAST_STEPS_A_ROUND = 1000, 20, 5


def compared(plan: Plan, data: str, noise: str | float, n_labeled: int, method: str = "fixmatch") -> Iterator[Cell]:
    """A method with each curator of the plan on a set, if it is there, with each seed."""
    if data not in plan.data:
        return
    for seed in plan.seeds:
        for curator, pretrained in arms(plan):
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
                pretrained=pretrained,
                max_images=plan.max_unlabeled,
            )
            title = METHODS[method] + "+pretraining" * pretrained + title_of(curator)
            yield Cell(trial, {"method": title, "data": data})


def arms(plan: Plan) -> Iterator[tuple[str, bool]]:
    """Each curator, and whether the network is pretrained, which only none and the default are compared with."""
    for curator in curators(plan):
        yield curator, False
    for curator in curators(plan):
        if curator in _PRETRAINED:
            yield curator, True


def curators(plan: Plan) -> tuple[str, ...]:
    """Names of the curators to compare: those asked for, or none, the authors' and the default."""
    return plan.curators or _CURATORS


def title_of(curator: str) -> str:
    """What is added to the name of the method.

    Examples
    --------
    >>> title_of("auto"), title_of("small_loss"), title_of("none")
    ('+default', '+small loss', '')
    """
    return _TITLES.get(curator, "+" + curator.replace("_", " "))
