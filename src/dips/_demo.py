"""The main task on data that comes with scikit-learn: few labels, some of them wrong, and many unlabeled rows.

Run it with ``python -m dips._demo``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from dips._estimators.curated import CuratedClassifier
from dips._estimators.pseudo_label import PseudoLabelClassifier
from dips._tools.arrays import Array
from dips._tools.progress import ProgressBars
from dips.datasets import flip_labels, make_quadrants

N_SEEDS = 8
N_LABELED = 100
NOISE = 0.3
METHODS = ("supervised", "plain pseudo-labeling", "dips, the default")
PICTURE = Path("demo.png")


@dataclass(frozen=True)
class DemoTrial:
    """One seed on one table: accuracy of each method, and how the curator did on the labels."""

    accuracy: dict[str, float]
    samples: pd.DataFrame  # the account of the labeled rows
    flipped: Array  # (n_labeled,) which of them are wrong

    @property
    def precision(self) -> float:
        """Share of the suspects whose label is wrong."""
        is_suspect = ~self.samples["useful"].to_numpy()
        return float(self.flipped[is_suspect].mean()) if is_suspect.any() else np.nan

    @property
    def recall(self) -> float:
        """Share of the wrong labels that are suspects."""
        return float((~self.samples["useful"].to_numpy())[self.flipped].mean())


def run_trial(X: Array, y: Array, seed: int) -> DemoTrial:
    """Label a hundred rows, flip three in ten, and compare."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    noisy, flipped = flip_labels(y_train[:N_LABELED], NOISE, random_state=seed)
    X_labeled, X_unlabeled = X_train[:N_LABELED], X_train[N_LABELED:]
    supervised = CuratedClassifier(curator="none", random_state=seed).fit(X_labeled, noisy)
    plain = PseudoLabelClassifier(curator="none", random_state=seed).fit(X_labeled, noisy, X_unlabeled)
    default = PseudoLabelClassifier(random_state=seed).fit(X_labeled, noisy, X_unlabeled)
    scores = [model.score(X_test, y_test) for model in (supervised, plain, default)]
    return DemoTrial(dict(zip(METHODS, scores, strict=True)), default.samples_[:N_LABELED], flipped)


def main() -> None:
    """Print the tables and draw the picture."""
    pyplot = _pyplot()
    console = Console()
    tables = {
        "breast cancer": load_breast_cancer(return_X_y=True),
        "two quadrants": make_quadrants(1000, random_state=0),
    }
    work = [(name, seed) for name in tables for seed in range(N_SEEDS)]
    trials: dict[str, list[DemoTrial]] = {name: [] for name in tables}
    with ProgressBars(title="training", transient=True) as bars:
        for n_done, (name, seed) in enumerate(work):
            bars.on_step(n_done, len(work))
            X, y = tables[name]
            trials[name].append(run_trial(X, y, seed))
    console.print(_summary(trials))
    _draw(pyplot, trials)
    console.print(f"The picture is in {PICTURE.resolve()}", markup=False)


def _summary(trials: dict[str, list[DemoTrial]]) -> Table:
    table = Table(
        title=f"Test accuracy %: {N_LABELED} labels, {100 * NOISE:.0f} % wrong ({N_SEEDS} seeds, mean ± std. error)",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        caption="plain: pseudo-labeling; default: dips; precision, recall: of finding the wrong labels",
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("data", no_wrap=True)
    for column in ("supervised", "plain", "default", "precision", "recall"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, of_table in trials.items():
        accuracies = [_mean_and_error([t.accuracy[m] for t in of_table]) for m in METHODS]
        quality = [_mean_and_error([getattr(t, q) for t in of_table]) for q in ("precision", "recall")]
        table.add_row(name, *accuracies, *quality)
    return table


def _mean_and_error(values: list[float]) -> str:
    percent = 100 * np.asarray(values)
    return f"{np.nanmean(percent):.1f} ± {np.nanstd(percent, ddof=1) / np.sqrt(len(values)):.1f}"


def _pyplot() -> Any:
    """Import matplotlib before any work is done that a missing one would waste."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise SystemExit(
            'The demo draws a picture with matplotlib; install it with pip install "dips-ssl[plot]".'
        ) from None
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def _draw(plt: Any, trials: dict[str, list[DemoTrial]]) -> None:
    figure, axes = plt.subplots(1, 1 + len(trials), figsize=(15, 4.6), layout="constrained")
    _draw_accuracy(axes[0], trials)
    for axis, (name, of_table) in zip(axes[1:], trials.items(), strict=True):
        _draw_map(axis, name, of_table[0])
    figure.savefig(PICTURE, dpi=130)
    plt.close(figure)


def _draw_accuracy(axis: Any, trials: dict[str, list[DemoTrial]]) -> None:
    colors = ("#b8c0cc", "#7c9cc4", "#1f4e8c")
    for i, (method, color) in enumerate(zip(METHODS, colors, strict=True)):
        scores = 100 * np.array([[t.accuracy[method] for t in of_table] for of_table in trials.values()])
        error = scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
        place = np.arange(len(trials)) + 0.26 * (i - 1)
        axis.bar(place, scores.mean(axis=1), 0.24, yerr=error, label=method, color=color, capsize=3)
    axis.set_xticks(range(len(trials)), list(trials))
    axis.set_ylim(50, 112)
    axis.set_yticks(range(50, 101, 10))
    axis.set_ylabel("test accuracy %")
    axis.set_title(f"{N_LABELED} labels, {100 * NOISE:.0f} % of them wrong")
    axis.legend(loc="upper left", fontsize=8, frameon=False)
    axis.spines[["top", "right"]].set_visible(False)


def _draw_map(axis: Any, name: str, trial: DemoTrial) -> None:
    useful = trial.samples["useful"].to_numpy()
    for wrong, color, what in ((False, "#2a9d8f", "right"), (True, "#d1495b", "wrong")):
        for is_useful, marker in ((True, "o"), (False, "X")):
            rows = (trial.flipped == wrong) & (useful == is_useful)
            axis.scatter(
                trial.samples["aleatoric"][rows],
                trial.samples["confidence"][rows],
                s=42,
                c=color,
                marker=marker,
                alpha=0.75,
                edgecolors="white",
                linewidths=0.5,
                label=f"{what} label, {'useful' if is_useful else 'suspect'} ({rows.sum()})",
            )
    axis.set_xlabel("aleatoric uncertainty")
    axis.set_ylabel("average confidence in the given label")
    axis.set_title(f"{name}: the labels of one run")
    axis.legend(fontsize=8)
    axis.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
