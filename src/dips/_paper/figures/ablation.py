"""Ablation: curate at the start only (A1), in the rounds only (A2), nowhere (A3), or in both (appendix C.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.published import accuracy
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS
from dips._paper.tables.trial import Trial

_A3 = "A3: nowhere (PL)"


def cells(plan: Plan) -> Iterator[Cell]:
    """The four ways, on two quadrants."""
    for seed in plan.seeds:
        for noise in grids.NOISE:
            base = Trial("quadrants", seed, noise=noise)
            dips = replace(base, curator={"name": "dips"})
            yield Cell(dips, {"method": "PL+DIPS", "noise": noise})
            yield Cell(replace(dips, curate="start"), {"method": "A1: start only", "noise": noise})
            yield Cell(replace(dips, curate="rounds"), {"method": "A2: rounds only", "noise": noise})
            yield Cell(base, {"method": _A3, "noise": noise})


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracy by noise, beside the study's."""

    def said(method: str, noise: float) -> Any:
        return accuracy("quadrants", "PL" if method == _A3 else method, noise)

    pairs = [("PL+DIPS", m) for m in frame["method"].unique() if m != "PL+DIPS"]
    return Report(
        {"accuracy": means(frame, "method", "noise", published=said), "differences": paired(frame, pairs, by="noise")},
        {"figure": lambda: _draw(frame)},
    )


def _draw(frame: pd.DataFrame) -> Any:
    fig, (axis,) = figures.figure()
    figures.lines(axis, frame, "noise")
    axis.set_ylabel("test accuracy, %")
    axis.legend()
    return fig


EXPERIMENT = Experiment(
    5, "ablation", "Where to curate: start, rounds, both", "Appendix C.1", 20, cells, report, TABLE_SETS
)
