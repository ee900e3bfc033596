"""What an audit costs, in fits of the backbone: `characterize` beside one fit, with 1,000 to 50,000 labels.

python benchmarks/audit.py [--quick]; a synthetic table of 20 columns, a fifth of the labels wrong, one thread.
"""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
from common import show
from data import make_table
from harness import against, in_turn, keep, one_thread, options
from xgboost import XGBClassifier

from dips import characterize
from dips.datasets import flip_labels

BAR, BAR_AT = 3.0, 50_000  # fits, and the labels from which they count
CURATORS = ("auto", "adaptive", "dips")


def measure(n: int, curator: str) -> dict[str, Any]:
    """CPU seconds of a fit and of an audit of so many labels."""
    X, y = make_table(n)
    noisy, _ = flip_labels(y, 0.2, random_state=0)
    contenders = {
        "fit": lambda: XGBClassifier(n_jobs=1).fit(X, noisy),
        "audit": lambda: characterize(XGBClassifier(n_jobs=1), X, noisy, curator=curator, random_state=0, n_jobs=1),
    }
    times = in_turn(contenders, at_least=2, seconds=20)
    fit, audit = times["fit"].cpu_s, times["audit"].cpu_s
    return {"labels": n, "curator": curator, "fit_cpu_s": fit, "audit_cpu_s": audit, "fits": audit / fit}


def summary(records: list[dict[str, Any]]) -> pd.DataFrame:
    """Lay out a line for each size and curator."""
    lines = [
        {
            "labels": f"{r['labels']:,}",
            "curator": r["curator"],
            "fit, CPU s": f"{r['fit_cpu_s']:.2f}",
            "audit, CPU s": f"{r['audit_cpu_s']:.2f}",
            "audit in fits": against(r["fits"], BAR if r["labels"] >= BAR_AT and r["curator"] == "auto" else None),
        }
        for r in records
    ]
    return pd.DataFrame(lines).set_index("labels")


def main() -> None:
    """Measure, print, keep."""
    sizes = (1_000, 10_000) if options(__doc__).quick else (1_000, 10_000, BAR_AT)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = [measure(n, curator) for n in sizes for curator in CURATORS]
    show("An audit in fits of XGBoost with 100 trees of depth 6, 20 columns, one thread", summary(records))
    keep("audit", {"audit": records})


if __name__ == "__main__":
    main()
