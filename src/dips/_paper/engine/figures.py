"""Figures in one style, as PNG and SVG; matplotlib is the extra ``plot``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dips._paper.engine.statistics import standard_error
from dips._tools.files import make_folder
from dips.exceptions import UserError

COLORS = {
    "Supervised": "#7f7f7f",
    "PL": "#2a9d6f",
    "PL+DIPS": "#d6337f",
    "PL+adaptive": "#2f6fde",
    "PL+small loss": "#e08a1e",
    "PL+fluctuation": "#8a63d2",
    "PL+FINE": "#9c6b4a",
}
_OTHERS = ("#17a2b8", "#b5a300", "#5c3c92", "#00592f", "#8b0033", "#1b2a63", "#b0b0b0", "#f2a0c0")
_STYLE = {
    "svg.hashsalt": "dips",  # the same drawing gives the same file
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
}


def figure(n_columns: int = 1, n_rows: int = 1, width: float = 4.2, height: float = 3.2, **settings: Any) -> Any:
    """Return a figure and its axes, as a flat list."""
    fig = _matplotlib().figure.Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    return fig, np.ravel(fig.subplots(n_rows, n_columns, **settings)).tolist()


def save(draw: Callable[[], Any], folder: Path, name: str) -> None:
    """Draw a figure and write it as PNG and as SVG."""
    make_folder(folder)
    with _matplotlib().rc_context(_STYLE):
        fig = draw()
        fig.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})
        fig.savefig(folder / f"{name}.svg", metadata={"Date": None})


def palette(names: Iterable[Any], own: Mapping[str, str | None] = COLORS) -> dict[str, str]:
    """A color for each method: its own where it has one, the same in every figure; else one that no other has."""
    colors = {str(name): own.get(str(name)) for name in names}
    others = iter(_OTHERS * len(colors))
    return {name: own or next(others) for name, own in colors.items()}


def legend_below(fig: Any, axis: Any, n_columns: int = 4) -> None:
    """One legend for the whole figure, where it covers nothing."""
    handles, labels = axis.get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=n_columns, fontsize=7)


def lines(
    axis: Any, frame: pd.DataFrame, x: str, by: str = "method", value: str = "accuracy", scale: float = 100
) -> None:
    """One line per method, with a band of one standard error over the seeds."""
    colors = palette(frame[by].unique())
    for name, part in frame.groupby(by, sort=False):
        grouped = part.groupby(x)[value]
        mean, error = grouped.mean() * scale, grouped.apply(standard_error).fillna(0) * scale
        axis.plot(mean.index, mean, "o-", ms=3, lw=1.5, color=colors[str(name)], label=str(name))
        axis.fill_between(mean.index, mean - error, mean + error, color=colors[str(name)], alpha=0.15, lw=0)
    axis.set_xlabel(x)


def bars(
    axis: Any, frame: pd.DataFrame, x: str, by: str = "method", value: str = "accuracy", scale: float = 100
) -> None:
    """Groups of bars with standard errors over the seeds."""
    groups, names = frame[x].drop_duplicates().tolist(), frame[by].drop_duplicates().tolist()
    width, colors = 0.8 / len(names), palette(names)
    for position, name in enumerate(names):
        part = frame[frame[by] == name].groupby(x)[value]
        mean, error = part.mean().reindex(groups) * scale, part.apply(standard_error).reindex(groups).fillna(0) * scale
        at = np.arange(len(groups)) + (position - (len(names) - 1) / 2) * width
        axis.bar(at, mean, width, yerr=error, color=colors[str(name)], label=str(name), error_kw={"lw": 0.8})
    axis.set_xticks(range(len(groups)), [str(g) for g in groups], rotation=30, ha="right")
    low = frame[value].min() * scale
    if low >= 0:  # accuracies: the part of the axis where they differ; differences keep their zero
        axis.set_ylim(bottom=max(0, low - 5))


def _matplotlib() -> Any:
    try:
        import matplotlib as mpl
        import matplotlib.figure
    except ModuleNotFoundError:
        raise UserError('Figures need matplotlib: pip install "dips-ssl[plot]".') from None
    return mpl
