"""Learning dynamics of single rows: the probability of the given label along the training (appendix A.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from dips._paper.engine import figures
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.tables.sets import TABLE_SETS
from dips._paper.tables.trial import Trial

_BACKBONES = ("xgboost paper", "xgboost sensible")


def cells(plan: Plan) -> Iterator[Cell]:
    """DIPS's curation of noisy labels, by a fast and by a slow learner; one seed tells enough."""
    for backbone in _BACKBONES:
        trial = Trial(
            "quadrants",
            0,
            method="curated",
            backbone=backbone,
            curator={"name": "dips"},
            noise=0.2,
            measure="trajectories",
        )
        yield Cell(trial, {"backbone": backbone})


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """The rows that are drawn, and their lines."""
    lines = [
        {
            "backbone": row["backbone"],
            "row": f"row {i + 1}",
            "judged": "useful" if useful else "suspect",
            "label": "wrong" if wrong else "right",
            "confidence": confidence,
            "aleatoric": aleatoric,
        }
        for _, row in frame.iterrows()
        for i, (useful, wrong, confidence, aleatoric) in enumerate(
            zip(row["useful"], row["wrong"], row["confidence"], row["aleatoric"], strict=True)
        )
    ]
    return Report({"rows": pd.DataFrame(lines).set_index("backbone")}, {"figure": lambda: _draw(frame)})


def _draw(frame: pd.DataFrame) -> Any:
    fig, axes = figures.figure(len(frame), 1, sharey=True)
    for axis, (_, row) in zip(axes, frame.iterrows(), strict=True):
        for along, useful, wrong in zip(row["trajectories"], row["useful"], row["wrong"], strict=True):
            color = "#2a9d6f" if useful else "#d6337f"
            label = f"{'useful' if useful else 'suspect'}, label {'wrong' if wrong else 'right'}"
            axis.plot(range(1, len(along) + 1), along, color=color, ls="--" if wrong else "-", lw=1.2, label=label)
        axis.set(title=row["backbone"], xlabel="checkpoint", ylim=(0, 1))
        handles = dict(zip(*axis.get_legend_handles_labels()[::-1], strict=True))
        axis.legend(handles.values(), handles.keys(), fontsize=7)
    axes[0].set_ylabel("probability of the given label")
    return fig


EXPERIMENT = Experiment(
    15, "learning-dynamics", "How single rows are learned", "Appendix A.3", 1, cells, report, TABLE_SETS
)
