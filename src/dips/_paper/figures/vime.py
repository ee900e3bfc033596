"""VIME, self- and semi-supervised, against PL+DIPS (table of appendix C.9)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.figures.selectors import table_by_table
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS

_SELF, _SEMI = "VIME, self-supervised", "VIME, semi-supervised"


def cells(plan: Plan) -> Iterator[Cell]:
    """PL+DIPS, supervised training and both variants of VIME, on each table."""
    for seed in grids.seeds(plan):
        for table in grids.paper_tables(plan):
            base = grids.trial(plan, table, seed)
            yield grids.supervised(base, table=table)
            yield Cell(grids.trial(plan, table, seed, curator={"name": "dips"}), {"method": "PL+DIPS", "table": table})
            yield Cell(grids.trial(plan, table, seed, method="vime_self"), {"method": _SELF, "table": table})
            yield Cell(grids.trial(plan, table, seed, method="vime_semi"), {"method": _SEMI, "table": table})


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracy beside the paper's."""
    pairs = [("PL+DIPS", _SEMI), ("PL+DIPS", _SELF), (_SEMI, _SELF)]
    return table_by_table(frame, "vime", pairs)


EXPERIMENT = Experiment(11, "vime", "VIME against PL+DIPS", "Appendix C.9", 10, cells, report, TABLE_SETS)
