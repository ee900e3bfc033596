"""Two quadrants: label noise spreads through pseudo-labels, and curation stops it (Fig. 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.published import accuracy
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS
from dips._paper.tables.trial import Trial

_PICTURE = "picture"
_PICTURE_NOISE = 0.3


def cells(plan: Plan) -> Iterator[Cell]:
    """Supervised, PL, and PL with every curator, for each noise level; two pictures of the first seed."""
    for seed in plan.seeds:
        for noise in grids.NOISE:
            base = Trial("quadrants", seed, noise=noise)
            yield grids.supervised(base, noise=noise)
            yield Cell(base, {"method": "PL", "noise": noise})
            yield from grids.curators(plan, base, noise=noise)
            yield grids.adaptive(base, noise=noise)
    pictured = Trial("quadrants", 0, noise=_PICTURE_NOISE, measure=_PICTURE)
    yield from (Cell(c.trial, c.labels | {"kind": _PICTURE}) for c in grids.with_and_without(pictured))


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracy by noise beside the study's, gains over PL, and the four panels."""
    pictures, results = _apart(frame)
    table = means(results, "method", "noise", published=lambda m, noise: accuracy("quadrants", m, noise))
    pairs = [(m, "PL") for m in results["method"].unique() if m not in ("PL", "Supervised")]
    return Report(
        {"accuracy": table, "differences": paired(results, [*pairs, ("PL", "Supervised")], by="noise")},
        {"figure": lambda: _draw(pictures, results)},
    )


def _apart(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    is_picture = frame["kind"] == _PICTURE if "kind" in frame else pd.Series(False, frame.index)
    return frame[is_picture], frame[~is_picture]


def _draw(pictures: pd.DataFrame, results: pd.DataFrame) -> Any:
    fig, axes = figures.figure(2, 2)
    for axis, (_, picture) in zip(axes[:2], pictures.iterrows(), strict=False):
        _draw_rows(axis, picture)
    three = results[results["method"].isin(["Supervised", "PL", "PL+DIPS"])]
    others = results[~results["method"].isin(["Supervised", "PL"])]
    for axis, part in zip(axes[2:], (three, others), strict=True):
        figures.lines(axis, part, "noise")
        axis.set_ylabel("test accuracy, %")
        axis.legend()
    return fig


def _draw_rows(axis: Any, picture: pd.Series) -> None:
    rows, labels = np.array(picture["rows"]), np.array(picture["labels"])
    for label, color in ((-1, "#cccccc"), (0, "#2f6fde"), (1, "#e08a1e")):
        axis.scatter(*rows[labels == label].T, s=6, color=color, lw=0)
    wrong = np.array(picture["wrong"])
    axis.scatter(*rows[wrong].T, s=16, facecolors="none", edgecolors="#c00000", lw=0.8)
    axis.set_title(f"{picture['method']}: rows of the last training; circled: wrong label", fontsize=8)


EXPERIMENT = Experiment(
    1, "quadrants", "Two quadrants under label noise", "Figure 3", 20, cells, report, TABLE_SETS, ("curators",)
)
