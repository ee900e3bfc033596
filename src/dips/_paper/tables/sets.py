"""The tables of the paper, as a kind of data that experiments are run on."""

from __future__ import annotations

from dips._paper.experiment import DataSets, Plan
from dips._paper.tables.splits import table, tables_of
from dips.curators._choose import resolve_curator
from dips.datasets import available
from dips.labelers import LABELERS


def _check(plan: Plan) -> None:
    for name in plan.labelers:
        LABELERS.resolve(name)
    for name in plan.curators:
        resolve_curator(name, "tables")


TABLE_SETS = DataSets("tables", available, tables_of, table, _check)
