"""Draw what benchmarks/vision_accuracy.py logged: accuracy over time, and wrong labels among those kept.

python benchmarks/vision_curves.py log.jsonl --steps-a-second 297 --out docs/images/vision_curves.png
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

NAMES = {"none": "FixMatch", "percentile": "+ authors' percentile rule", "auto": "+ default curator"}
COLORS = {"none": "#888888", "percentile": "#d98c3f", "auto": "#2c6fbb"}


def draw(records: list[dict], steps_a_second: float, out: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for arm in dict.fromkeys(r["arm"] for r in records):
        style = {"color": COLORS.get(arm), "lw": 2, "label": NAMES.get(arm, arm)}
        curves(left, [r for r in records if r["arm"] == arm and "accuracy" in r], "step", "accuracy", style)
        judged = [r for r in records if r["arm"] == arm and r["event"] == "curation"]
        if judged:
            curves(right, judged, "round", "wrong_kept", style)
    seconds = left.secondary_xaxis("top", functions=(lambda s: s / steps_a_second, lambda t: t * steps_a_second))
    seconds.set_xlabel("seconds of a run alone on the GPU, warm-up not counted")
    left.set(xlabel="steps", ylabel="test accuracy, %", ylim=(40, 90))
    right.set(xlabel="round", ylabel="wrong labels among those kept, %", ylim=(0, 45))
    right.axhline(next(share_wrong(r) for r in records if r["event"] == "curation"), color="black", lw=1, ls=":")
    left.legend(frameon=False, loc="lower right")
    left.spines["right"].set_visible(False)
    right.spines[["right", "top"]].set_visible(False)
    right.xaxis.get_major_locator().set_params(integer=True)
    figure.savefig(out, dpi=110)


def curves(axes: plt.Axes, records: list[dict], x: str, y: str, style: dict) -> None:
    """Draw a thin line a seed and their mean."""
    seeds = list(dict.fromkeys(r["seed"] for r in records))
    lines = [np.array([(r[x], 100 * r[y]) for r in records if r["seed"] == seed]) for seed in seeds]
    for line in lines:
        axes.plot(*line.T, color=style["color"], lw=0.6, alpha=0.6)
    axes.plot(*np.mean(lines, axis=0).T, **style)


def share_wrong(record: dict) -> float:
    """Of all labels, in percent."""
    n_wrong = record["n_kept"] * record["wrong_kept"] + record["n_out"] * record["wrong_dropped"]
    return 100 * n_wrong / (record["n_kept"] + record["n_out"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log", type=Path)
    parser.add_argument("--steps-a-second", type=float, default=297.0)
    parser.add_argument("--out", type=Path, default=Path("vision_curves.png"))
    options = parser.parse_args()
    draw([json.loads(line) for line in options.log.read_text().splitlines()], options.steps_a_second, options.out)


if __name__ == "__main__":
    main()
