"""Does the default still help where labels abound? ``DIPS_DATA=FOLDER python benchmarks/many_labels.py [SEEDS]``

Public tables and a made-up one, 2,000 to 20,000 labels, none, 10 or 30 % of them flipped; XGBoost on the labels as
given, and with the default. A row is a mean over seeds: accuracy and log loss on other rows.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
import tables
from common import show
from data import has_real_tables, make_table
from sklearn.metrics import log_loss

from dips import CuratedClassifier
from dips.datasets import flip_labels

SIZES, NOISES = (2_000, 8_000, 20_000), (0.0, 0.1, 0.3)
TABLES = ("adult", "blog", "credit", "higgs")
N_TEST = 6_000


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Columns and classes of a table."""
    return make_table(SIZES[-1] + N_TEST) if name == "made up" else tables.load(name)


def measured(X: np.ndarray, y: np.ndarray, n: int, noise: float, seed: int) -> dict[str, float]:
    """Scores of both models, in percent and nats."""
    order = np.random.RandomState(seed).permutation(len(y))
    test, train = order[:N_TEST], order[N_TEST : N_TEST + n]
    labels, _ = flip_labels(y[train], noise, random_state=seed)
    scores = {}
    for name, curator in (("plain", "none"), ("default", "auto")):
        model = CuratedClassifier(curator=curator, random_state=seed).fit(X[train], labels)
        scores[f"accuracy, {name}"] = 100 * model.score(X[test], y[test])
        scores[f"log loss, {name}"] = log_loss(y[test], model.predict_proba(X[test]))
    return scores


def main() -> None:
    """Print one line per table, size and noise as it is done, and the table of all."""
    warnings.simplefilter("ignore")
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    rows = []
    for name in (*(TABLES if has_real_tables() else ()), "made up"):
        X, y = read(name)
        for n in SIZES:
            if n + N_TEST > len(y):
                continue
            for noise in NOISES:
                scores = [measured(X, y, n, noise, seed) for seed in seeds]
                rows.append({"table": name, "labels": n, "flipped": noise} | pd.DataFrame(scores).mean().to_dict())
                print(rows[-1], file=sys.stderr, flush=True)
    frame = pd.DataFrame(rows).round({"accuracy, plain": 1, "accuracy, default": 1}).round(3)
    show("Accuracy in %, and log loss", frame.set_index("table"))


if __name__ == "__main__":
    main()
