"""How good anybody could be at best: ``python benchmarks/network_ceiling.py TABLES/tables.npz``.

The mean of XGBoost and ExtraTrees takes the tasks of the network's benchmark and is told more and more: which labels
are wrong (it drops them), the true classes of the labeled rows, those of every row but the ones that it is asked about.
Then the last of these judges the given labels by Bayes' rule, told the share of wrong ones. Nobody who has the dirty
labels alone can be expected to do better.
"""

import argparse
from pathlib import Path

import numpy as np
from network_rivals import supervised
from sklearn.metrics import roc_auc_score

from dips.network._tasks import LABELS, drawn_rows, make_task, read_tables, scores_of

TOLD = ("given labels", "which are wrong", "true labels", "every other row")


def judged(p, given, noise):
    """Probabilities of the true class after a label with symmetric noise of this share was seen."""
    rows, classes = np.arange(len(given)), p.shape[1]
    likely = np.full_like(p, noise / (classes - 1))
    likely[rows, given] = 1 - noise
    posterior = p * likely
    return posterior / posterior.sum(1, keepdims=True)


def answered(table, X, y, asked, n_classes):
    """Mean answer of both models; a class that was not among the labels gets 0."""
    p = np.zeros((len(asked), n_classes))
    names, codes = np.unique(y, return_inverse=True)
    models = [supervised(table.categorical)[name] for name in ("xgboost", "extra trees")]
    p[:, names] = np.mean([model.fit(X, codes).predict_proba(asked) for model in models], axis=0)
    return p


def every_other_row(table, task, labels, noise, seed, asked):
    """Columns and true classes of all rows but those asked about, which begin and end somewhere in the task's rows."""
    rows = drawn_rows(table, labels, noise, seed)
    names = np.unique(table.classes[rows[:labels]])
    rows = rows[(np.arange(len(rows)) < labels) | np.isin(table.classes[rows], names)]
    rows = np.delete(rows, np.arange(len(rows))[asked])
    return table.values[rows], np.searchsorted(names, table.classes[rows])


def lessons(table, task, labels, noise, seed):
    """What the models learn from, by what they are told."""
    X, true = task.values[:labels], task.true[:labels]
    right = task.given == true
    rest = every_other_row(table, task, labels, noise, seed, slice(task.context, len(task.true)))
    return dict(zip(TOLD, ((X, task.given), (X[right], true[right]), (X, true), rest), strict=True))


def scores(table, task, X, y):
    """Accuracy, log loss and area under the curve on the rows that are asked about."""
    n_classes = int(task.true.max()) + 1
    p = np.full((len(task.true), n_classes), 1 / n_classes)
    p[task.context :] = answered(table, X, y, task.values[task.context :], n_classes)
    return {name: scores_of(task, p)[name] for name in ("accuracy", "log_loss", "auc")}


def wrong_found(table, task, labels, noise, seed):
    """Area under the curve of finding the wrong labels."""
    X, y = every_other_row(table, task, labels, noise, seed, slice(0, labels))
    p = answered(table, X, y, task.values[:labels], int(task.true.max()) + 1)
    right = judged(p, task.given, noise)[np.arange(labels), task.given]
    return roc_auc_score(task.given != task.true[:labels], 1 - right)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, help="a file of dips.network._real_tables")
    parser.add_argument("--labels", type=int, nargs="*", default=LABELS)
    parser.add_argument("--noise", type=float, nargs="*", default=(0.2, 0.4))
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    print(f"{'labels':>8}{'noise':>8}  {'told':18}{'accuracy':>10}{'log_loss':>10}{'auc':>10}{'auc_wrong':>12}")
    for labels in options.labels:
        for noise in options.noise:
            print_ceilings(read_tables(options.tables), labels, noise, options.seeds)


def print_ceilings(tables, labels, noise, seeds):
    """Means over tables and draws of rows, a line for each thing to be told."""
    by_told, found = {told: [] for told in TOLD}, []
    for table in tables:
        for seed in range(seeds if labels + 150 <= len(table.classes) else 0):
            task = make_task(table, labels, noise, seed)
            for told, (X, y) in lessons(table, task, labels, noise, seed).items():
                by_told[told].append(list(scores(table, task, X, y).values()))
            found.append(wrong_found(table, task, labels, noise, seed))
    for told, values in by_told.items():
        line = "".join(f"{value:10.3f}" for value in np.nanmean(values, axis=0))
        last = f"{np.mean(found):12.3f}" if told == TOLD[-1] else ""
        print(f"{labels:>8}{noise:>8g}  {told:18}{line}{last}", flush=True)


if __name__ == "__main__":
    main()
