"""Version 1 keeps pseudo-labels from round to round, Version 2 proposes anew each round (appendix C.7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS
from dips._paper.tables.trial import Trial

_QUADRANTS = "quadrants"


def cells(plan: Plan) -> Iterator[Cell]:
    """Both versions of PL on two quadrants, and Version 2 of the battery."""
    for seed in plan.seeds:
        for noise in grids.NOISE:
            for cell in grids.with_and_without(Trial(_QUADRANTS, seed, noise=noise), noise=noise, table=_QUADRANTS):
                yield from _both(cell)
    for seed in grids.seeds(plan):
        for table in grids.paper_tables(plan):
            yield grids.supervised(grids.trial(plan, table, seed), table=table, noise=0.0)
            for title, name in grids.labelers(plan).items():
                base = grids.trial(plan, table, seed, labeler=grids.labeler(plan, name))
                for cell in grids.with_and_without(base, title, table=table, noise=0.0):
                    yield from _both(cell)


def _both(cell: Cell) -> Iterator[Cell]:
    name = cell.labels["method"]
    yield Cell(cell.trial, cell.labels | {"method": f"{name}, version 1"})
    yield Cell(replace(cell.trial, grow=False), cell.labels | {"method": f"{name}, version 2"})


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracy of both on two quadrants; of Version 2 on tables, with what DIPS adds to it."""
    quadrants, tables = frame[frame["table"] == _QUADRANTS], frame[frame["table"] != _QUADRANTS]
    versions = [(f"{name}, version 1", f"{name}, version 2") for name in ("PL", "PL+DIPS")]
    shown = {
        "quadrants": means(quadrants, "method", "noise"),
        "quadrants_differences": paired(quadrants, versions, by="noise"),
    }
    if len(tables):
        second = [(f"{name}+DIPS, version 2", f"{name}, version 2") for name in grids.labelers(plan)]
        shown |= {
            "tables": means(tables[~tables["method"].str.endswith("version 1")], "method", "table"),
            "tables_differences": paired(tables, [*versions, *second], by="table"),
        }
    return Report(shown, {"figure": lambda: _draw(quadrants)})


def _draw(quadrants: pd.DataFrame) -> Any:
    fig, (axis,) = figures.figure()
    figures.lines(axis, quadrants, "noise")
    axis.set_ylabel("test accuracy, %")
    axis.legend(fontsize=7)
    return fig


EXPERIMENT = Experiment(
    9, "versions", "Keep pseudo-labels, or propose anew", "Appendix C.7", 10, cells, report, TABLE_SETS, ("labelers",)
)
