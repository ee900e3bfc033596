"""What a few checked labels are worth to the network: ``python benchmarks/network_verified.py TABLES/tables.npz``.

Of 100 labels some are checked, at random or the most suspicious first, and corrected. The network reads the table with
its labels as given, as corrected, and as corrected with what the change taught about the class frequencies
(``fit(X, y, verified=..., y_given=...)``).
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from dips.network._frequencies import factors_for, reweighed
from dips.network._inference import FrozenNetwork
from dips.network._reading import Reading
from dips.network._tasks import make_task, read_tables, scores_of
from dips.network._verified import frequencies_by_verified
from dips.network._weights import SHIPPED, Weights

LABELS = 100
NOISE = (("symmetric", 0.0), ("symmetric", 0.2), ("symmetric", 0.4), ("class", 0.2), ("class", 0.4))
ORDERS = ("random", "suspects")
SCORES = ("accuracy", "log_loss", "auc")


def answered(network, table, task, given):
    """Answers for all rows, the context with these labels."""
    values, classes = task.values.astype(np.float64), int(task.given.max()) + 1
    reading = Reading(network, values[: task.context], table.categorical, given, classes, 1, seed=0)
    return np.concatenate([reading.of_context(), reading.ask(values[task.context :])])


def chosen(order, count, before, task, seed):
    """Labeled rows to check."""
    labeled = len(task.given)
    if order == "random":
        return np.random.default_rng(seed).permutation(labeled)[:count]
    return np.argsort(before[np.arange(labeled), task.given])[:count]


def answers_of(network, table, task, counts, seed):
    """Answers by order and number of checked labels, and by what the network was told."""
    given = np.append(task.given, np.full(task.context - len(task.given), -1))
    before = answered(network, table, task, given)
    yield "", 0, "as given", before
    for order in ORDERS:
        for count in counts:
            checked = np.isin(np.arange(task.context), chosen(order, count, before, task, seed))
            corrected = np.where(checked, task.true[: task.context], given)
            if np.unique(corrected[corrected >= 0]).size < before.shape[1]:
                continue  # a class lost its only labels, all of them wrong
            p = answered(network, table, task, corrected)
            learned = frequencies_by_verified(before[: task.context], given, corrected, checked)
            yield order, count, "corrected", p
            yield order, count, "taught", reweighed(p, factors_for(learned, p[: task.context]))


def records_of(network, tables, counts, seeds):
    """Scores of every task and case."""
    for seed in seeds:
        for kind, noise in NOISE:
            for table in tables:
                task = make_task(table, LABELS, noise, seed, kind=kind)
                if np.unique(task.given).size <= task.given.max():
                    continue  # noise has left a class without label
                for order, count, told, p in answers_of(network, table, task, counts, seed):
                    case = {"noise": f"{kind} {noise:g}", "checked": f"{count} {order}".strip(), "labels": told}
                    scores = {name: scores_of(task, p)[name] for name in SCORES}
                    yield {"table": table.name, "seed": seed} | case | scores


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, nargs="+", help="files of dips.network._real_tables")
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--seeds", type=int, nargs="*", default=(0,))
    parser.add_argument("--checked", type=int, nargs="*", default=(10, 50))
    parser.add_argument("--out", type=Path, help="write the scores of every task as JSON lines")
    options = parser.parse_args()
    tables = [table for path in options.tables for table in read_tables(path)]
    tables = [table for table in tables if not options.only or table.name in options.only]
    records = []
    for record in records_of(FrozenNetwork(Weights.load(SHIPPED)), tables, options.checked, options.seeds):
        records.append(record)
        if options.out:
            with options.out.open("a") as file:
                file.write(json.dumps(record) + "\n")
    show(records)


def show(records):
    """Print means over tables and seeds."""
    groups = defaultdict(list)
    for record in records:
        groups[record["noise"], record["checked"], record["labels"]].append([record[name] for name in SCORES])
    print(f"{'noise':16}{'checked':16}{'labels':12}{'tasks':>6}" + "".join(f"{name:>10}" for name in SCORES))
    for (noise, checked, labels), values in groups.items():
        means = "".join(f"{value:10.3f}" for value in np.nanmean(values, axis=0))
        print(f"{noise:16}{checked:16}{labels:12}{len(values):>6}{means}")


if __name__ == "__main__":
    main()
