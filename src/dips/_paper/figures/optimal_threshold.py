"""The best percentile for the confidence threshold, against the error rate of the labels (appendix C.11)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.tables.sets import TABLE_SETS
from dips._paper.tables.trial import Trial

NOISE = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
PERCENTILES = tuple(round(0.05 + 0.1 * k, 2) for k in range(7))


def cells(plan: Plan) -> Iterator[Cell]:
    """PL with a threshold that makes the least confident share of labels suspects at the start, on two quadrants."""
    for seed in plan.seeds:
        for noise in NOISE:
            for percentile in PERCENTILES:
                curator = {"name": "first percentile", "drop": percentile}
                yield Cell(
                    Trial("quadrants", seed, noise=noise, curator=curator), {"noise": noise, "percentile": percentile}
                )


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracy by noise and percentile, and the best percentile of each noise level."""
    return Report(
        {"accuracy": means(frame, "percentile", "noise"), "best": best(frame)}, {"figure": lambda: _draw(frame)}
    )


def best(frame: pd.DataFrame) -> pd.DataFrame:
    """The percentile with the best mean accuracy, and the mean over seeds of the best percentile of each seed."""
    mean = frame.pivot_table(index="noise", columns="percentile", values="accuracy")
    each = frame.loc[frame.groupby(["noise", "seed"])["accuracy"].idxmax()].groupby("noise")["percentile"].mean()
    return pd.DataFrame({"best percentile": mean.idxmax(axis=1), "mean over seeds of the best": each.round(3)})


def _draw(frame: pd.DataFrame) -> Any:
    fig, axes = figures.figure(2, 1)
    optima = best(frame)
    axes[0].plot(optima.index, optima["best percentile"], "o-", color="#d6337f", label="best mean accuracy")
    axes[0].plot(optima.index, optima["mean over seeds of the best"], "o--", color="#2f6fde", label="mean of the best")
    axes[0].set(xlabel="noise", ylabel="optimal percentile of the confidence")
    axes[0].legend()
    figures.lines(axes[1], frame.assign(method="noise " + frame["noise"].astype(str)), "percentile")
    axes[1].set_ylabel("test accuracy, %")
    axes[1].legend(fontsize=7)
    return fig


EXPERIMENT = Experiment(
    13, "optimal-threshold", "The best threshold against the error rate", "Appendix C.11", 20, cells, report, TABLE_SETS
)
