"""The prior-fitted network beside supervised models on real tables whose labels we dirty ourselves.

``DIPS_DATA=FOLDER python -m dips.network._real_tables TABLES`` writes the tables, then
``python benchmarks/network.py TABLES/tables.npz --seeds 2`` prints the mean scores of every model by labels and noise,
and by table, and how far the network is ahead of the best of the others. Rows are drawn at random; noise is
symmetric, or as ``--kind`` says; scores are on 600 rows that no model has seen. The network and the
default of this package also see 400 unlabeled rows, which the supervised models cannot use.

``--no-supervised --labels 50 --noise 0.2 --unlabeled 0`` (then 100, 400, 800) shows what these rows are worth to it.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from network_report import report
from network_rivals import SUPERVISED, answers_of_rivals, check_names

from dips.network._frequencies import factors_for, reweighed
from dips.network._inference import FrozenNetwork
from dips.network._reading import Reading
from dips.network._tasks import KINDS, LABELS, NOISE, UNLABELED, make_task, read_tables, scores_of
from dips.network._weights import SHIPPED, Weights


def answer_network(network, table, task, draws):
    given = np.full(task.context, -1)
    given[: len(task.given)] = task.given
    values = task.values.astype(np.float64)
    classes = int(task.given.max()) + 1
    reading = Reading(network, values[: task.context], table.categorical, given, classes, draws, seed=0)
    return np.concatenate([reading.of_context(), reading.ask(values[task.context :])])


def told_frequencies(task, p, off):
    """The network's answers when told how frequent the classes are, the odds of the commonest times e to the `off`."""
    frequencies = np.bincount(task.true, minlength=p.shape[1]) + 0.5  # a class may be in the labels alone
    frequencies[frequencies.argmax()] *= np.exp(off)
    return reweighed(p, factors_for(frequencies / frequencies.sum(), p[: task.context]))


def run(tables, network, options):
    """Every model on every task, one record each."""
    folds = not options.no_folds
    for table in tables:
        for labels in options.labels:
            for noise in options.noise if labels + 150 <= len(table.classes) else ():
                for seed in range(options.seeds):
                    task = make_task(table, labels, noise, seed, options.unlabeled, options.kind)
                    if len(np.unique(task.given)) <= task.given.max():
                        continue  # noise has left a class without label
                    answers = {options.call: answer_network(network, table, task, options.draws)} if network else {}
                    for off in options.told if network else ():
                        name = f"network, told {off:+g}" if off else "network, told"
                        answers[name] = told_frequencies(task, answers[options.call], off)
                    answers |= answers_of_rivals(options.rivals, task, table.categorical, folds)
                    if options.mean and "curated" in answers:
                        answers["network and curated"] = (answers[options.call] + answers["curated"]) / 2
                    for name, p in answers.items():
                        scores = scores_of(task, p)
                        if not (name.startswith(("network", "curated")) or (name in SUPERVISED and folds)):
                            scores.pop("auc_wrong", None)  # it judges no label
                        known = {"kind": options.kind, "unlabeled": options.unlabeled, "seed": seed}
                        yield {"table": table.name, "task": f"{labels}/{noise:g}", **known, "model": name, **scores}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, nargs="+", help="files of dips.network._real_tables")
    parser.add_argument("--weights", type=Path, default=SHIPPED)
    parser.add_argument("--call", default="network", help='the network in the records, such as "network, before"')
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--no-folds", action="store_true", help="do not judge labels by the supervised models")
    parser.add_argument("--labels", type=int, nargs="*", default=LABELS)
    parser.add_argument("--noise", type=float, nargs="*", default=NOISE)
    parser.add_argument("--kind", choices=KINDS, default="symmetric", help="which labels are wrong")
    parser.add_argument("--unlabeled", type=int, default=UNLABELED, help="unlabeled rows that the network sees")
    parser.add_argument(
        "--rivals",
        nargs="*",
        default=[*SUPERVISED, "curated"],
        help='the models to compare with; also "self-training", "CleanLearning", "curated, network", "curated: mlp"',
    )
    parser.add_argument("--no-supervised", dest="rivals", action="store_const", const=[], help="the network alone")
    parser.add_argument("--mean", action="store_true", help="also the mean of the network and the default")
    parser.add_argument("--no-network", action="store_true", help="the supervised models alone")
    parser.add_argument(
        "--told",
        type=float,
        nargs="*",
        default=(),
        metavar="OFF",
        help="the network also when told the class frequencies, the commonest one's log odds off by so much",
    )
    parser.add_argument("--out", type=Path, help="write the scores of every task as JSON lines")
    options = parser.parse_args()
    check_names(options.rivals)
    if options.mean and (options.no_network or "curated" not in options.rivals):
        parser.error("--mean needs the network, and curated among the rivals")
    network = None if options.no_network else FrozenNetwork(Weights.load(options.weights))
    records = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables = [table for path in options.tables for table in read_tables(path)]
        tables = [table for table in tables if not options.only or table.name in options.only]
        for record in run(tables, network, options):
            records.append(record)
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(record) + "\n")
    report(records)


if __name__ == "__main__":
    main()
