"""The battery: five labelers, without and with DIPS, on all tables (Fig. 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, over_tables, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.published import accuracy, published
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS


def cells(plan: Plan) -> Iterator[Cell]:
    """Supervised, supervised on curated labels, and each labeler twice, on each table."""
    for seed in grids.seeds(plan):
        for table in grids.paper_tables(plan):
            yield grids.supervised(grids.trial(plan, table, seed), table=table)
            yield grids.curated(grids.trial(plan, table, seed), table=table)
            for title, name in grids.labelers(plan).items():
                base = grids.trial(plan, table, seed, labeler=grids.labeler(plan, name))
                yield from grids.with_and_without(base, title, table=table)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracies beside the paper's and its code's, what DIPS adds, and how much the labelers differ."""
    pairs = [(f"{title}+DIPS", title) for title in grids.labelers(plan)]
    return Report(
        {
            "accuracy": means(frame, "method", "table", published=lambda m, t: accuracy("battery", t, m)),
            "authors_code": beside_the_code(frame),
            "mean_difference": paired(over_tables(frame), pairs),
            "differences": paired(frame, pairs, by="table"),
            "variance": spread_of_labelers(frame),
        },
        {"figure": lambda: _draw(frame)},
    )


def beside_the_code(frame: pd.DataFrame) -> pd.DataFrame:
    """The tables on which the authors' code was run with the version of XGBoost that is used here."""
    part = frame[frame["table"].isin(list(published("authors_code")["accuracy"]))]
    return means(part, "method", "table", published=lambda m, t: accuracy("authors_code", t, m), source="code")


def spread_of_labelers(frame: pd.DataFrame) -> pd.DataFrame:
    """Variance between the labelers' mean accuracies, table by table and on average."""
    labelers = _labelers(frame)
    mean = 100 * frame.pivot_table(index="table", columns="method", values="accuracy", sort=False)
    variance = pd.DataFrame(
        {
            "without DIPS": mean.reindex(columns=labelers).var(axis=1, ddof=1),
            "with DIPS": mean.reindex(columns=[f"{name}+DIPS" for name in labelers]).var(axis=1, ddof=1),
        }
    )
    variance.loc["mean"] = variance.mean()
    said = published("battery")["variance"]
    variance.loc["mean, paper"] = [said["without"], said["with"]]
    return variance.rename_axis("table")


def _labelers(frame: pd.DataFrame) -> list[str]:
    return [m.removesuffix("+DIPS") for m in frame["method"].unique() if m.endswith("+DIPS")]


def _draw(frame: pd.DataFrame) -> Any:
    tables = frame["table"].unique().tolist()
    n_columns = min(3, len(tables))
    fig, axes = figures.figure(n_columns, -(-len(tables) // n_columns), width=3.6, height=2.6)
    for axis, table in zip(axes, tables, strict=False):
        part = frame[frame["table"] == table]
        part = part.assign(
            labeler=part["method"].str.removesuffix("+DIPS"),
            curation=part["method"].str.endswith("+DIPS").map({True: "PL+DIPS", False: "PL"}),
        )
        figures.bars(axis, part[part["labeler"].isin(_labelers(frame))], "labeler", by="curation")
        axis.axhline(100 * part[part["method"] == "Supervised"]["accuracy"].mean(), color="#7f7f7f", ls="--", lw=1)
        axis.set_title(table)
        axis.grid(axis="x", visible=False)
    for axis in axes[len(tables) :]:
        axis.set_visible(False)
    handles = [*axes[0].get_legend_handles_labels()[0], axes[0].lines[0]]
    fig.legend(handles, ["without", "with DIPS", "supervised"], loc="outside lower center", ncols=3)
    fig.supylabel("test accuracy, %")
    return fig


EXPERIMENT = Experiment(
    2, "battery", "Five labelers without and with DIPS", "Figure 4", 10, cells, report, TABLE_SETS, ("labelers",)
)
