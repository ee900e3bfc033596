"""CIFAR-100N: a hundred classes, 1000 labels that people gave; top-1 and top-5 accuracy (appendix C.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from dips._paper.engine.tables import means
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.images import grids, reports
from dips._paper.images.sets import IMAGE_SETS


def cells(plan: Plan) -> Iterator[Cell]:
    """FixMatch with each curator."""
    yield from grids.compared(plan, "cifar100n", "noisy", 1000)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Both accuracies; the paper has figures without values."""
    compared = reports.compared(frame)
    return replace(compared, tables=compared.tables | {"top_5": means(frame, "method", "data", value="top5")})


EXPERIMENT = Experiment(
    22, "cifar100n", "CIFAR-100N, 1000 labels, FixMatch", "Appendix C.4", 3, cells, report, IMAGE_SETS, ("curators",)
)
