"""The watch pass: against one plain prediction, against the fit, and against the textbook way. One thread.

python benchmarks/watch.py [--quick]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from common import show
from data import make_table
from harness import Times, against, in_child, in_turn, keep, one_thread, options
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from dips._dynamics import STATISTICS, Dynamics, Watch
from dips.backbones import find_backbone

BACKBONES = ("XGBoost", "LightGBM", "CatBoost", "HistGradientBoosting")
PATIENCE_S = 30.0  # a textbook pass that would take longer is not waited for
MEASURABLE = 50_000  # with fewer rows, memory goes into what the process had left over


def backbone(name: str, trees: int) -> BaseEstimator:
    """Build a booster with its library's own defaults, but for the number of trees and threads."""
    match name:
        case "XGBoost":
            from xgboost import XGBClassifier

            return XGBClassifier(n_estimators=trees, n_jobs=1)
        case "LightGBM":
            from lightgbm import LGBMClassifier

            return LGBMClassifier(n_estimators=trees, n_jobs=1, verbosity=-1)
        case "CatBoost":
            from catboost import CatBoostClassifier

            return CatBoostClassifier(iterations=trees, thread_count=1, verbose=0, allow_writing_files=False)
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=trees, early_stopping=False)


def watch(fitted: BaseEstimator, X: np.ndarray, n_classes: int, statistics: Any = ("confidence", "aleatoric")) -> Any:
    """Run the watch pass of a fitted booster; return its dynamics."""
    dynamics = Dynamics(len(X), n_classes, statistics)
    find_backbone(fitted).replay(fitted, Watch(X, dynamics))
    return dynamics


def portable_watch(fitted: BaseEstimator, X: np.ndarray, n_classes: int) -> Any:
    """Run it as an installation without the compiled code does."""
    dynamics, family = Dynamics(len(X), n_classes), find_backbone(fitted)
    dynamics.begin(family.n_checkpoints(fitted, X))
    for p in family.stages(fitted, X):
        dynamics.update(p)
    dynamics.finish()
    return dynamics


def checkpoints(fitted: BaseEstimator, X: np.ndarray, trees: int) -> Iterator[np.ndarray]:
    """Probabilities at every checkpoint as a textbook has them: a prediction each, with all trees up to there."""
    name = type(fitted).__name__
    if hasattr(fitted, "staged_predict_proba") and not name.startswith("CatBoost"):
        yield from fitted.staged_predict_proba(X)
        return
    for e in range(1, trees + 1):
        if name.startswith("XGB"):
            yield fitted.predict_proba(X, iteration_range=(0, e))
        elif name.startswith("LGBM"):
            yield fitted.predict_proba(X, num_iteration=e)
        else:
            yield fitted.predict_proba(X, ntree_end=e)


def textbook(fitted: BaseEstimator, X: np.ndarray, trees: int) -> tuple[np.ndarray, np.ndarray]:
    """Definitions 4.1 and 4.2 from the checkpoints: mean of p and mean of p(1 - p), (n, C) each."""
    confidence = aleatoric = np.zeros(())
    for p in checkpoints(fitted, X, trees):
        p = p.astype(np.float64)
        confidence, aleatoric = confidence + p / trees, aleatoric + p * (1 - p) / trees
    return confidence, aleatoric


def measure(name: str, rows: int, n_classes: int, trees: int) -> dict[str, Any]:
    """Time fit, prediction, watch pass and textbook way on the same rows."""
    X, y = make_table(rows, n_classes)
    fitted = backbone(name, trees)
    fit = in_turn({"fit": lambda: fitted.fit(X, y)}, at_least=1, at_most=3, seconds=2)["fit"]
    times = in_turn({"predict": lambda: fitted.predict_proba(X), "watch": lambda: watch(fitted, X, n_classes)})
    slow = {"portable": lambda: portable_watch(fitted, X, n_classes)}
    if times["predict"].wall_s * trees / 2 < PATIENCE_S:
        slow["textbook"] = lambda: textbook(fitted, X, trees)
    times |= in_turn(slow, at_least=1, at_most=5)
    memory = {}
    if rows >= MEASURABLE:
        memory = {kind: in_child(_act, kind, fitted, rows, n_classes).added_mb for kind in ("predict", "watch")}
    cell = {"backbone": name, "rows": rows, "classes": n_classes, "trees": trees}
    return cell | _times({"fit": fit, "textbook": None, **times}) | {f"{k}_mb": v for k, v in memory.items()}


def _act(kind: str, fitted: BaseEstimator, rows: int, n_classes: int) -> Any:
    X, _ = make_table(rows, n_classes)
    watch(fitted, X[:100], n_classes)  # what is imported or compiled at first use is not the pass's own
    if kind == "predict":
        return lambda: fitted.predict_proba(X).sum()
    return lambda: watch(fitted, X, n_classes).probabilities.sum()


def _times(times: dict[str, Times | None]) -> dict[str, float]:
    missing = float("nan")
    wall = {f"{name}_s": t.wall_s if t else missing for name, t in times.items()}
    return wall | {f"{name}_cpu_s": t.cpu_s if t else missing for name, t in times.items()}


def bars(r: pd.Series) -> dict[str, float | None]:
    """Look up what the watch pass may cost, by what it is compared with."""
    if r["backbone"] != "XGBoost":
        return {"predict": 4, "fit": None, "textbook": None}
    predict = 2.5 if r["classes"] > 2 else 2 if r["rows"] >= 100_000 else 3 if r["rows"] >= 10_000 else None
    is_main = r["classes"] == 2 and r["rows"] >= 10_000
    return {"predict": predict, "fit": 10 if is_main else None, "textbook": 25 if r["rows"] >= 50_000 else None}


def present(records: list[dict[str, Any]]) -> None:
    """Print CPU times, which on one thread are what a free core takes, and their ratios beside the bars."""
    rows = []
    for _, r in pd.DataFrame(records).iterrows():
        bar = bars(r)
        shown = {"backbone": r["backbone"], "rows": f"{r['rows']:,}", "classes": r["classes"], "trees": r["trees"]}
        fit, predict, watched, naive = (r[f"{k}_cpu_s"] for k in ("fit", "predict", "watch", "textbook"))
        shown |= {f"{k} ms": _ms(r[f"{k}_cpu_s"]) for k in ("fit", "predict", "watch", "portable", "textbook")}
        shown["watch wall ms"] = _ms(r["watch_s"])
        shown["watch / predict"] = against(watched / predict, bar["predict"])
        shown["watch / fit, %"] = against(100 * watched / fit, bar["fit"])
        shown["textbook / watch"] = against(naive / watched, bar["textbook"], at_most=False)
        shown |= {f"{k} MB": "" if np.isnan(r[f"{k}_mb"]) else f"{r[f'{k}_mb']:.0f}" for k in ("predict", "watch")}
        rows.append(shown)
    show("The watch pass, one thread; CPU time, best of repeats; MB: what it adds at its peak", _indexed(rows))


def _ms(seconds: float) -> str:
    return "" if np.isnan(seconds) else f"{1000 * seconds:,.1f}"


def _indexed(rows: list[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    return frame.set_index(frame.columns[0])


def by_statistics(rows: int) -> list[dict[str, Any]]:
    """Time the pass by what is asked for: one statistic at a time, the default two, all."""
    X, y = make_table(rows)
    fitted = backbone("XGBoost", 100).fit(X, y)
    asked = {"confidence, aleatoric": STATISTICS[:2]} | {s: (s,) for s in STATISTICS} | {"all": STATISTICS}
    acts: dict[str, Any] = {"predict": lambda: fitted.predict_proba(X)}
    acts |= {name: lambda s=s: watch(fitted, X, 2, s) for name, s in asked.items()}
    times = in_turn(acts, at_most=10, seconds=8)
    floor = times.pop("predict").cpu_s
    return [
        {"statistics": name, "rows": rows, "ms": round(1000 * t.cpu_s, 1), "/ predict": round(t.cpu_s / floor, 2)}
        for name, t in times.items()
    ]


def by_epochs(rows: int) -> list[dict[str, Any]]:
    """Watch a network while it trains: every epoch costs one prediction of the pool, which is no cheaper to have."""
    X, y = make_table(rows)
    network, epochs = MLPClassifier(max_iter=20, n_iter_no_change=100, random_state=0), 20
    family = find_backbone(network)
    times = in_turn(
        {
            "fit": lambda: family.fit(network, X, y),
            "watched": lambda: family.fit(network, X, y, watch=Watch(X, Dynamics(rows, 2))),
        },
        at_most=5,
    )
    predict = in_turn({"predict": lambda: network.predict_proba(X)})["predict"].cpu_s
    fit, watched = times["fit"].cpu_s, times["watched"].cpu_s
    costs_ms = {"fit ms": 1000 * fit, "watched fit ms": 1000 * watched, "20 predictions ms": 1000 * epochs * predict}
    costs = {name: round(value, 1) for name, value in (costs_ms | {"ratio": watched / fit}).items()}
    return [{"backbone": "MLP", "rows": rows} | costs]


def grid(quick: bool) -> list[tuple[str, int, int, int]]:
    """Cells as (backbone, rows, classes, trees): rows with the main setting, then classes and trees."""
    sizes = [1_000, 10_000, 50_000] if quick else [1_000, 10_000, 50_000, 100_000, 1_000_000]
    cells = [("XGBoost", n, 2, 100) for n in sizes]
    others = [10_000] if quick else [10_000, 100_000]
    cells += [("XGBoost", n, c, t) for n in others for c, t in ((10, 100), (2, 500))]
    return cells + [(name, n, c, 100) for name in BACKBONES[1:] for n in others for c in (2, 10)]


def main() -> None:
    """Measure, print, keep."""
    chosen = options(__doc__)
    cells, records = grid(chosen.quick), []
    warnings.simplefilter("ignore", ConvergenceWarning)
    with one_thread():
        for cell in cells:
            records.append(measure(*cell))
            print(f"{len(records)} of {len(cells)}: {cell}", file=sys.stderr, flush=True)
        statistics, epochs = by_statistics(50_000), by_epochs(10_000)
    present(records)
    show("The watch pass by statistics, XGBoost, 100 trees, two classes", _indexed(statistics))
    show("A network, watched while it trains, 20 epochs", _indexed(epochs))
    keep("watch", {"pass": records, "statistics": statistics, "epochs": epochs})


if __name__ == "__main__":
    main()
