"""Memory and time of training XGBoost on rows that are handed over a batch at a time, beside all at once.

python benchmarks/training_batches.py [--quick]

Half of the rows of a pool in Parquet files, 20 columns in single precision, on one thread; the models are compared.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import show
from data import N_FEATURES, write_parquet
from harness import in_child, keep, one_thread, options
from xgboost import XGBClassifier

from dips import ParquetPool
from dips._rounds.training import Trainer
from dips.backbones._xgboost import XGBoost


def train(folder: str, in_batches: bool) -> Callable[[], dict[str, Any]]:
    """Train on every second row, with labels by the sign of the first column."""
    pool = ParquetPool(folder).like(np.zeros((2, N_FEATURES), dtype=np.float32))
    rows = np.arange(0, pool.n_rows, 2)
    labels = (pool.map(lambda X: X[:, :1], rows)[:, 0] > 0).astype(np.int64)
    if not in_batches:
        XGBoost.takes_batches = lambda self, estimator: False  # type: ignore[method-assign]

    def act() -> dict[str, Any]:
        backbone = XGBClassifier(n_estimators=30, max_depth=3, n_jobs=1)
        model = Trainer(backbone, pool, 2, None, np.random.RandomState(0)).fit(rows, labels)
        return {"model": zlib.crc32(model.get_booster().save_raw("ubj"))}

    return act


def main() -> None:
    """Measure, print, keep."""
    n, records = 500_000 if options(__doc__).quick else 4_000_000, []
    with one_thread(), tempfile.TemporaryDirectory() as folder:
        write_parquet(Path(folder), n)
        for how in ("at once", "in batches"):
            used = in_child(train, folder, how == "in batches")
            records.append({"rows": n // 2, "how": how, "cpu_s": used.cpu_s, "peak_mb": used.peak_mb} | used.figures)
    frame = pd.DataFrame(records).set_index("how").round({"cpu_s": 1, "peak_mb": 0})
    show("XGBoost, 30 trees, trained on half of a pool", frame)
    keep("training_batches", {"runs": records})


if __name__ == "__main__":
    main()
