"""Images of CIFAR-10N whose labels are suspects: what they show, and what people said they show (section 5.5).

Its trials are those of ``cifar10n`` with the first seed.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dips._paper.engine import figures
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.figures import cifar10n
from dips._paper.images import grids, reports
from dips._paper.images.sets import IMAGE_SETS
from dips._tools.arrays import Array

_RIGHT, _WRONG = "#2a9d6f", "#d6337f"


def cells(plan: Plan) -> Iterator[Cell]:
    """CIFAR-10N with each curator that finds suspects; one seed is enough."""
    curators = tuple(name for name in grids.curators(plan) if name != "none")
    if curators:
        yield from cifar10n.cells(replace(plan, n_seeds=1, curators=curators))


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """How many of the suspects are wrong, and a picture for each curator."""
    drawn = {_file(row["method"]): _drawing(row) for _, row in frame.iterrows() if row["examples"]}
    return Report({"curation": reports.curation(frame)}, drawn)


def _file(method: str) -> str:
    return method.partition("+")[2].lower().replace(" ", "_")


def _drawing(row: pd.Series) -> Callable[[], Any]:
    return lambda: draw(row["method"], row["examples"])


def draw(method: str, examples: dict[str, Any]) -> Any:
    """A grid of images, the label with the lowest confidence first; labels that were right have a green frame."""
    tiles, n_columns = tiles_of(examples), examples["tiles_a_row"]
    fig, axes = figures.figure(n_columns, -(-len(tiles) // n_columns), width=1.15, height=1.45)
    for axis in axes:
        axis.set_axis_off()
    for axis, tile, given, true in zip(axes, tiles, examples["given"], examples["true"], strict=False):
        axis.set_axis_on()
        axis.imshow(tile, cmap="gray")
        axis.grid(visible=False)
        axis.set(xticks=[], yticks=[])
        is_right = given == true
        axis.set_xlabel(f"{given}\nright" if is_right else f"{given}\nis: {true}", fontsize=7, labelpad=2)
        axis.xaxis.label.set_color(_RIGHT if is_right else "black")
        for spine in axis.spines.values():
            spine.set(visible=True, color=_RIGHT if is_right else _WRONG, linewidth=2)
    n_right = sum(given == true for given, true in zip(examples["given"], examples["true"], strict=True))
    fig.suptitle(
        f"{method}: suspects, those with the lowest confidence first. "
        f"{len(tiles) - n_right} of these {len(tiles)} are wrong (red).",
        fontsize=9,
    )
    return fig


def tiles_of(examples: dict[str, Any]) -> list[Array]:
    """The single images of a stored mosaic."""
    from matplotlib.image import imread

    mosaic = imread(io.BytesIO(base64.b64decode(examples["mosaic"])), format="png")
    height, width = examples["tile"]
    rows = np.split(mosaic, mosaic.shape[0] // height)
    tiles = [tile for row in rows for tile in np.split(row, row.shape[1] // width, axis=1)]
    return tiles[: len(examples["rows"])]


EXPERIMENT = Experiment(
    26,
    "suspect-images",
    "Suspects of CIFAR-10N",
    "Section 5.5, figure 8b",
    1,
    cells,
    report,
    IMAGE_SETS,
    ("curators",),
)
