"""Across countries: labels from one place, unlabeled rows from others (Fig. 6 and appendix C.3).

The paper's tables are private. Heart disease, four sites in three countries, stands in for them: Hungary and Cleveland
are in turn the place that the labels come from and the model is for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, paired
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.published import accuracy, published
from dips._paper.tables import grids
from dips._paper.tables.sets import TABLE_SETS

_HEART_HOMES = ("hungarian", "cleveland")
_N_IMPORTANT = 4


def homes(plan: Plan) -> list[str]:
    """The places whose tables are there."""
    private = ["cutract"] if {"cutract", "seer"} <= set(plan.data) else []
    return private + (list(_HEART_HOMES) if "heart" in plan.data else [])


def cells(plan: Plan) -> Iterator[Cell]:
    """Supervised, curated labels, PL and UPS with and without DIPS, and the other curators."""
    for seed in grids.seeds(plan):
        for home in homes(plan):
            base = grids.trial(plan, f"cross:{home}", seed)
            yield grids.supervised(base, home=home)
            yield grids.curated(base, home=home)
            yield from grids.with_and_without(replace(base, measure="insight"), home=home)
            yield from (c for c in grids.curators(plan, base, home=home) if c.labels["method"] != "PL+DIPS")
            yield grids.adaptive(replace(base, measure="insight"), home=home)
            yield from grids.with_and_without(replace(base, labeler=grids.labeler(plan, "ups")), "UPS", home=home)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Accuracy, and how near the rows of the last training are to the test rows."""
    seen = frame[frame["method"].isin(["PL", "PL+DIPS", "PL+adaptive"])]
    said = published("cross-country")["divergence"]
    pairs = [("PL+DIPS", "PL"), ("UPS+DIPS", "UPS"), ("PL+adaptive", "PL"), ("Curated labels only", "Supervised")]
    return Report(
        {
            "accuracy": means(frame, "method", "home", published=lambda m, h: accuracy("cross-country", h, m)),
            "differences": paired(frame, pairs, by="home"),
            "divergence": means(
                seen, "method", "home", "divergence", lambda m, h: said.get(m) if h == "cutract" else None, 1, 4
            ),
            "important_features": important(seen),
        },
        {"accuracy": lambda: _draw_accuracy(frame), "insight": lambda: _draw_insight(seen)},
    )


def important(seen: pd.DataFrame) -> pd.DataFrame:
    """The features that weigh most in PL+DIPS, and how far the rows trained on are from the test rows there."""
    lines = []
    for home, part in seen.groupby("home", sort=False):
        for feature in _most_important(part):
            line = {"home": home, "feature": feature}
            for method, rows in part.groupby("method", sort=False):
                line[f"divergence, {method}"] = np.mean([d[feature] for d in rows["divergences"]])
            lines.append(line)
    return pd.DataFrame(lines).set_index("home").round(4).astype(str)


def _most_important(part: pd.DataFrame) -> list[str]:
    weights = pd.DataFrame(part[part["method"] == "PL+DIPS"]["importances"].tolist()).mean()
    return weights.sort_values(ascending=False).index[:_N_IMPORTANT].tolist()


def _draw_accuracy(frame: pd.DataFrame) -> Any:
    fig, (axis,) = figures.figure(width=8)
    figures.bars(axis, frame, "home")
    axis.set_ylabel("test accuracy, %")
    figures.legend_below(fig, axis, 5)
    return fig


def _draw_insight(seen: pd.DataFrame) -> Any:
    """Left, divergence from the test rows on the important features; right, a radar chart of the mean shift."""
    homes_seen = seen["home"].unique().tolist()
    fig, axes = figures.figure(2, len(homes_seen))
    for i, home in enumerate(homes_seen):
        part = seen[seen["home"] == home]
        features = _most_important(part)
        rows = [
            {"feature": f, "method": r["method"], "seed": r["seed"], "divergence": r["divergences"][f]}
            for _, r in part.iterrows()
            for f in features
        ]
        figures.bars(axes[2 * i], pd.DataFrame(rows), "feature", value="divergence", scale=1)
        axes[2 * i].set(title=f"{home}: divergence from the test rows", ylim=(0, None))
        axes[2 * i].legend(fontsize=7)
        _draw_radar(fig, axes[2 * i + 1], part, features, f"{home}: distance of the means, in test s.d.")
    return fig


def _draw_radar(fig: Any, axis: Any, part: pd.DataFrame, features: list[str], title: str) -> None:
    place = axis.get_subplotspec()
    axis.remove()
    radar = fig.add_subplot(place, projection="polar")
    angles = np.linspace(0, 2 * np.pi, len(features), endpoint=False)
    colors = figures.palette(part["method"].unique())
    for method, rows in part.groupby("method", sort=False):
        distance = [np.mean([abs(s[f]) for s in rows["shifts"]]) for f in features]
        closed = [*distance, distance[0]]
        radar.plot([*angles, angles[0]], closed, color=colors[str(method)], label=method)
    radar.set_xticks(angles, features, fontsize=7)
    radar.tick_params(axis="y", labelsize=5)
    radar.set_title(title, fontsize=8)


EXPERIMENT = Experiment(
    4,
    "cross-country",
    "Labels from one country, unlabeled rows from others",
    "Figure 6, appendix C.3",
    10,
    cells,
    report,
    TABLE_SETS,
    ("curators",),
)
