"""Adaptive, the default of 0.1.0, under each of the five labelers, beside DIPS: the battery with a third bar."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, over_tables, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS

_COLORS = {"": "PL", "+DIPS": "PL+DIPS", "+adaptive": "PL+adaptive"}


def cells(plan: Plan) -> Iterator[Cell]:
    """Each labeler three times on each table; the first two are the battery's."""
    for seed in grids.seeds(plan):
        for table in grids.paper_tables(plan):
            for title, name in grids.labelers(plan).items():
                base = grids.trial(plan, table, seed, labeler=grids.labeler(plan, name))
                yield from grids.with_and_without(base, title, table=table)
                yield grids.adaptive(base, title, table=table)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracies, and what adaptive adds to no curation and to DIPS, table by table and on average."""
    pairs = [(f"{name}+adaptive", f"{name}{other}") for name in grids.labelers(plan) for other in ("", "+DIPS")]
    return Report(
        {
            "accuracy": means(frame, "method", "table"),
            "mean_difference": paired(over_tables(frame), pairs),
            "differences": paired(frame, pairs, by="table"),
        },
        {"figure": lambda: _draw(frame)},
    )


def _draw(frame: pd.DataFrame) -> object:
    curation = frame["method"].str.extract(r"(\+.*)", expand=False).fillna("")
    mean = frame.assign(
        labeler=frame["method"].str.partition("+")[0], curation=[_COLORS[suffix] for suffix in curation]
    )
    mean = mean.groupby(["labeler", "curation", "seed"], sort=False)["accuracy"].mean().reset_index()
    fig, axes = figures.figure(1, 1, width=6)
    figures.bars(axes[0], mean, "labeler", by="curation")
    axes[0].set_ylabel("test accuracy, mean over tables, %")
    axes[0].grid(axis="x", visible=False)
    handles = axes[0].get_legend_handles_labels()[0]
    fig.legend(handles, ["no curation", "DIPS", "adaptive"], loc="outside lower center", ncols=3)
    return fig


EXPERIMENT = Experiment(
    18,
    "default-labelers",
    "Adaptive, the default of 0.1.0, under every labeler",
    "not in the paper",
    10,
    cells,
    report,
    TABLE_SETS,
    ("labelers",),
)
