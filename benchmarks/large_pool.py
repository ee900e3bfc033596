"""Is the whole pool worth a pass? Accuracy, log loss and AUC against 10³ to 10⁷ unlabeled rows of grown real tables.

python benchmarks/large_pool.py [--rows 1000 10000] [--tables adult credit] [--seeds 2] [--methods default greedy dips]

400 labels, a fifth of them wrong, 20,000 test rows; tables as in ``grown.py``, from the folder in DIPS_DATA. The
default learns from all the rows that it is given. The published methods run their rounds over rows that stay in Parquet
files, and train on at most 200,000 of them. Every figure is printed as soon as it is there.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import scores_of, show
from grown import GrownTable
from harness import keep, one_thread

from dips import ParquetPool, PseudoLabelClassifier
from dips.curators import Beliefs
from dips.datasets import flip_labels

N_LABELED, NOISE, N_TEST, MAX_TRAIN_ROWS = 400, 0.2, 20_000, 200_000
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def fitted(method: str, X: np.ndarray, y: np.ndarray, folder: Path, n: int, seed: int) -> PseudoLabelClassifier:
    """The default on n rows, or published rounds over them."""
    if method == "default":
        model = PseudoLabelClassifier(curator=Beliefs(max_unlabeled=n), random_state=seed, n_jobs=1)
        return model.fit(X, y, ParquetPool(folder))
    curator = {"greedy": "none", "dips": "dips"}[method]
    pool = ParquetPool(folder, stays=True, max_train_rows=MAX_TRAIN_ROWS)
    return PseudoLabelClassifier(curator=curator, random_state=seed, n_jobs=1).fit(X, y, pool)


def records_of(name: str, seed: int, sizes: list[int], methods: list[str]) -> list[dict[str, Any]]:
    """One table and seed, every method and number of rows."""
    table, records = GrownTable(name), []
    known = table.rows(N_LABELED + N_TEST, seed=1_000 * seed)
    truth = table.labels(known, seed)
    X, X_test, y_test = known[:N_LABELED], known[N_LABELED:], truth[N_LABELED:]
    noisy, _ = flip_labels(truth[:N_LABELED], NOISE, random_state=seed)
    for n in sizes:
        with tempfile.TemporaryDirectory() as place:
            table.write(Path(place), n, seed=1_000 * seed)
            for method in methods:
                began = time.process_time()
                p = fitted(method, X, noisy, Path(place), n, seed).predict_proba(X_test)
                figures = scores_of(y_test, p) | {"cpu_s": time.process_time() - began}
                records.append({"table": name, "method": method, "rows": n, "seed": seed} | figures)
                print(records[-1], flush=True)
    return records


def main() -> None:
    """Measure, print, keep."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES)
    parser.add_argument("--tables", nargs="+", default=["adult", "credit"])
    parser.add_argument("--methods", nargs="+", default=["default", "greedy", "dips"])
    parser.add_argument("--seeds", type=int, default=2)
    told = parser.parse_args()
    with one_thread():
        records = [
            record
            for name in told.tables
            for seed in range(told.seeds)
            for record in records_of(name, seed, told.rows, told.methods)
        ]
    frame = pd.DataFrame(records).drop(columns="seed").groupby(["table", "method", "rows"])
    shown = frame.mean().round({"accuracy": 1, "log_loss": 3, "auc": 1, "cpu_s": 0})
    show(f"Unlabeled rows used, {N_LABELED} labels, {NOISE:.0%} wrong; mean over {told.seeds} seeds", shown)
    keep("large_pool", {"runs": records})


if __name__ == "__main__":
    main()
