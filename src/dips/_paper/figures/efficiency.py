"""Data efficiency: accuracy when only a part of the labels is there (Fig. 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, over_tables, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS

SHARES = tuple(round(0.1 * i, 1) for i in range(1, 11))
_LABELERS = {"PL": "greedy", "UPS": "ups"}


def cells(plan: Plan) -> Iterator[Cell]:
    """PL and UPS, alone and with each curator, for shares of the labels from a tenth to all."""
    for seed in grids.seeds(plan):
        for table in grids.paper_tables(plan):
            for share in SHARES:
                for title, name in _LABELERS.items():
                    base = grids.trial(plan, table, seed, share=share, labeler=grids.labeler(plan, name))
                    yield Cell(base, {"method": title, "table": table, "share": share, "labeler": title})
                    yield from grids.curators(plan, base, title, table=table, share=share, labeler=title)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Gain over the vanilla method with all labels, averaged over tables, and the share of labels that reaches it."""
    gains = relative(frame)
    return Report(
        {
            "gain": means(gains, "method", "share", value="gain"),
            "labels_needed": needed(gains),
            "differences": paired(
                over_tables(frame, "method", "share"), [(f"{n}+DIPS", n) for n in _LABELERS], by="share"
            ),
        },
        {"figure": lambda: _draw(gains)},
    )


def relative(frame: pd.DataFrame) -> pd.DataFrame:
    """Accuracy less the mean of the same labeler without curation and with all labels, averaged over tables."""
    vanilla = frame[(frame["method"] == frame["labeler"]) & (frame["share"] == 1.0)]
    best = vanilla.groupby(["labeler", "table"])["accuracy"].mean().rename("best").reset_index()
    joined = frame.merge(best, on=["labeler", "table"])
    joined["gain"] = joined["accuracy"] - joined["best"]
    return joined.groupby(["labeler", "method", "share", "seed"], sort=False)["gain"].mean().reset_index()


def needed(gains: pd.DataFrame) -> pd.DataFrame:
    """Least share of the labels at which a method does as well as the vanilla one with all of them."""
    mean = gains.pivot_table(index="method", columns="share", values="gain", sort=False)
    mean = mean.round(9)  # with all labels the vanilla one gains nothing, to the last digits
    reached = {m: next((s for s in sorted(row.index) if row[s] >= 0), np.nan) for m, row in mean.iterrows()}
    table = pd.DataFrame({"share of labels needed": pd.Series(reached)}).rename_axis("method")
    table["paper"] = ["0.3 to 0.4" if str(m).endswith("+DIPS") else "" for m in table.index]
    return table


def _draw(gains: pd.DataFrame) -> Any:
    fig, axes = figures.figure(2, 1)
    for axis, name in zip(axes, _LABELERS, strict=True):
        part = gains[gains["labeler"] == name]
        part = part.assign(method=part["method"].str.replace(name, "PL", n=1))
        figures.lines(axis, part, "share", value="gain")
        axis.axhline(0, color="#7f7f7f", ls=":", lw=1)
        axis.set(title=name, xlabel="share of the labels", ylabel="gain over all labels, uncurated, points")
    figures.legend_below(fig, axes[0], n_columns=5)
    return fig


EXPERIMENT = Experiment(
    3, "efficiency", "Accuracy with some of the labels", "Figure 5", 10, cells, report, TABLE_SETS, ("curators",)
)
