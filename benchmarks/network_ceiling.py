"""How well wrong labels could be found at best: ``python benchmarks/network_ceiling.py TABLES/tables.npz``.

The mean of XGBoost and ExtraTrees, trained on every other row of the table with its *true* label, judges the labels of
the network's benchmark by Bayes' rule, told the share of wrong ones. Nobody who has the dirty labels alone can be
expected to do better.
"""

import argparse
from pathlib import Path

import numpy as np
from network import supervised
from sklearn.metrics import roc_auc_score

from dips.network._tasks import drawn_rows, make_task, read_tables


def told(p, given, noise):
    """Probabilities of the true class after a label was seen that is wrong so often, evenly."""
    rows, classes = np.arange(len(given)), p.shape[1]
    likely = np.full_like(p, noise / (classes - 1))
    likely[rows, given] = 1 - noise
    posterior = p * likely
    return posterior / posterior.sum(1, keepdims=True)


def ceiling(table, labels, noise, seed):
    """Area under the curve of finding the wrong labels, and accuracy on the labeled rows."""
    task = make_task(table, labels, noise, seed)
    rows = drawn_rows(table, labels, noise, seed)
    names = np.unique(table.classes[rows[:labels]])
    others = rows[labels:][np.isin(table.classes[rows[labels:]], names)]
    X, y = table.values[others], np.searchsorted(names, table.classes[others])
    models = [supervised(table.categorical)[name] for name in ("xgboost", "extra trees")]
    p = np.mean([model.fit(X, y).predict_proba(task.values[:labels]) for model in models], axis=0)
    right = told(p, task.given, noise)[np.arange(labels), task.given]
    true = task.true[:labels]
    return roc_auc_score(task.given != true, 1 - right), (p.argmax(1) == true).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, help="a file of dips.network._real_tables")
    parser.add_argument("--labels", type=int, default=400)
    parser.add_argument("--noise", type=float, nargs="*", default=(0.2, 0.4))
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    print(f"{'table':24}{'noise':>8}{'auc_wrong':>12}{'accuracy':>12}")
    for noise in options.noise:
        ceilings = {
            table.name: np.mean([ceiling(table, options.labels, noise, seed) for seed in range(options.seeds)], axis=0)
            for table in read_tables(options.tables)
            if options.labels + 150 <= len(table.classes)
        }
        for name, (auc, accuracy) in (ceilings | {"mean": np.mean(list(ceilings.values()), axis=0)}).items():
            print(f"{name:24}{noise:>8g}{auc:>12.3f}{accuracy:>12.3f}")


if __name__ == "__main__":
    main()
