"""Aggressive and permissive thresholds against those of the paper, with the accuracy of the pseudo-labels (C.8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS
from dips._paper.tables.trial import Trial

_CURATORS: dict[str, dict[str, Any]] = {
    "paper's (0.8, adaptive)": {"name": "dips"},
    "aggressive (0.9, 0.1)": {"name": "dips", "conf": 0.9, "aleatoric": 0.1},
    "permissive (0.5, 0.2)": {"name": "dips", "conf": 0.5, "aleatoric": 0.2},
    "adaptive, no threshold": {"name": "adaptive"},
}


def cells(plan: Plan) -> Iterator[Cell]:
    """PL with each pair of thresholds, on two quadrants."""
    for seed in plan.seeds:
        for noise in grids.NOISE:
            for name, curator in _CURATORS.items():
                trial = replace(Trial("quadrants", seed, noise=noise), curator=curator)
                yield Cell(trial, {"method": name, "noise": noise})


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracy of the model, and of its pseudo-labels."""
    first, *others = _CURATORS
    return Report(
        {
            "accuracy": means(frame, "method", "noise"),
            "pseudo_labels": means(frame, "method", "noise", value="pseudo_accuracy"),
            "differences": paired(frame, [(first, other) for other in others], by="noise"),
        },
        {"figure": lambda: _draw(frame)},
    )


def _draw(frame: pd.DataFrame) -> Any:
    fig, axes = figures.figure(2, 1)
    for axis, (value, title) in zip(
        axes, {"accuracy": "test accuracy, %", "pseudo_accuracy": "accuracy of pseudo-labels, %"}.items(), strict=True
    ):
        figures.lines(axis, frame, "noise", value=value)
        axis.set_ylabel(title)
    axes[0].legend(fontsize=7)
    return fig


EXPERIMENT = Experiment(
    10,
    "thresholds",
    "Aggressive, permissive, and the paper's thresholds",
    "Appendix C.8",
    20,
    cells,
    report,
    TABLE_SETS,
)
