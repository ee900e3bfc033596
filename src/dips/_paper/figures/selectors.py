"""Selectors from the noisy-label literature instead of DIPS (table of appendix C.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, over_tables, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.published import accuracy
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS


def cells(plan: Plan) -> Iterator[Cell]:
    """PL with each selector, on each table."""
    for seed in grids.seeds(plan):
        for table in grids.paper_tables(plan):
            base = grids.trial(plan, table, seed)
            yield Cell(base, {"method": "PL", "table": table})
            yield from grids.curators(plan, base, table=table)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracy beside the paper's, and DIPS, or the first curator asked for, against each of the others."""
    first, *others = [f"PL+{title}" for title in grids.curator_titles(plan)]
    pairs = [(first, other) for other in [*others, "PL"]]
    return table_by_table(frame, "selectors", pairs)


def table_by_table(frame: pd.DataFrame, name: str, pairs: list[tuple[str, str]]) -> Report:
    """Accuracies of the methods on each table beside those published under `name`, and the differences of the pairs."""
    return Report(
        {
            "accuracy": means(frame, "table", "method", published=lambda t, m: accuracy(name, t, m)),
            "mean_difference": paired(over_tables(frame), pairs),
            "differences": paired(frame, pairs, by="table"),
        },
        {"figure": lambda: draw(frame)},
    )


def draw(frame: pd.DataFrame) -> Any:
    """Bars of all methods, a group a table."""
    fig, (axis,) = figures.figure(width=9)
    figures.bars(axis, frame, "table")
    axis.set_ylabel("test accuracy, %")
    figures.legend_below(fig, axis)
    return fig


EXPERIMENT = Experiment(
    6,
    "selectors",
    "Selectors for noisy labels instead of DIPS",
    "Appendix C.2",
    10,
    cells,
    report,
    TABLE_SETS,
    ("curators",),
)
