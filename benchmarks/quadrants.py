"""Two quadrants (Fig. 3 of the paper): label noise, with and without curation, beside the published study.

python benchmarks/quadrants.py --seeds 20
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import pandas as pd
from common import run_grid, show, with_error
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier
from dips.curators import DIPS
from dips.datasets import flip_labels, make_quadrants

# Accuracy of the authors' study over 20 seeds, at noise .1 .2 .3 .4
PUBLISHED = {
    "Supervised": "95.05 ± .47, 84.52 ± .83, 73.45 ± .71, 64.64 ± .91",
    "PL": "95.99 ± .38, 88.68 ± .78, 77.58 ± .85, 66.49 ± 1.09",
    "PL+DIPS": "98.56 ± .36, 97.85 ± .67, 94.49 ± 1.27, 79.72 ± 2.63",
    "A1 start": "~98.9, 96.4, 87.3, 70.3",
    "A2 rounds": "98.9, 98.1, 93.9, 79.1",
    "PL+small_loss": "98.7, 95.8, 86.8, 72.6",
    "PL+fluctuation": "79.9, 82.0, 74.9, 66.2",
    "PL+fine": "95.4, 89.1, 83.3, 78.0",
}


def methods(seed: int) -> dict[str, Any]:
    backbone = XGBClassifier(n_jobs=1)
    common = {"random_state": seed, "n_rounds": 5}
    return {
        "Supervised": CuratedClassifier(backbone, curator="none", random_state=seed),
        "PL": PseudoLabelClassifier(backbone, curator="none", **common),
        "PL+DIPS": PseudoLabelClassifier(backbone, curator="dips", **common),
        "PL+DIPS renewed": PseudoLabelClassifier(backbone, curator=DIPS(frozen=False), **common),
        "PL+auto": PseudoLabelClassifier(backbone, curator="auto", **common),
        "A1 start": PseudoLabelClassifier(backbone, curator="dips", curate="start", **common),
        "A2 rounds": PseudoLabelClassifier(backbone, curator="dips", curate="rounds", **common),
        "PL+small_loss": PseudoLabelClassifier(backbone, curator="small_loss", **common),
        "PL+fluctuation": PseudoLabelClassifier(backbone, curator="fluctuation", **common),
        "PL+fine": PseudoLabelClassifier(backbone, curator="fine", **common),
    }


def cell(noise: float, seed: int) -> list[dict[str, Any]]:
    X, y = make_quadrants(1000, random_state=seed)
    X_test, y_test = make_quadrants(50_000, random_state=10_000 + seed)
    noisy, _ = flip_labels(y[:100], noise, random_state=seed)
    records = []
    for name, model in methods(seed).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if name == "Supervised":
                model.fit(X[:100], noisy)
            else:
                model.fit(X[:100], noisy, X_unlabeled=X[100:])
        records.append({"method": name, "noise": noise, "seed": seed, "accuracy": model.score(X_test, y_test)})
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    grid = [(noise, seed) for noise in (0.1, 0.2, 0.3, 0.4) for seed in range(options.seeds)]
    records = run_grid("quadrants", cell, grid, options.jobs)
    order = list(methods(0))
    table = records.groupby(["method", "noise"])["accuracy"].apply(with_error).unstack().loc[order]
    table["authors' study"] = pd.Series(PUBLISHED).reindex(order).replace(np.nan, "")
    show(f"Two quadrants, accuracy %, {options.seeds} seeds, mean ± standard error", table)


if __name__ == "__main__":
    main()
