"""Does it help a good model? Backbones that do not overfit, from clean to very noisy labels, beside two peers.

Peers are scikit-learn's self-training and cleanlab's CleanLearning, both around the same backbone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, over_tables, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS

NOISE = (0.0, 0.1, 0.2, 0.3, 0.4)
BACKBONES = ("xgboost paper", "xgboost tuned", "histgb", "catboost", "mlp")
_METHODS: dict[str, dict[str, Any]] = {
    "Supervised": {"method": "supervised"},
    "Curated, DIPS": {"method": "curated", "curator": {"name": "dips"}},
    "Curated, default": {"method": "curated", "curator": {"name": "auto"}},
    "PL": {},
    "PL+DIPS": {"curator": {"name": "dips"}},
    "PL+default": {"curator": {"name": "auto"}},
    "Self-training (scikit-learn)": {"method": "self_training"},
    "CleanLearning (cleanlab)": {"method": "cleanlab"},
}
_MAX_LABELED, _MAX_UNLABELED = 500, 2000
_HARM = -0.5  # a cell is harmed if it loses more than this, in points of accuracy


def cells(plan: Plan) -> Iterator[Cell]:
    """Every method with every backbone, noise level and table, on at most 500 labeled and 2,000 unlabeled rows."""
    plan = replace(
        plan, max_labeled=plan.max_labeled or _MAX_LABELED, max_unlabeled=plan.max_unlabeled or _MAX_UNLABELED
    )
    for seed in grids.seeds(plan):
        for table in plan.data:
            for backbone in BACKBONES:
                for noise in NOISE:
                    labels = {"table": table, "backbone": backbone, "noise": noise}
                    for name, settings in _METHODS.items():
                        trial = grids.trial(plan, table, seed, noise=noise, backbone=backbone, **settings)
                        yield Cell(trial, {"method": name} | labels)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Mean accuracies, gains over supervised training, cells harmed, and tests of the gain averaged over tables."""
    mean = 100 * frame.pivot_table(index=["backbone", "noise"], columns="method", values="accuracy", sort=False)
    averaged = over_tables(frame, "method", "backbone", "noise")
    averaged["setting"] = [f"{b}, noise {n}" for b, n in zip(averaged["backbone"], averaged["noise"], strict=True)]
    pairs = [(name, "Supervised") for name in _METHODS if name != "Supervised"]
    return Report(
        {
            "gain": gains(frame),
            "accuracy": mean.reset_index().set_index("backbone").reindex(columns=["noise", *_METHODS]),
            "by_table": means(frame[frame["noise"] == 0], "table", "method"),
            "differences": paired(averaged, pairs, by="setting"),
            "harmed": harmed(frame),
        },
        {"figure": lambda: _draw(frame)},
    )


def _gain(frame: pd.DataFrame) -> pd.DataFrame:
    """Points over supervised training, a row a cell: a table, a backbone and a noise level."""
    cell = 100 * frame.pivot_table(
        index=["table", "backbone", "noise"], columns="method", values="accuracy", sort=False
    )
    return cell.sub(cell["Supervised"], axis=0).reindex(columns=[m for m in _METHODS if m != "Supervised"])


def gains(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean gain, cells harmed and the worst cell of each method, and the gain at each noise level."""
    gain = _gain(frame)
    table = pd.DataFrame(
        {
            "mean gain": gain.mean(),
            f"cells harmed, of {len(gain)}": (gain < _HARM).sum(),
            "worst cell": gain.min(),
        }
    )
    for noise, part in gain.groupby(level="noise"):
        table[f"at {noise:.0%}"] = part.mean()
    return table.rename_axis("against supervised")


def harmed(frame: pd.DataFrame) -> pd.DataFrame:
    """The cells that the default curator harms, worst first."""
    gain = _gain(frame)[["Curated, default", "PL+default"]]
    worst = gain.min(axis=1)
    return gain[worst < _HARM].loc[worst[worst < _HARM].sort_values().index].reset_index().set_index("table")


def _draw(frame: pd.DataFrame) -> Any:
    backbones = frame["backbone"].unique().tolist()
    fig, axes = figures.figure(len(backbones), 1, width=3.2, sharey=True)
    gain = _gain(frame).reset_index().melt(["table", "backbone", "noise"], var_name="method", value_name="gain")
    for axis, backbone in zip(axes, backbones, strict=True):
        figures.lines(axis, gain[gain["backbone"] == backbone], "noise", value="gain", scale=1)
        axis.axhline(0, color="#7f7f7f", lw=1)
        axis.set_title(backbone)
    axes[0].set_ylabel("gain over supervised, points")
    figures.legend_below(fig, axes[0])
    return fig


EXPERIMENT = Experiment(
    17, "good-model", "Does it help a good model?", "not in the paper", 3, cells, report, TABLE_SETS
)
