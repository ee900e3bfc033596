"""What more draws of names are worth: ``python benchmarks/network_draws.py TABLES/tables.npz``.

The tasks of ``benchmarks/network.py``. The network reads each of them under eight draws; answers are means over the
first 1, 2, 4 and 8 of these. Printed are mean scores and differences to one draw, the default, with the standard error
over tables. ``--in-context`` cuts the unlabeled rows that it reads instead, for one draw: the same labels and queries.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from dips.network._inference import FrozenNetwork
from dips.network._reading import Reading
from dips.network._tasks import LABELS, NOISE, Task, make_task, read_tables, scores_of
from dips.network._weights import SHIPPED, Weights

DRAWS, USUAL = (1, 2, 4, 8), 1
SCORES = {"accuracy": 100, "log_loss": 1, "auc": 100, "auc_wrong": 100}


def answers(network, table, task, draws):
    """Probabilities of all rows, one array a draw."""
    given = np.full(task.context, -1)
    given[: len(task.given)] = task.given
    values, classes = task.values.astype(np.float64), int(task.given.max()) + 1
    for seed in range(draws):
        reading = Reading(network, values[: task.context], table.categorical, given, classes, 1, seed)
        yield np.concatenate([reading.of_context(), reading.ask(values[task.context :])])


def with_fewer_unlabeled(task, most):
    """The same task with at most so many unlabeled rows in the context."""
    context = min(task.context, len(task.given) + most)
    kept = np.r_[:context, task.context : len(task.true)]
    return Task(task.values[kept], task.given, task.true[kept], context)


def arms_of(network, table, task, in_context):
    """Scores of one task by arm: numbers of draws, or of unlabeled rows."""
    if in_context:
        for most in in_context:
            fewer = with_fewer_unlabeled(task, most)
            yield most, scores_of(fewer, np.mean(list(answers(network, table, fewer, USUAL)), axis=0))
        return
    by_draw = list(answers(network, table, task, DRAWS[-1]))
    for count in DRAWS:
        yield count, scores_of(task, np.mean(by_draw[:count], axis=0))


def run(tables, network, options):
    for seed in options.seeds:
        for labels in options.labels:
            for noise in options.noise:
                for table in tables:
                    if labels + 150 > len(table.classes):
                        continue
                    task = make_task(table, labels, noise, seed)
                    if len(np.unique(task.given)) <= task.given.max():
                        continue  # noise has left a class without label
                    for arm, scores in arms_of(network, table, task, options.in_context):
                        yield {"table": table.name, "noise": noise, "arm": arm, **scores}


def report(records, usual):
    """Means over tables of each arm, and their differences to the usual one."""
    for title, chosen in (
        ("clean", [r for r in records if not r["noise"]]),
        ("dirty", [r for r in records if r["noise"]]),
    ):
        means = {}
        for arm in dict.fromkeys(r["arm"] for r in chosen):
            of_arm = [r for r in chosen if r["arm"] == arm]
            names = dict.fromkeys(r["table"] for r in of_arm)
            means[arm] = np.array(
                [[np.mean([r.get(s, np.nan) for r in of_arm if r["table"] == name]) for s in SCORES] for name in names]
            )
        for arm, by_table in means.items():
            less = by_table - means[usual]
            error = less.std(0, ddof=1) / len(less) ** 0.5
            shown = zip(SCORES.items(), by_table.mean(0), less.mean(0), error, strict=True)
            print(
                f"{title} {arm:>5}"
                + "".join(
                    f"  {s} {k * m:.4g} ({k * d:+.2g} ± {k * e:.1g})" for (s, k), m, d, e in shown if not np.isnan(m)
                )
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, help="a file of dips.network._real_tables")
    parser.add_argument("--weights", type=Path, default=SHIPPED)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1])
    parser.add_argument("--labels", type=int, nargs="*", default=LABELS)
    parser.add_argument("--noise", type=float, nargs="*", default=NOISE)
    parser.add_argument("--in-context", type=int, nargs="*", default=(), metavar="ROWS", help="unlabeled rows to read")
    parser.add_argument("--out", type=Path, help="keep the scores of every task as JSON lines")
    parser.add_argument("--read", type=Path, nargs="*", default=[], help="only report what --out kept")
    options = parser.parse_args()
    records = [json.loads(line) for path in options.read for line in path.read_text().splitlines()]
    if not records:
        for record in run(read_tables(options.tables), FrozenNetwork(Weights.load(options.weights)), options):
            records.append(record)
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(record) + "\n")
    report(records, max(options.in_context) if options.in_context else USUAL)


if __name__ == "__main__":
    main()
