"""FreeMatch in the place of FixMatch, on CIFAR-10N with 1000 labels (appendix C.4)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.images import grids, reports
from dips._paper.images.sets import IMAGE_SETS


def cells(plan: Plan) -> Iterator[Cell]:
    """FreeMatch with each curator."""
    yield from grids.compared(plan, "cifar10n", "worse", 1000, "freematch")


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracies; the paper has a figure without values."""
    return reports.compared(frame)


EXPERIMENT = Experiment(
    24, "freematch", "CIFAR-10N, 1000 labels, FreeMatch", "Appendix C.4", 3, cells, report, IMAGE_SETS, ("curators",)
)
