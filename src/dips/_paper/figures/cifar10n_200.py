"""CIFAR-10N with 200 labels: FixMatch without and with curation (appendix C.4)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.images import grids, reports
from dips._paper.images.sets import IMAGE_SETS


def cells(plan: Plan) -> Iterator[Cell]:
    """FixMatch with each curator."""
    yield from grids.compared(plan, "cifar10n", "worse", 200)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracies; the paper has a figure without values."""
    return reports.compared(frame)


EXPERIMENT = Experiment(
    23, "cifar10n-200", "CIFAR-10N, 200 labels, FixMatch", "Appendix C.4", 3, cells, report, IMAGE_SETS, ("curators",)
)
