"""Whole runs on adult-sized data, a fifth of the labels wrong: time and accuracy together, ours beside others'.

DIPS_DATA=folder python benchmarks/runs.py [--quick] [--only greedy default]; without the folder, a synthetic table of
the same size is taken. Everything runs on one thread. Every repeat has a seed of its own and runs all the methods one
after another.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from common import show, with_error
from data import Split, adult, has_real_tables
from harness import against, in_child, keep, one_thread, options, timed
from sklearn.semi_supervised import SelfTrainingClassifier
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier
from dips.labelers import CSA, SLA, UPS, FlexMatch, Greedy, Labeler

ROUNDS = 5
CURATORS = ("none", "dips", "auto")
BAR = 1.1  # curated over plain, the labeler being the same
DEFAULT, DEFAULT_BAR = "default", 1.5  # over plain greedy pseudo-labeling

Fit = Callable[[Split, int], Any]
"""Trains on a split with a seed; returns something with ``score``."""


def backbone(seed: int) -> XGBClassifier:
    """XGBoost as it comes, on one thread."""
    return XGBClassifier(n_jobs=1, random_state=seed)


def supervised(data: Split, seed: int) -> Any:
    return backbone(seed).fit(data.X, data.y)


def curated(data: Split, seed: int, curator: str) -> Any:
    return CuratedClassifier(backbone(seed), curator=curator, random_state=seed).fit(data.X, data.y)


def clean_learning(data: Split, seed: int) -> Any:
    """Cleanlab's own way: five folds, drop what confident learning finds, fit again."""
    from cleanlab.classification import CleanLearning

    return CleanLearning(backbone(seed), seed=seed, find_label_issues_kwargs={"n_jobs": 1}).fit(data.X, data.y)


def self_training(data: Split, seed: int) -> Any:
    """Scikit-learn's loop; it fits once more after its last iteration, so one less makes as many fits."""
    X = np.vstack([data.X, data.X_unlabeled])
    y = np.append(data.y, np.full(len(data.X_unlabeled), -1))
    return SelfTrainingClassifier(backbone(seed), threshold=0.8, max_iter=ROUNDS - 1).fit(X, y)


def pseudo_labeling(data: Split, seed: int, labeler: Labeler, curator: str) -> Any:
    model = PseudoLabelClassifier(
        backbone(seed), labeler=labeler, curator=curator, n_rounds=ROUNDS, random_state=seed, n_jobs=1
    )
    return model.fit(data.X, data.y, X_unlabeled=data.X_unlabeled)


def default(data: Split, seed: int) -> Any:
    """What a user gets who sets nothing."""
    model = PseudoLabelClassifier(backbone(seed), random_state=seed, n_jobs=1)
    return model.fit(data.X, data.y, X_unlabeled=data.X_unlabeled)


def labelers() -> dict[str, Labeler]:
    """List the five; ensembles have three members here, and their own benchmark has more."""
    ups, sla, csa = UPS(n_models=3), SLA(threshold=0.5, n_models=3), CSA(threshold=0.5, n_models=3)
    return {"greedy": Greedy(0.8), "flexmatch": FlexMatch(0.8), "ups": ups, "sla": sla, "csa": csa}


def methods() -> dict[tuple[str, str], Fit]:
    """Every way to train, by method and curator."""
    ways: dict[tuple[str, str], Fit] = {
        ("supervised", ""): supervised,
        ("cleanlab CleanLearning", ""): clean_learning,
        ("curated labels", "dips"): partial(curated, curator="dips"),
        ("curated labels", "auto"): partial(curated, curator="auto"),
        ("scikit-learn SelfTraining", ""): self_training,
        (DEFAULT, "auto"): default,
    }
    for name, labeler in labelers().items():
        for curator in CURATORS:
            ways[name, curator] = partial(pseudo_labeling, labeler=labeler, curator=curator)
    return ways


def one_repeat(seed: int, fits: Mapping[tuple[str, str], Fit]) -> list[dict[str, Any]]:
    """Run every method once, on the same rows."""
    data, records = adult(seed), []
    for (method, curator), fit in fits.items():
        wall_s, cpu_s, model = timed(partial(fit, data, seed))
        record = {"method": method, "curator": curator, "seed": seed, "wall_s": wall_s, "cpu_s": cpu_s}
        records.append(record | {"accuracy": float(model.score(data.X_test, data.y_test))})
    return records


def peak_mb(method: str, curator: str) -> float:
    """What a run adds to the memory that its input takes, at its peak, in a process of its own."""
    return in_child(_act, method, curator).added_mb


def _act(method: str, curator: str) -> Callable[[], None]:
    data, fit = adult(0), methods()[method, curator]

    def act(data: Split) -> None:
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit(data, 0)

    act(replace(data, X=data.X[:200], y=data.y[:200], X_unlabeled=data.X_unlabeled[:200]))  # loads what it needs
    return partial(act, data)


def summary(records: pd.DataFrame, memory: dict[tuple[str, str], float]) -> pd.DataFrame:
    """Lay out a line a method: median times, the median ratio to plain on the same rows, accuracy, peak memory."""
    cpu = records.pivot_table("cpu_s", index="seed", columns=["method", "curator"])
    rows = []
    for (method, curator), runs in records.groupby(["method", "curator"], sort=False):
        line = {"method": method, "curator": curator}
        line |= {f"{kind} s": f"{runs[f'{kind}_s'].median():.2f}" for kind in ("wall", "cpu")}
        plain, bar = ("greedy", DEFAULT_BAR) if method == DEFAULT else (method, BAR)
        line["curated / plain"] = ""
        if (plain, "none") in cpu and curator != "none":
            line["curated / plain"] = against(float((cpu[method, curator] / cpu[plain, "none"]).median()), bar)
        line |= {"peak MB": f"{memory[method, curator]:.0f}", "accuracy": with_error(runs["accuracy"])}
        rows.append(line)
    return pd.DataFrame(rows).set_index("method")


def main() -> None:
    """Measure, print, keep."""
    chosen = options(__doc__, {method for method, _ in methods()})
    repeats, fits = 2 if chosen.quick else 5, {key: fit for key, fit in methods().items() if key[0] in chosen.only}
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = pd.DataFrame([r for seed in range(repeats) for r in one_repeat(seed, fits)])
    memory = {key: peak_mb(*key) for key in fits}
    table = "adult" if has_real_tables() else "a synthetic table of the size of adult"
    title = f"Whole runs on {table}, {ROUNDS} rounds, a fifth of the labels wrong, {repeats} repeats, one thread"
    show(title, summary(records, memory))
    lines = [{"method": m, "curator": c, "peak_mb": mb} for (m, c), mb in memory.items()]
    keep("runs", {"runs": records.to_dict("records"), "memory": lines})


if __name__ == "__main__":
    main()
