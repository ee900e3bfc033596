"""Four more sets, satellite and medical images, with 20 % symmetric noise (appendix C.4)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.images import grids, reports
from dips._paper.images.sets import IMAGE_SETS

SETS = ("eurosat", "tissuemnist", "organamnist", "pathmnist")
_NOISE, _N_LABELED = 0.2, 200


def cells(plan: Plan) -> Iterator[Cell]:
    """FreeMatch with each curator on each set that is there."""
    for data in SETS:
        yield from grids.compared(plan, data, _NOISE, _N_LABELED, "freematch")


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracies on each set; the paper has a figure without values, of FixMatch."""
    return reports.compared(frame)


EXPERIMENT = Experiment(
    25,
    "more-images",
    "Satellite and medical images, 200 labels, FreeMatch",
    "Appendix C.4",
    3,
    cells,
    report,
    IMAGE_SETS,
    ("curators",),
)
