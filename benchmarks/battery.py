"""Five labelers without and with DIPS on the paper's public tables (Fig. 4), beside the authors' code.

DIPS_DATA=folder python benchmarks/battery.py --seeds 10 --members 3
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import pandas as pd
import tables
from common import authors_seeds, run_grid, show, with_error
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier
from dips.labelers import CSA, SLA, UPS, FlexMatch, Greedy

# The authors' code on xgboost 3.2, 10 seeds, ensembles of 3 members, FlexMatch at 0.8
AUTHORS = {
    "adult": "81.18 83.11 81.06 82.87 81.67 82.92 81.48 82.88 81.64 82.77 81.66 82.99",
    "covid": "67.18 69.55 68.03 69.62 68.75 70.10 68.14 69.95 68.79 70.10 68.61 70.15",
    "drug": "74.09 76.14 75.80 78.00 75.24 78.46 75.64 78.14 75.16 78.30 75.37 78.32",
    "german": "69.50 70.80 67.80 70.15 68.30 69.30 67.40 70.10 67.50 69.20 68.35 69.30",
}
LABELERS = ["greedy", "ups", "flexmatch", "sla", "csa"]
METHODS = ["supervised", "curated"] + [m for name in LABELERS for m in (name, f"{name}+dips")]


def methods(seed: int, members: int) -> dict[str, Any]:
    backbone = XGBClassifier(n_jobs=1)
    labelers = {
        "greedy": Greedy(0.8),
        "ups": UPS(n_models=members),
        "flexmatch": FlexMatch(0.8),
        "sla": SLA(threshold=0.5, n_models=members),
        "csa": CSA(threshold=0.5, n_models=members),
    }
    found: dict[str, Any] = {
        "supervised": CuratedClassifier(backbone, curator="none", random_state=seed),
        "curated": CuratedClassifier(backbone, curator="dips", random_state=seed),
    }
    for name, labeler in labelers.items():
        common = {"labeler": labeler, "random_state": seed, "n_rounds": 5}
        found[name] = PseudoLabelClassifier(backbone, curator="none", **common)
        found[f"{name}+dips"] = PseudoLabelClassifier(backbone, curator="dips", **common)
    return found


def cell(table: str, seed: int, members: int) -> list[dict[str, Any]]:
    X, y = tables.load(table)
    labeled, unlabeled, test = tables.split(X, y, seed, tables.SHARE.get(table, 1.0))
    records = []
    for name, model in methods(seed, members).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(model, CuratedClassifier):
                model.fit(X[labeled], y[labeled])
            else:
                model.fit(X[labeled], y[labeled], X_unlabeled=X[unlabeled])
        records.append({"table": table, "seed": seed, "method": name, "accuracy": model.score(X[test], y[test])})
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=list(AUTHORS), choices=list(tables.TABLES))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--members", type=int, default=3, help="models in each ensemble; the authors' code has 3")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    grid = [(t, s, options.members) for t in options.tables for s in authors_seeds(options.seeds)]
    records = run_grid("battery", cell, grid, options.jobs)
    table = records.groupby(["method", "table"])["accuracy"].apply(with_error).unstack().loc[METHODS, options.tables]
    for name in options.tables:
        if name in AUTHORS:
            table.insert(table.columns.get_loc(name) + 1, "authors", pd.Series(AUTHORS[name].split(), METHODS), True)
    show(f"Accuracy %, {options.seeds} seeds, mean ± standard error, {options.members} members", table)


if __name__ == "__main__":
    main()
