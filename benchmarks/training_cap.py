"""What the cap on training rows costs, where the unlabeled rows stay where they are (``max_train_rows``).

python benchmarks/training_cap.py [--quick]

400 labels, a fifth of them wrong; 5 rounds. Every model is trained on at most so many pseudo-labeled rows, drawn within
each class by a hash of the row. On adult and credit where DIPS_DATA names them, else on a synthetic table.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import tables
from common import scores_of, show
from data import has_real_tables, make_table
from harness import keep, one_thread, options

from dips import ParquetPool, PseudoLabelClassifier
from dips.datasets import flip_labels

N_LABELED, NOISE, N_TEST = 400, 0.2, 4_000
CAPS = (None, 10_000, 3_000, 1_000, 300)
METHODS = {"greedy": {"curator": "none"}, "greedy, adaptive": {"curator": "adaptive"}}


def records_of(name: str, seed: int, place: Path) -> list[dict[str, Any]]:
    """One table and seed, both methods and every cap."""
    X, y = tables.load(name) if name != "synthetic" else make_table(30_000, seed=seed)
    order = np.random.RandomState(seed).permutation(y.size)
    labeled, test, rest = np.split(order, [N_LABELED, N_LABELED + N_TEST])
    noisy, _ = flip_labels(y[labeled], NOISE, random_state=seed)
    file = place / f"{name}-{seed}.parquet"
    pd.DataFrame(X[rest], columns=[f"f{j}" for j in range(X.shape[1])]).to_parquet(file, index=False)
    records = []
    for method, settings in METHODS.items():
        for cap in CAPS:
            model = PseudoLabelClassifier(random_state=seed, n_jobs=1, **settings)
            pool = ParquetPool(file, stays=True, max_train_rows=cap)
            p = model.fit(X[labeled], noisy, pool).predict_proba(X[test])
            seen = {"table": name, "seed": seed, "method": method, "cap": "none" if cap is None else cap}
            records.append(seen | {"useful_rows": int(model.history_["n_pseudo"].max())} | scores_of(y[test], p))
    return records


def with_error(values: pd.Series) -> str:
    """Mean over seeds, and its standard error."""
    return f"{values.mean():.3f} ± {values.std() / np.sqrt(values.size):.3f}"


def main() -> None:
    """Measure, print, keep."""
    warnings.simplefilter("ignore")
    names = ["adult", "credit"] if has_real_tables() else ["synthetic"]
    seeds = range(2 if options(__doc__).quick else 5)
    with one_thread(), tempfile.TemporaryDirectory() as place:
        records = [r for name in names for seed in seeds for r in records_of(name, seed, Path(place))]
    frame = pd.DataFrame(records)
    grouped = frame.groupby(["table", "method", "cap"], sort=False)
    shown = grouped[["accuracy", "log_loss", "auc"]].agg(with_error)
    shown.insert(0, "useful_rows", grouped["useful_rows"].mean().round())
    show("Training rows capped; mean over seeds ± standard error", shown)
    keep("training_cap", {"runs": records})


if __name__ == "__main__":
    main()
