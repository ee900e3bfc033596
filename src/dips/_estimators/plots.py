"""Pictures of labels and models, with matplotlib; each function draws on axes and returns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dips._tools.arrays import Array
from dips.exceptions import UserError

_USEFUL, _SUSPECT, _PSEUDO, _OTHER = "#2b6cb0", "#d9480f", "#2f9e78", "#98a2b0"


def draw_map(confidence: Array, uncertainty: Array, is_suspect: Array, is_pseudo: Array, ax: Any = None) -> Any:
    """Draw labels by how they were learned: confidence upwards, uncertainty to the right."""
    ax = _axes(ax)
    groups = (
        ("useful pseudo-label", is_pseudo & ~is_suspect, _PSEUDO, "s"),
        ("useful label", ~is_pseudo & ~is_suspect, _USEFUL, "o"),
        ("suspect label", is_suspect & ~is_pseudo, _SUSPECT, "x"),
    )
    for name, mask, color, marker in groups:
        if mask.any():
            ax.scatter(
                uncertainty[mask], confidence[mask], s=18, c=color, marker=marker, label=f"{name} ({mask.sum():,})",
                alpha=0.9 if marker == "x" else 0.5,
            )  # fmt: skip
    ax.set(xlabel="uncertainty", ylabel="confidence in the label", xlim=(0, 0.255), ylim=(0, 1))
    ax.legend(loc="center left")  # no label lies there
    return ax


def draw_curves(curves: Array, names: Sequence[str], ax: Any = None) -> Any:
    """Draw the probability of labels (n, checkpoints) along the training."""
    ax = _axes(ax)
    along = np.linspace(0, 1, curves.shape[1])
    for curve, name in zip(curves, names, strict=True):
        ax.plot(along, curve, label=name)
    ax.set(xlabel="share of the training", ylabel="probability of the label", ylim=(0, 1))
    if len(names) <= 10:
        ax.legend()
    return ax


def draw_calibration(lines: Mapping[str, Sequence[Mapping[str, float]]], of: str, ax: Any = None) -> Any:
    """Draw what was said against what was seen; a line is a list of records of said, seen, low and high."""
    ax = _axes(ax)
    ax.plot([0, 1], [0, 1], color=_OTHER, linestyle="--", linewidth=1)
    for (name, records), color in zip(lines.items(), (_USEFUL, _OTHER, _PSEUDO, _SUSPECT), strict=False):
        keys = ("said", "seen", "low", "high")
        said, seen, low, high = (np.array([r.get(k, r["seen"]) for r in records]) for k in keys)
        ax.errorbar(said, seen, yerr=(seen - low, high - seen), color=color, marker="o", capsize=3, label=name)
    ax.set(xlabel=f"probability of {of}", ylabel="share seen", xlim=(0, 1), ylim=(0, 1))
    ax.legend()
    return ax


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise UserError('Plots need matplotlib; install it with pip install "dips-ssl[plot]".') from error
    return plt.subplots(layout="constrained")[1]
