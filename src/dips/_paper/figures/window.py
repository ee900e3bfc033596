"""Which part of the training to use: all, or without its first quarter, half, three quarters (appendix C.6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, over_tables, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS

_STARTS = {"all": 0.0, "without the first 25 %": 0.25, "without the first 50 %": 0.5, "without the first 75 %": 0.75}


def cells(plan: Plan) -> Iterator[Cell]:
    """PL+DIPS with four windows, on each table."""
    for seed in grids.seeds(plan):
        for table in grids.paper_tables(plan):
            for name, start in _STARTS.items():
                window = {"window": [start, 1.0]} if start else {}
                yield Cell(
                    grids.trial(plan, table, seed, curator={"name": "dips"} | window), {"method": name, "table": table}
                )


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracy, and the difference to the whole training, averaged over tables seed by seed."""
    averaged = over_tables(frame)
    pairs = [(name, "all") for name in _STARTS if name != "all"]
    return Report(
        {
            "accuracy": means(frame, "table", "method"),
            "mean_difference": paired(averaged, pairs),
            "differences": paired(frame, pairs, by="table"),
        },
        {"figure": lambda: _draw(averaged)},
    )


def _draw(averaged: pd.DataFrame) -> Any:
    whole = averaged[averaged["method"] == "all"].set_index("seed")["accuracy"]
    others = averaged[averaged["method"] != "all"]
    others = others.assign(difference=others["accuracy"] - others["seed"].map(whole), window=others["method"])
    fig, (axis,) = figures.figure()
    figures.bars(axis, others.assign(method="PL+DIPS"), "window", value="difference")
    axis.set(ylabel="difference to all iterations, points", ylim=(None, None))
    axis.axhline(0, color="#7f7f7f", lw=1)
    return fig


EXPERIMENT = Experiment(8, "window", "Which part of the training to use", "Appendix C.6", 10, cells, report, TABLE_SETS)
