"""How time and memory grow with the rows: every step by itself, and whole runs in memory. One thread.

python benchmarks/growth.py [--quick]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from common import show
from data import make_table
from harness import MB, against, exponent, in_child, keep, one_thread, options
from watch import watch
from xgboost import XGBClassifier

from dips import PseudoLabelClassifier, characterize
from dips.curators._adaptive import noise_rate
from dips.curators._second_opinion import linear_out_of_fold
from dips.labelers._base import best_of_each_class, caps_of_round
from dips.labelers._sinkhorn import allocate

LABELED = 10  # one row in so many has a label
LINEAR = 1.1  # an exponent up to this passes for linear: caches are outgrown, and times are noisy
FEW_MB = 5  # less is lost in what a process has left over

EVEN = np.full(2, 0.5)
Act = Callable[[], Any]


def backbone() -> XGBClassifier:
    return XGBClassifier(n_jobs=1)


def training(n: int) -> Act:
    """Fit the backbone and predict with it once: what there is without any of ours."""
    X, y = make_table(n)
    return lambda: backbone().fit(X, y).predict_proba(X)


def watching(n: int) -> Act:
    """Watch all rows; the model is trained on a part, for it is the pass that is measured."""
    X, y = make_table(n, dtype=np.float32)
    fitted = backbone().fit(X[:10_000], y[:10_000])
    watch(fitted, X[:100], 2)
    return lambda: watch(fitted, X, 2)


def choosing(n: int) -> Act:
    """The caps of a round, and the best rows of each class up to them."""
    p = _probabilities(n)

    def act() -> None:
        labels, scores = p.argmax(axis=1), p.max(axis=1)
        best_of_each_class(labels, scores, scores > 0.8, caps_of_round(EVEN, 1, 5, n))

    return act


def allocating(n: int) -> Act:
    """Sinkhorn's allocation of all rows."""
    p = _probabilities(n)

    def act() -> None:
        for _rows, _mass in allocate(p, EVEN, share=1 / 3):
            pass

    return act


def _probabilities(n: int) -> np.ndarray:
    p = np.random.RandomState(0).uniform(size=n)
    return np.column_stack([1 - p, p]).astype(np.float32)


def estimating(n: int) -> Act:
    """The noise rate, but for the backbone's own folds: those of the second opinion, and the counting."""
    X, y = make_table(n)
    return lambda: noise_rate(linear_out_of_fold(X, y, 2, 5), y)


def auditing(n: int) -> Act:
    """The default curator on labeled rows."""
    X, y = make_table(n)
    return lambda: characterize(backbone(), X, y, random_state=0, n_jobs=1)


def running(n: int, curator: str) -> Act:
    """A whole run of five rounds with the greedy labeler."""
    X, y = make_table(n)
    y[np.arange(n) % LABELED > 0] = -1
    return partial(PseudoLabelClassifier(backbone(), curator=curator, random_state=0, n_jobs=1).fit, X, y)


STEPS: dict[str, tuple[Callable[[int], Act], int]] = {  # and the most rows that a whole benchmark has patience for
    "fit and predict": (training, 1_000_000),
    "watch": (watching, 10_000_000),
    "caps and best rows": (choosing, 10_000_000),
    "Sinkhorn": (allocating, 10_000_000),
    "second opinion, noise rate": (estimating, 1_000_000),
    "audit": (auditing, 300_000),
    "plain run": (partial(running, curator="none"), 1_000_000),
    "curated run": (partial(running, curator="auto"), 1_000_000),
}
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)


def measure(step: str, n: int) -> dict[str, Any]:
    """Run one step on n rows in a process of its own."""
    print(f"{step}, {n:,} rows", file=sys.stderr, flush=True)
    used = in_child(_prepared, step, n)
    return {"step": step, "rows": n, "wall_s": used.wall_s, "cpu_s": used.cpu_s, "added_mb": used.added_mb}


def _prepared(step: str, n: int) -> Act:
    warnings.simplefilter("ignore")
    return STEPS[step][0](n)


def present(records: pd.DataFrame) -> None:
    """Print a line a step: its cost at each size, and the exponent of its growth."""
    for column, unit, floor in (("cpu_s", "CPU seconds", 0.0), ("added_mb", "MB added at the peak", FEW_MB)):
        rows = []
        for step, of_step in records.groupby("step", sort=False):
            costs = dict(zip(of_step["rows"], of_step[column], strict=True))
            line = {"step": step} | {f"{n:,}": f"{costs[n]:.3g}" if n in costs else "" for n in SIZES}
            counted = {n: cost for n, cost in costs.items() if cost > floor}
            slope = exponent(counted) if len(counted) > 1 else float("nan")
            rows.append(line | {"exponent": against(slope, LINEAR)})
        show(f"{unit} by rows; two classes, 20 features", pd.DataFrame(rows).set_index("step"))


def present_memory(records: pd.DataFrame) -> None:
    """Print what runs in memory add beside what they may: 3 numbers a row and class, and the backbone's own."""
    added = records.pivot_table("added_mb", index="rows", columns="step")
    rows = []
    for n, mb in added.dropna(subset=["curated run", "fit and predict"]).iterrows():
        allowed = round(3 * n * 2 * 8 / MB + mb["fit and predict"])
        line = {"rows": f"{n:,}", "input MB": f"{n * 21 * 8 / MB:.0f}", "backbone MB": f"{mb['fit and predict']:.0f}"}
        rows.append(line | {f"{run} MB": against(round(mb[run]), allowed) for run in ("plain run", "curated run")})
    title = "Memory of whole runs beyond the input, against 3nC numbers and the backbone's own"
    show(title, pd.DataFrame(rows).set_index("rows"))


def main() -> None:
    """Measure, print, keep."""
    most = 100_000 if options(__doc__).quick else SIZES[-1]
    with one_thread():
        records = [measure(s, n) for s, (_, limit) in STEPS.items() for n in SIZES if n <= min(limit, most)]
    present(pd.DataFrame(records))
    present_memory(pd.DataFrame(records))
    keep("growth", {"growth": records})


if __name__ == "__main__":
    main()
