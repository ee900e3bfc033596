"""Is the whole pool worth a pass? Accuracy, log loss and AUC against the unlabeled rows that are used.

python benchmarks/pool_size.py [--quick]

400 labels, a fifth of them wrong. On adult and credit where DIPS_DATA names them, and on a synthetic table, which alone
has more than 25,000 rows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import tables
from common import scores_of, show
from data import has_real_tables, make_table
from harness import keep, one_thread, options

from dips import PseudoLabelClassifier
from dips.curators import Beliefs
from dips.datasets import flip_labels

N_LABELED, NOISE, N_TEST = 400, 0.2, 4_000
SIZES = (0, 100, 1_000, 2_000, 10_000, 25_000, 100_000)


def models(n: int, seed: int) -> dict[str, PseudoLabelClassifier]:
    """The default, and the published rounds with and without curation."""
    common = {"random_state": seed, "n_jobs": 1}
    return {
        "default": PseudoLabelClassifier(curator=Beliefs(max_unlabeled=n), **common),
        "greedy": PseudoLabelClassifier(curator="none", **common),
        "greedy, dips": PseudoLabelClassifier(curator="dips", **common),
    }


def records_of(name: str, seed: int, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """One table and seed, every method and number of rows."""
    X, y = tables.load(name) if name != "synthetic" else make_table(N_LABELED + N_TEST + max(sizes), seed=seed)
    order = np.random.RandomState(seed).permutation(y.size)
    labeled, test, rest = np.split(order, [N_LABELED, N_LABELED + N_TEST])
    noisy, _ = flip_labels(y[labeled], NOISE, random_state=seed)
    records = []
    for n in (size for size in sizes if size <= rest.size):
        for method, model in models(n, seed).items():
            if n or method == "default":
                p = model.fit(X[labeled], noisy, X[rest[:n]] if n else None).predict_proba(X[test])
                named = {"table": name, "seed": seed, "method": method, "rows": n}
                records.append(named | scores_of(y[test], p))
    return records


def main() -> None:
    """Measure, print, keep."""
    warnings.simplefilter("ignore")
    quick = options(__doc__).quick
    names = [*(["adult", "credit"] if has_real_tables() else []), "synthetic"]
    seeds, sizes = (range(1), SIZES[:4]) if quick else (range(3), SIZES)
    with one_thread():
        records = [r for name in names for seed in seeds for r in records_of(name, seed, sizes)]
    frame = pd.DataFrame(records).drop(columns="seed").groupby(["table", "method", "rows"]).mean()
    show(
        "Unlabeled rows used, 400 labels, 20 % wrong; mean over seeds",
        frame.round({"accuracy": 1, "log_loss": 3, "auc": 1}),
    )
    keep("pool_size", {"runs": records})


if __name__ == "__main__":
    main()
