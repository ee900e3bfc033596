"""Adaptive, the default of 0.1.0, against DIPS and the other selectors; labels as given, and a fifth made wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from dips._paper.engine.tables import means, over_tables, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.figures.selectors import draw
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS

NOISE = (0.0, 0.2)
_ADAPTIVE = "PL+adaptive"


def cells(plan: Plan) -> Iterator[Cell]:
    """PL with each curator, supervised and curated labels, on each table."""
    for seed in grids.seeds(plan):
        for table in grids.paper_tables(plan):
            for noise in NOISE:
                base = grids.trial(plan, table, seed, noise=noise)
                labels: dict[str, Any] = {"table": table, "noise": noise}
                yield grids.supervised(base, **labels)
                yield grids.curated(base, "adaptive", "Curated by adaptive", **labels)
                yield Cell(base, {"method": "PL"} | labels)
                yield from grids.curators(plan, base, **labels)
                yield grids.adaptive(base, **labels)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracy at each noise level, and adaptive against each of the others, table by table and on average."""
    others = ["Supervised", "PL", *(f"PL+{title}" for title in grids.curator_titles(plan))]
    pairs = [(_ADAPTIVE, other) for other in others]
    tables = {"mean_difference": paired(over_tables(frame, "method", "noise"), pairs, by="noise")}
    for noise in frame["noise"].unique():
        part, name = frame[frame["noise"] == noise], f"noise_{round(100 * noise)}"
        tables[f"accuracy_{name}"] = means(part, "table", "method")
        tables[f"differences_{name}"] = paired(part, pairs, by="table")
    return Report(tables, {f"noise_{round(100 * n)}": _drawing(frame, n) for n in frame["noise"].unique()})


def _drawing(frame: pd.DataFrame, noise: float) -> Callable[[], Any]:
    return lambda: draw(frame[frame["noise"] == noise])


EXPERIMENT = Experiment(
    16,
    "default",
    "Adaptive, the default of 0.1.0, against all others",
    "not in the paper",
    10,
    cells,
    report,
    TABLE_SETS,
    ("curators",),
)
