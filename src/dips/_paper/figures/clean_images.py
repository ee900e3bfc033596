"""Clean labels: what the default does to images of which no label is wrong. The promise is no harm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from dips._paper.engine.tables import means, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.images import grids, reports
from dips._paper.images.sets import IMAGE_SETS

_SETS = ("cifar10n", "eurosat")
_LABELS = (1000, 200, 40)


def cells(plan: Plan) -> Iterator[Cell]:
    """FixMatch and FreeMatch, without a curator and with the default, with many labels and with few."""
    plan = replace(plan, curators=plan.curators or ("none", "auto"))
    for data in _SETS:
        for method in grids.METHODS:
            for n_labeled in dict.fromkeys(min(n, plan.max_labeled or n) for n in _LABELS):
                for cell in grids.compared(plan, data, 0.0, n_labeled, method):
                    yield replace(cell, labels=cell.labels | {"data": f"{data}, {n_labeled} labels"})


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracies, and what each curator adds to its method."""
    methods = frame["method"].unique()
    pairs = [(method, method.partition("+")[0]) for method in methods if "+" in method]
    tables = {
        "accuracy": means(frame, "method", "data"),
        "differences": paired(frame, pairs, by="data"),
        "seeds": reports.by_seed(frame),
        "curation": reports.curation(frame),
    }
    curves = {"curves": lambda: reports.draw_curves(frame)}
    return Report({name: table for name, table in tables.items() if len(table)}, curves)


EXPERIMENT = Experiment(
    27,
    "clean-images",
    "Clean labels, FixMatch and FreeMatch",
    "not in the paper",
    3,
    cells,
    report,
    IMAGE_SETS,
    ("curators",),
)
