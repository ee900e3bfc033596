"""CIFAR-10N: FixMatch on 1000 labels that people gave, 40 % of them wrong, without and with curation (section 5.5)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.images import grids, reports
from dips._paper.images.sets import IMAGE_SETS
from dips._paper.published import published


def cells(plan: Plan) -> Iterator[Cell]:
    """FixMatch with each curator."""
    yield from grids.compared(plan, "cifar10n", "worse", 1000)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracies beside the paper's."""
    said = published("cifar10n")["accuracy"]
    return reports.compared(frame, lambda method, data: said.get(method))


EXPERIMENT = Experiment(
    20,
    "cifar10n",
    "CIFAR-10N, 1000 labels, FixMatch",
    "Section 5.5, figure 7",
    3,
    cells,
    report,
    IMAGE_SETS,
    ("curators",),
)
