"""How often ``dips fit`` keeps the right model, by several ways to choose, where the labels to choose by are dirty too.

    DIPS_DATA=... python benchmarks/choosing.py [SEEDS]

For each table, number of labels and share of flipped ones, the four candidates answer for the labeled rows out of fold
and for rows whose true labels are known. A rule sees only the former; it is judged by the latter. What was trained is
kept in results/choosing, so that rules can be compared again without it.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import tables
from sklearn.model_selection import StratifiedKFold

from dips._study.candidates import CANDIDATES, JUDGE
from dips._study.settings import Settings
from dips.datasets import flip_labels

PLACE = Path(__file__).parents[1] / "results" / "choosing"
TABLES = ("adult", "covid", "german", "drug", "higgs", "agaricus-lepiota")
SIZES, NOISES = (150, 500), (0.0, 0.2, 0.4)
N_UNLABELED, N_TEST, N_FOLDS = 1_000, 3_000, 5


def answers(table: str, n: int, noise: float, seed: int) -> dict[str, np.ndarray]:
    """Labels, beliefs, and the probabilities of every candidate: out of fold and on the test rows."""
    path = PLACE / f"{table}-{n}-{noise:g}-{seed}.npz"
    if path.exists():
        with np.load(path) as stored:
            return dict(stored)
    X, y = tables.load(table)
    rows = np.random.RandomState(seed).permutation(y.size)
    labeled, others = rows[:n], rows[n:]
    test, unlabeled = np.split(others, [min(N_TEST, others.size // 2)])
    codes = y.copy()
    codes[labeled], _ = flip_labels(y[labeled], noise, random_state=seed)
    settings, unlabeled = Settings(target="", seed=seed), unlabeled[:N_UNLABELED]
    found = {"labels": codes[labeled], "y_test": y[test]}
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(labeled, codes[labeled]))
    for candidate in CANDIDATES:
        out_of_fold = np.zeros((n, int(y.max()) + 1))
        for fit, validate in folds:
            model = candidate.fit(X, codes, labeled[fit], unlabeled, settings)
            out_of_fold[validate] = model.predict_proba(X[labeled[validate]])
        model = candidate.fit(X, codes, labeled, unlabeled, settings)
        found |= {f"{candidate.name}_folds": out_of_fold, f"{candidate.name}_test": model.predict_proba(X[test])}
        if candidate == JUDGE:
            found |= {"p_wrong": model.samples_["p_wrong"].to_numpy(), "truth": y[labeled]}
            found |= {"rate": np.array([model.curator_.noise_rate_, *model.curator_.noise_interval_])}
    PLACE.mkdir(parents=True, exist_ok=True)
    np.savez(path, **found)
    return found


def main() -> None:
    warnings.filterwarnings("ignore")
    for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 3):
        for n in SIZES:
            for table in TABLES:
                for noise in NOISES:
                    answers(table, n, noise, seed)


if __name__ == "__main__":
    main()
