"""Clean labels: two moons without any label noise (table of appendix C.12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.published import published
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS
from dips._paper.tables.trial import Trial

_COLUMN = "test accuracy, %"


def cells(plan: Plan) -> Iterator[Cell]:
    """100 labels a class, 800 unlabeled rows."""
    for seed in plan.seeds:
        base = Trial("moons", seed, n_labeled=200, n_unlabeled=800)
        yield grids.supervised(base, what=_COLUMN)
        yield from grids.with_and_without(base, what=_COLUMN)
        yield grids.adaptive(base, what=_COLUMN)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracy beside the paper's."""
    said = published("clean-labels")["accuracy"]
    pairs = [("PL+DIPS", "PL"), ("PL+DIPS", "Supervised"), ("PL+adaptive", "Supervised")]
    return Report(
        {
            "accuracy": means(frame, "method", "what", published=lambda m, c: said.get(m)),
            "differences": paired(frame, pairs),
        },
        {"figure": lambda: _draw(frame)},
    )


def _draw(frame: pd.DataFrame) -> Any:
    fig, (axis,) = figures.figure()
    figures.bars(axis, frame.assign(data="two moons"), "data")
    axis.set_ylabel(_COLUMN)
    axis.legend()
    return fig


EXPERIMENT = Experiment(
    14, "clean-labels", "Two moons without label noise", "Appendix C.12", 10, cells, report, TABLE_SETS
)
