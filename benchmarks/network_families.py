"""Which synthetic tables the network reads badly: ``python benchmarks/network_families.py``.

Every kind of synthetic table by itself, 20 columns, two classes. All models learn from the same labels; scores are on
rows without label, against the chances from which the classes were drawn: accuracy, and how much the log loss exceeds
the least possible. Where a supervised model is ahead, the network has not learned what its own training tables could
teach. The plain sums are its plainest tables: independent normal columns, no categories, nothing missing.
"""

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch
from network_ablations import as_they_are, no_cell, no_column
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer
from xgboost import XGBClassifier

from dips.network._model import Network
from dips.network._prior import _tables
from dips.network._prior._draws import Draws
from dips.network._prior._tables import Shape, make_tables
from dips.network._settings import NetworkSettings
from dips.network._training import encode_tables
from dips.network._weights import SHIPPED, Weights

UNLABELED, QUERIES = 200, 300


def plain_columns(own):
    """Columns with hidden causes; the class depends on the causes (own) or on the columns."""

    def latent(draws, tables, shape):
        x, hidden = _tables.correlated(draws, tables, shape.rows, shape.columns)
        return x, _tables.linear(draws, hidden, shape.classes), draws.chance(tables, 1, p=own)

    return latent


def causes(draws, tables, shape):
    return *_tables.causal(draws, tables, shape.rows, shape.columns, shape.classes), draws.chance(tables, 1, p=1.0)


def clusters(draws, tables, shape):
    x, cluster = _tables.clustered(draws, tables, shape.rows, shape.columns, 2 * shape.classes)
    owner = draws.order(tables, 2 * shape.classes) % shape.classes
    scores = torch.nn.functional.one_hot(owner.gather(1, cluster), shape.classes).to(x.dtype)
    return x, 4 * scores, draws.chance(tables, 1, p=1.0)


def independent(draws, tables, shape):
    x = draws.normal(tables, shape.rows, shape.columns)
    return x, x.new_zeros(tables, shape.rows, shape.classes), draws.chance(tables, 1, p=0.0)


FAMILIES = {
    function.__name__ if function else "rules": (plain_columns(0.0), function) for function, _ in _tables.FUNCTIONS
}
FAMILIES |= {"hidden causes": (plain_columns(1.0), None), "causes": (causes, None), "clusters": (clusters, None)}
FAMILIES |= {"plain sums": (independent, _tables.linear)}
PLAIN = {"categorical_columns": no_column, "missing": no_cell, "warped": as_they_are}  # parts of the plain tables


def tables_of(name, count, shape, settings):
    latent, function = FAMILIES[name]
    only = ((function, 1.0),)
    draws = Draws("cpu", shape.labeled)
    parts = {"_latent": latent, "FUNCTIONS": only, "SIMPLE": only} | (PLAIN if name == "plain sums" else {})
    with ExitStack() as stack:
        for part, replacement in parts.items():
            stack.enter_context(patch.object(_tables, part, replacement))
        tables = make_tables(draws, count, shape, settings.prior)
    return tables, encode_tables(tables, shape, draws, settings)


def supervised(categorical):
    numbers, levels = np.flatnonzero(~categorical), np.flatnonzero(categorical)
    filled = SimpleImputer(strategy="median", keep_empty_features=True)
    ranked = make_pipeline(filled, QuantileTransformer(n_quantiles=100, output_distribution="normal"))
    one_hot = OneHotEncoder(handle_unknown="ignore", min_frequency=2)
    return {
        "extra trees": make_pipeline(filled, ExtraTreesClassifier(200, min_samples_leaf=3, random_state=0)),
        "logistic": make_pipeline(
            make_column_transformer((ranked, numbers), (one_hot, levels)), LogisticRegression(C=0.1, max_iter=300)
        ),
        "xgboost": XGBClassifier(n_estimators=200, learning_rate=0.05, max_depth=3, subsample=0.8, n_jobs=1),
    }


def scores(chances, p):
    """Accuracy expected of the answers, and their log loss beyond the least possible."""
    least = -(chances * np.log(chances.clip(1e-9))).sum(-1).mean()
    return chances[np.arange(len(p)), p.argmax(1)].mean(), -(chances * np.log(p.clip(1e-4))).sum(-1).mean() - least


@torch.no_grad()
def compare(model, name, labels, noisy, settings, options):
    """Mean scores of all models on one kind of table."""
    count, shape = options.tables, Shape(labels, UNLABELED, QUERIES, options.columns, 2)
    prior = replace(settings.prior, clean=0.0 if noisy else 1.0, sharpness=(0.7, 8.0), interval_noise=(0.1, 1.2))
    tables, cells = tables_of(name, count, shape, replace(settings, prior=prior))
    found = {}
    for table in range(count):
        X, y, chances = (part[table].numpy() for part in (tables.values, tables.given, tables.chances))
        if len(np.unique(y)) < 2:
            continue
        asked = chances[shape.context :].astype(np.float64)
        answers = model(cells[table : table + 1], shape.context)[0, shape.context :, :, 0].softmax(-1)
        found.setdefault("network", []).append(scores(asked, answers.numpy().astype(np.float64)))
        for rival, estimator in supervised(tables.categorical[table].numpy()).items():
            p = estimator.fit(X[:labels], y).predict_proba(X[shape.context :])
            found.setdefault(rival, []).append(scores(asked, p))
    return {rival: np.mean(pairs, axis=0) for rival, pairs in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, default=SHIPPED)
    parser.add_argument("--tables", type=int, default=16, help="tables of each kind")
    parser.add_argument("--labels", type=int, nargs="*", default=[100, 400])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--only", nargs="*", choices=FAMILIES)
    options = parser.parse_args()
    torch.set_num_threads(1)
    weights = Weights.load(options.weights)
    settings = NetworkSettings(model=weights.settings)
    model = Network(weights.settings).eval()
    model.load_state_dict({name: torch.as_tensor(array) for name, array in weights.arrays.items()})
    print("accuracy in percent / log loss beyond the least possible")
    for name in options.only or FAMILIES:
        for labels in options.labels:
            for noisy in (False, True):
                by_model = compare(model, name, labels, noisy, settings, options)
                shown = "".join(f"  {m} {100 * a:.1f} / {loss:.3f}" for m, (a, loss) in by_model.items())
                print(f"{name:14}{labels:>4} {'dirty' if noisy else 'clean'}{shown}", flush=True)


if __name__ == "__main__":
    main()
