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
import sys
import warnings
from pathlib import Path

import numpy as np
from catboost import CatBoostClassifier
from network_report import report
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer
from xgboost import XGBClassifier

from dips import PseudoLabelClassifier
from dips.curators import Beliefs
from dips.network._frequencies import factors_for, reweighed
from dips.network._inference import FrozenNetwork
from dips.network._reading import Reading
from dips.network._tasks import KINDS, LABELS, NOISE, UNLABELED, make_task, read_tables, scores_of
from dips.network._weights import SHIPPED, Weights

CURATORS = {
    "curated": "auto",
    "curated, network": Beliefs(network=True),
}  # the default; with one more teacher


def xgboost():
    return XGBClassifier(n_estimators=200, learning_rate=0.05, max_depth=3, subsample=0.8, n_jobs=1, random_state=0)


def supervised(categorical):
    """The models to compare with, by name; each gets numbers with NaN, levels as codes."""
    numbers, levels = np.flatnonzero(~categorical), np.flatnonzero(categorical)
    one_hot = OneHotEncoder(handle_unknown="ignore", min_frequency=2)
    ranked = make_column_transformer(
        (
            make_pipeline(
                SimpleImputer(strategy="median", keep_empty_features=True),
                QuantileTransformer(n_quantiles=100, output_distribution="normal"),
            ),
            numbers,
        ),
        (one_hot, levels),
    )
    catboost = CatBoostClassifier(
        iterations=200,
        learning_rate=0.05,
        depth=4,
        thread_count=1,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    )
    forest = ExtraTreesClassifier(300, min_samples_leaf=3, random_state=0)
    plain = {
        "xgboost": xgboost(),
        "catboost": catboost,
        "extra trees": make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), forest),
        "logistic": make_pipeline(ranked, LogisticRegression(C=0.1, max_iter=1000)),
    }
    calibrated = {
        f"{name}, sigmoid": CalibratedClassifierCV(model, method="sigmoid", cv=3) for name, model in plain.items()
    }
    return plain | calibrated


def labels_in_folds(model, X, y):
    """Probabilities of the labeled rows from models that have not seen their labels."""
    folds = StratifiedKFold(min(3, max(2, np.bincount(y).min())), shuffle=True, random_state=0)
    return cross_val_predict(model, X, y, cv=folds, method="predict_proba")


def answer_supervised(model, task, folds):
    labeled = len(task.given)
    X, y = task.values[:labeled], task.given
    p = np.full((len(task.true), y.max() + 1), 1 / (y.max() + 1))
    p[task.context :] = model.fit(X, y).predict_proba(task.values[task.context :])
    if folds and (y != task.true[:labeled]).any() and np.bincount(y).min() > 1:
        p[:labeled] = labels_in_folds(model, X, y)
    return p


def answer_curated(task, curator):
    """The default of this package around XGBoost, which sees the unlabeled rows as the network does."""
    labeled = len(task.given)
    rows, unlabeled, queries = np.split(task.values, [labeled, task.context])
    model = PseudoLabelClassifier(xgboost(), curator=curator, random_state=0).fit(rows, task.given, unlabeled)
    p = np.zeros((len(task.true), len(model.classes_)))
    p[np.arange(labeled), task.given] = 1 - model.samples_["p_wrong"].to_numpy(dtype=float)[:labeled]
    p[task.context :] = model.predict_proba(queries)
    return p


def answer_network(network, table, task, draws):
    given = np.full(task.context, -1)
    given[: len(task.given)] = task.given
    values = task.values.astype(np.float64)
    classes = int(task.given.max()) + 1
    reading = Reading(network, values[: task.context], table.categorical, given, classes, draws, seed=0)
    return np.concatenate([reading.of_context(), reading.ask(values[task.context :])])


def answers_of_rivals(table, task, options):
    """Answers of the models to compare with, but of those that cannot be fitted."""
    models = supervised(table.categorical)
    answers = {}
    for name in options.rivals or ([] if options.no_supervised else [*models, "curated"]):
        try:
            answers[name] = (
                answer_curated(task, CURATORS[name])
                if name in CURATORS
                else answer_supervised(models[name], task, folds=not options.no_folds)
            )
        except ValueError as error:  # too few labels of a class for the folds of calibration
            print(f"{table.name}, {len(task.given)} labels: {name} left out: {error}"[:150], file=sys.stderr)
    return answers


def told_frequencies(task, p, off):
    """The network's answers when told how frequent the classes are, the odds of the commonest times e to the `off`."""
    frequencies = np.bincount(task.true, minlength=p.shape[1]) + 0.5  # a class may be in the labels alone
    frequencies[frequencies.argmax()] *= np.exp(off)
    return reweighed(p, factors_for(frequencies / frequencies.sum(), p[: task.context]))


def run(tables, network, options):
    """Every model on every task, one record each."""
    for table in tables:
        for labels in options.labels:
            for noise in options.noise if labels + 150 <= len(table.classes) else ():
                for seed in range(options.seeds):
                    task = make_task(table, labels, noise, seed, options.unlabeled, options.kind)
                    if len(np.unique(task.given)) <= task.given.max():
                        continue  # noise has left a class without label
                    answers = {"network": answer_network(network, table, task, options.draws)} if network else {}
                    for off in options.told if network else ():
                        name = f"network, told {off:+g}" if off else "network, told"
                        answers[name] = told_frequencies(task, answers["network"], off)
                    answers |= answers_of_rivals(table, task, options)
                    if options.mean and {"network", "curated"} <= set(answers):
                        answers["network and curated"] = (answers["network"] + answers["curated"]) / 2
                    for name, p in answers.items():
                        scores = scores_of(task, p)
                        if name in supervised(table.categorical) and options.no_folds:
                            scores.pop("auc_wrong", None)
                        known = {"kind": options.kind, "unlabeled": options.unlabeled, "seed": seed}
                        yield {"table": table.name, "task": f"{labels}/{noise:g}", **known, "model": name, **scores}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, nargs="+", help="files of dips.network._real_tables")
    parser.add_argument("--weights", type=Path, default=SHIPPED)
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--no-folds", action="store_true", help="do not judge labels by the supervised models")
    parser.add_argument("--labels", type=int, nargs="*", default=LABELS)
    parser.add_argument("--noise", type=float, nargs="*", default=NOISE)
    parser.add_argument("--kind", choices=KINDS, default="symmetric", help="which labels are wrong")
    parser.add_argument("--unlabeled", type=int, default=UNLABELED, help="unlabeled rows that the network sees")
    parser.add_argument("--no-supervised", action="store_true", help="the network alone")
    parser.add_argument("--rivals", nargs="*", help="names of the models to compare with, if not all of them")
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
