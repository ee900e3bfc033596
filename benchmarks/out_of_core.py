"""A pool that does not fit in memory: the default over ten million rows in a folder of Parquet files, under 4 GB.

python benchmarks/out_of_core.py [--quick]
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import show
from data import make_table, write_parquet
from harness import MB, against, exponent, in_child, keep, one_thread, options
from xgboost import XGBClassifier

from dips import PseudoLabelClassifier
from dips.datasets import flip_labels

N_LABELED = 20_000
N_TREES = 30  # few: it is the reading, watching and choosing that is measured, not XGBoost
BAR_MB = 4096
TEST_SEED = 10**6  # no file has it


def run(folder: str) -> Callable[[], dict[str, Any]]:
    """The default over the folder; labels are few, and a fifth of them wrong."""
    warnings.simplefilter("ignore")
    X, y = make_table(N_LABELED, dtype=np.float32)
    noisy, _ = flip_labels(y, 0.2, random_state=0)
    X_test, y_test = make_table(N_LABELED, seed=TEST_SEED, dtype=np.float32)

    def act() -> dict[str, Any]:
        model = PseudoLabelClassifier(
            XGBClassifier(n_estimators=N_TREES, n_jobs=1), random_state=0, n_jobs=1, verbose=1
        )
        model.fit(X, noisy, X_unlabeled=Path(folder))
        return {"rounds": model.n_iter_, "accuracy": model.score(X_test, y_test)}

    return act


def measure(n: int) -> dict[str, Any]:
    """Write the folder, run over it in a process of its own, and delete it."""
    with tempfile.TemporaryDirectory() as folder:
        write_parquet(Path(folder), n)
        on_disk = sum(file.stat().st_size for file in Path(folder).iterdir()) / MB
        used = in_child(run, folder)
    cost = {"wall_s": used.wall_s, "cpu_s": used.cpu_s, "peak_mb": used.peak_mb}
    return {"rows": n, "on_disk_mb": on_disk} | cost | used.figures


def main() -> None:
    """Measure, print, keep."""
    sizes = [100_000, 300_000] if options(__doc__).quick else [1_000_000, 10_000_000]
    with one_thread():
        records = [measure(n) for n in sizes]
    frame = pd.DataFrame(records).set_index("rows").round({"on_disk_mb": 0, "wall_s": 1, "cpu_s": 1, "accuracy": 4})
    frame["peak_mb"] = [against(round(r["peak_mb"]), BAR_MB) for r in records]
    time, memory = (exponent({r["rows"]: r[cost] for r in records}) for cost in ("cpu_s", "peak_mb"))
    title = f"Out of core, one thread; peak: all of the process; exponents: CPU time {time:.2f}, memory {memory:.2f}"
    show(title, frame)
    keep("out_of_core", {"runs": records})


if __name__ == "__main__":
    main()
