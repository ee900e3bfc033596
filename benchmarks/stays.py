"""Rows that stay where they are: memory and time of two rounds over 10⁶ to 10⁸ rows in Parquet files, on one thread.

python benchmarks/stays.py [--rows 1000000 10000000]

20 columns in single precision. The files of 10⁸ rows are those of 10⁷, each under ten names, so that they need no more
disk; to the pool they are rows like any others.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import show
from data import make_table, write_parquet
from harness import against, exponent, in_child, keep, one_thread
from xgboost import XGBClassifier

from dips import ParquetPool, PseudoLabelClassifier
from dips.datasets import flip_labels

N_LABELED, N_TREES, MAX_TRAIN_ROWS = 2_000, 30, 100_000
SIZES = (1_000_000, 10_000_000, 100_000_000)
MOST_WRITTEN = 10_000_000
BAR_MB = 4096


def run(folder: str) -> Callable[[], dict[str, Any]]:
    """Two rounds by rules: watch, select, judge and count all rows, and train on a sample of the pseudo-labels."""
    warnings.simplefilter("ignore")
    X, y = make_table(N_LABELED, dtype=np.float32)
    noisy, _ = flip_labels(y, 0.2, random_state=0)

    def act() -> dict[str, Any]:
        model = PseudoLabelClassifier(
            XGBClassifier(n_estimators=N_TREES, max_depth=3, n_jobs=1),
            curator="adaptive", n_rounds=2, random_state=0, n_jobs=1,
        )  # fmt: skip
        model.fit(X, noisy, ParquetPool(folder, stays=True, max_train_rows=MAX_TRAIN_ROWS))
        return {"pseudo_labels": int(model.history_["n_proposed"].sum())}

    return act


def write(folder: Path, n: int) -> None:
    """Write the rows, or more names for them where they are many."""
    n_written = min(n, MOST_WRITTEN)
    write_parquet(folder, n_written)
    for file in sorted(folder.iterdir()):
        for k in range(1, n // n_written):
            os.link(file, folder / f"again-{k:02d}-{file.name}")


def measure(n: int) -> dict[str, Any]:
    """Write the folder, run over it in a process of its own, and delete it."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), n)
        used = in_child(run, folder)
    return {"rows": n, "wall_s": used.wall_s, "cpu_s": used.cpu_s, "peak_mb": used.peak_mb} | used.figures


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES, help="two sizes or more")
    sizes = parser.parse_args().rows
    with one_thread():
        records = [measure(n) for n in sizes]
    frame = pd.DataFrame(records).set_index("rows").round({"wall_s": 1, "cpu_s": 1})
    frame["peak_mb"] = [against(round(r["peak_mb"]), BAR_MB) for r in records]
    time, memory = (exponent({r["rows"]: r[cost] for r in records}) for cost in ("cpu_s", "peak_mb"))
    show(f"Rows that stay, one thread; exponents: CPU time {time:.2f}, memory {memory:.2f}", frame)
    keep("stays", {"runs": records})


if __name__ == "__main__":
    main()
