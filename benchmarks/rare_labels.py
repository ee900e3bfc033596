"""What the default finds where a class is rare: on skewed samples of adult and credit, labels wrong in three ways.

DIPS_DATA=folder python benchmarks/rare_labels.py [SEEDS] [JOBS]

3,000 labels, of which 1, 2 or 5 % are of the rarer class; XGBoost with slow, shallow trees, labeled rows only; 5,000
test rows with true labels, skewed alike. Labels are clean; or other rows were given the rare label by mistake, so that
30 % of the rare labels are wrong; or 30 % of the rare class were given the other label.
"""

from __future__ import annotations

import sys
import warnings
from itertools import product
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, recall_score, roc_auc_score

from dips import CuratedClassifier
from dips.backbones import default_estimator
from dips.datasets import load

N_LABELS, N_TEST, N_LOOKS, WRONG = 3_000, 5_000, 20, 0.3
CLEAN, TO_RARE, FROM_RARE = "clean", "others labeled rare", "rare labeled other"


def skewed(table: str, share: float, rng: np.random.RandomState) -> tuple[np.ndarray, ...]:
    """Training rows, their classes (1 is rare), test rows and theirs."""
    data = load(table)
    X, is_rare = np.asarray(data.X, dtype=float), np.asarray(data.y) == np.bincount(data.y).argmin()
    rare, other = (rng.permutation(np.flatnonzero(mask)) for mask in (is_rare, ~is_rare))
    n_rare, n_rare_test = round(share * N_LABELS), round(share * N_TEST)
    train = np.concatenate([rare[:n_rare], other[: N_LABELS - n_rare]])
    test = np.concatenate([rare[n_rare:][:n_rare_test], other[N_LABELS - n_rare :][: N_TEST - n_rare_test]])
    return X[train], is_rare[train].astype(int), X[test], is_rare[test].astype(int)


def with_errors(truth: np.ndarray, way: str, rng: np.random.RandomState) -> np.ndarray:
    """Labels, some of them wrong in the given way."""
    labels, n_rare = truth.copy(), int(truth.sum())
    if way == TO_RARE:
        n_wrong = round(n_rare * WRONG / (1 - WRONG))
        labels[rng.choice(np.flatnonzero(truth == 0), n_wrong, replace=False)] = 1
    elif way == FROM_RARE:
        labels[rng.choice(np.flatnonzero(truth == 1), round(n_rare * WRONG), replace=False)] = 0
    return labels


def records_of(table: str, share: float, way: str, seed: int) -> list[dict[str, Any]]:
    """Supervised training and the default on one draw."""
    warnings.simplefilter("ignore")
    rng = np.random.RandomState(seed)
    X, truth, X_test, y_test = skewed(table, share, rng)
    labels = with_errors(truth, way, rng)
    is_wrong, records = labels != truth, []
    for method, curator in (("supervised", "none"), ("default", "auto")):
        backbone = default_estimator("xgboost").set_params(n_jobs=1)
        model = CuratedClassifier(backbone, curator=curator, random_state=seed).fit(X, labels)
        p = model.predict_proba(X_test)[:, 1]
        record = {"errors": way, "method": method, "AUC, %": 100 * roc_auc_score(y_test, p)}
        record |= {"log loss": log_loss(y_test, p), "recall of the rare class, %": 100 * recall_score(y_test, p > 0.5)}
        if method == "default":
            is_suspect = ~model.samples_["useful"].to_numpy()
            first = model.samples_["p_wrong"].to_numpy().argsort()[::-1][:N_LOOKS]
            counts = {"wrong labels": is_wrong, "suspects": is_suspect, "wrong suspects": is_suspect & is_wrong}
            counts["wrong of the first 20"] = is_wrong[first]
            record |= {name: int(mask.sum()) for name, mask in counts.items()}
        records.append(record)
    return records


def main() -> None:
    """Measure, print, keep."""
    from common import run_grid, show

    n_seeds, jobs = ([int(a) for a in sys.argv[1:3]] + [3, 2][len(sys.argv) - 1 :])[:2]
    ways = (CLEAN, TO_RARE, FROM_RARE)
    cells = product(("adult", "credit"), (0.01, 0.02, 0.05), ways, range(n_seeds))
    found = run_grid("rare_labels", records_of, cells, jobs)
    means = found.groupby(["errors", "method"], sort=False).mean().reset_index()
    digits = {name: 4 if name == "log loss" else 1 for name in means.select_dtypes("number")}
    shown = means.assign(**{c: means[c].map(f"{{:.{k}f}}".format).replace("nan", "") for c, k in digits.items()})
    order = shown["errors"].map(ways.index).sort_values(kind="stable").index
    show(f"Rare classes, means of 6 skewed samples and {n_seeds} seeds", shown.loc[order].set_index("errors"))


if __name__ == "__main__":
    main()
