"""Label noise against the number of labels, on two quadrants (appendix C.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS
from dips._paper.tables.trial import Trial

NOISE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.45)
SIZES = (50, 100, 1000)


def cells(plan: Plan) -> Iterator[Cell]:
    """Supervised, PL, PL+DIPS and PL with "adaptive", for 50, 100 and 1000 labels."""
    for seed in plan.seeds:
        for size in SIZES:
            for noise in NOISE:
                base = Trial("quadrants", seed, noise=noise, n_labeled=size, n_unlabeled=1000)
                labels: dict[str, Any] = {"noise": noise, "labels": size}
                yield grids.supervised(base, **labels)
                yield from grids.with_and_without(base, **labels)
                yield grids.adaptive(base, **labels)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracy by noise, one table a size."""
    frame = frame.assign(
        setting=[f"{size} labels, noise {noise}" for size, noise in zip(frame["labels"], frame["noise"], strict=True)]
    )
    tables = {
        f"accuracy_{size}": means(frame[frame["labels"] == size], "method", "noise")
        for size in frame["labels"].unique()
    }
    pairs = [("PL+DIPS", "PL"), ("PL+DIPS", "Supervised"), ("PL+adaptive", "PL+DIPS")]
    return Report(tables | {"differences": paired(frame, pairs, by="setting")}, {"figure": lambda: _draw(frame)})


def _draw(frame: pd.DataFrame) -> Any:
    sizes = frame["labels"].unique().tolist()
    fig, axes = figures.figure(len(sizes), 1, width=3.4, sharey=True)
    for axis, size in zip(axes, sizes, strict=True):
        figures.lines(axis, frame[frame["labels"] == size], "noise")
        axis.set_title(f"{size} labels")
    axes[0].set_ylabel("test accuracy, %")
    axes[0].legend()
    return fig


EXPERIMENT = Experiment(
    7, "noise-and-size", "Label noise against the number of labels", "Appendix C.5", 40, cells, report, TABLE_SETS
)
