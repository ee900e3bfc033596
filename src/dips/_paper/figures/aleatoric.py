"""What the aleatoric uncertainty adds to the confidence (table of appendix C.10)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.figures.selectors import table_by_table
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS

_ALONE = "PL+confidence alone"


def cells(plan: Plan) -> Iterator[Cell]:
    """PL, PL+DIPS, and PL with the confidence alone, on each table."""
    for seed in grids.seeds(plan):
        for table in grids.paper_tables(plan):
            yield from grids.with_and_without(grids.trial(plan, table, seed), table=table)
            yield Cell(
                grids.trial(plan, table, seed, curator={"name": "confidence"}), {"method": _ALONE, "table": table}
            )


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracy beside the paper's."""
    pairs = [("PL+DIPS", _ALONE), (_ALONE, "PL")]
    return table_by_table(frame, "aleatoric", pairs)


EXPERIMENT = Experiment(
    12, "aleatoric", "What the aleatoric uncertainty adds", "Appendix C.10", 10, cells, report, TABLE_SETS
)
