"""Does it help where labels are dirty, and do no harm where they are clean, whatever the backbone?

Every cell is a table, a backbone and a noise level; a gain is the mean over seeds of the difference to supervised
training on the same rows.

DIPS_DATA=folder python benchmarks/promise.py --seeds 5
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import pandas as pd
import tables
from common import finished, run_grid, show
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier
from dips.datasets import flip_labels

NOISE = (0.0, 0.1, 0.2, 0.4)
HARM = -0.5  # a cell is harmed if it loses more than this, in points of accuracy
METHODS = ["supervised", "curated dips", "curated auto", "PL", "PL+dips", "PL+auto"]


def backbone(name: str) -> BaseEstimator:
    if name == "xgboost paper":
        return XGBClassifier(n_jobs=1)
    if name == "xgboost sensible":
        return XGBClassifier(n_estimators=200, learning_rate=0.05, max_depth=3, subsample=0.8, n_jobs=1)
    if name == "histgb":
        return HistGradientBoostingClassifier()
    return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), MLPClassifier(max_iter=60))


BACKBONES = ["xgboost paper", "xgboost sensible", "histgb", "mlp"]


def cell(table: str, kind: str, noise: float, seed: int, max_rows: tuple[int, int]) -> list[dict[str, Any]]:
    warnings.simplefilter("ignore")
    X, y = tables.load(table)
    labeled, unlabeled, test = tables.split(X, y, seed, tables.SHARE.get(table, 1.0))
    labeled, unlabeled = labeled[: max_rows[0]], unlabeled[: max_rows[1]]
    noisy, _ = flip_labels(y[labeled], noise, random_state=seed)
    records = []
    for method in METHODS:
        curator = method.split(" ")[-1].split("+")[-1]
        curator = curator if curator in ("dips", "auto") else "none"
        if method.startswith("PL"):
            model = PseudoLabelClassifier(backbone(kind), curator=curator, random_state=seed)
            model.fit(X[labeled], noisy, X_unlabeled=X[unlabeled])
        else:
            model = CuratedClassifier(backbone(kind), curator=curator, random_state=seed).fit(X[labeled], noisy)
        found = {"table": table, "backbone": kind, "noise": noise, "seed": seed, "method": method}
        records.append(found | {"accuracy": 100 * model.score(X[test], y[test])})
    return records


def summarize(records: pd.DataFrame) -> None:
    """Print accuracies, gains and the cells that were harmed."""
    seeds, kinds = records["seed"].nunique(), [b for b in BACKBONES if b in set(records["backbone"])]
    accuracy = records.groupby(["backbone", "noise", "method"])["accuracy"].mean().unstack()[METHODS]
    show(f"Accuracy %, mean over {records['table'].nunique()} tables and {seeds} seeds", accuracy.loc[kinds].round(2))
    cells = records.groupby(["table", "backbone", "noise", "method"])["accuracy"].mean().unstack()
    gain = cells.sub(cells["supervised"], axis=0)[METHODS[1:]]
    summary = pd.DataFrame({"mean gain": gain.mean(), "cells harmed": (gain < HARM).sum(), "worst cell": gain.min()})
    for noise in NOISE:
        summary[f"gain at {noise:.0%}"] = gain.xs(noise, level="noise").mean()
    for kind in kinds:
        summary[kind] = gain.xs(kind, level="backbone").mean()
    show(f"Gain over supervised, {len(cells)} cells, {seeds} seeds", summary.round(2))
    show("Cells harmed by the default", gain[gain[["curated auto", "PL+auto"]].min(axis=1) < HARM].round(2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=list(tables.TABLES), choices=list(tables.TABLES))
    parser.add_argument("--backbones", nargs="+", default=BACKBONES, choices=BACKBONES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--max-labeled", type=int, default=500)
    parser.add_argument("--max-unlabeled", type=int, default=2000)
    parser.add_argument("--show", action="store_true", help="print the seeds that an earlier run finished")
    options = parser.parse_args()
    grid = [
        (t, b, noise, seed, (options.max_labeled, options.max_unlabeled))
        for seed in range(options.seeds)
        for t in options.tables
        for b in options.backbones
        for noise in NOISE
    ]
    records = finished("promise") if options.show else run_grid("promise", cell, grid, options.jobs)
    n_cells = records.groupby("seed").size()
    summarize(records[records["seed"].isin(n_cells.index[n_cells == n_cells.max()])])


if __name__ == "__main__":
    main()
