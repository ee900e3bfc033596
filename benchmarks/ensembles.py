"""Ensembles at the paper's sizes: the time of members trained in turn, trained by us, and virtual; and their accuracy.

[DIPS_DATA=folder] python benchmarks/ensembles.py [--quick] [--only times|accuracy] [--members 5]
Accuracy is measured on the public tables in the folder; --members makes the trained ensembles there smaller. Time it on
idle cores: a library's threads wait for each other, many times longer where others are at work.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import tables
from common import run_grid, show, with_error
from data import has_real_tables, make_table, real
from harness import against, keep, timed
from xgboost import XGBClassifier

from dips import PseudoLabelClassifier
from dips._dynamics import Dynamics, Watch
from dips._rounds.training import Trainer
from dips._tools.seeds import draw_seed
from dips.backbones import find_backbone
from dips.labelers import CSA, SLA, UPS, Labeler

SIZES = (10, 20)  # members of UPS; of SLA and CSA
N_ROWS, N_COLUMNS = 30_000, 12  # of adult; a tenth is labeled
BAR = 3.0  # how many times less than in turn
TABLES = ("german", "drug", "covid", "compas", "heart")
KINDS = ("trained", "checkpoints")


def adult() -> tuple[np.ndarray, np.ndarray]:
    """Adult, or where it is not at hand a synthetic table of its size."""
    X, y = tables.load("adult") if has_real_tables() else make_table(N_ROWS)
    return np.ascontiguousarray(X[:N_ROWS, :N_COLUMNS]), y[:N_ROWS]


class Task:
    """A tenth of the rows to train members on, all others to look at, and the settings of the members."""

    def __init__(self, n_models: int, seed: int) -> None:
        self.X, self.y = adult()
        self.labeled, self.left = np.split(np.arange(N_ROWS), [N_ROWS // 10])
        self.n_models, self.seed = n_models, seed
        rng, family = np.random.RandomState(seed), find_backbone(XGBClassifier())
        self.members = [{"random_state": draw_seed(rng), **family.vary(XGBClassifier(), rng)} for _ in range(n_models)]

    def in_turn(self, member: dict[str, Any], n_threads: int | None) -> np.ndarray:
        """One member as anybody would write it, with the threads that its library takes, or a number of them."""
        fitted = XGBClassifier(n_jobs=n_threads, **member).fit(self.X[self.labeled], self.y[self.labeled])
        return fitted.predict_proba(self.X[self.left])

    def ours(self, n_jobs: int) -> np.ndarray:
        """All members, as a labeler gets them."""
        trainer = Trainer(XGBClassifier(), self.X, 2, None, np.random.RandomState(self.seed), n_jobs)
        return trainer.ensemble(self.labeled, self.y[self.labeled], self.left, self.n_models).mean

    def virtual(self) -> Callable[[], np.ndarray]:
        """Make ready to look at the checkpoints of a model that is there anyway."""
        fitted, family = XGBClassifier().fit(self.X[self.labeled], self.y[self.labeled]), find_backbone(XGBClassifier())

        def look() -> np.ndarray:
            seen = Dynamics(self.left.size, 2, ("confidence", "variability"), window=(0.5, 1.0))
            family.replay(fitted, Watch(self.X[self.left], seen))
            return seen["confidence"]

        return look


def best(acts: list[Callable[[], Any]], repeats: int) -> tuple[float, float]:
    """Wall and CPU seconds of acts one after another, each as quick as in its best repeat."""
    spent = np.array([[timed(act)[:2] for act in acts] for _ in range(repeats)])  # (repeats, acts, 2)
    wall_s, cpu_s = spent.min(axis=0).sum(axis=0)
    return float(wall_s), float(cpu_s)


def times(repeats: int) -> list[dict[str, Any]]:
    """Time the ways to have the moments of an ensemble on the same rows, the members' settings being the same."""
    records = []
    for n_models in SIZES:
        task = Task(n_models, seed=0)
        in_turn = np.mean([task.in_turn(m, 1) for m in task.members], axis=0)
        assert np.abs(in_turn - task.ours(2)).max() < 1e-4, "ours are other members"
        ways: dict[str, list[Callable[[], Any]]] = {
            "in turn, the library's threads": [partial(task.in_turn, m, None) for m in task.members],
            "in turn, one thread": [partial(task.in_turn, m, 1) for m in task.members],
            "ours, n_jobs=1": [partial(task.ours, 1)],
            "ours, n_jobs=2": [partial(task.ours, 2)],
            "checkpoints": [task.virtual()],
        }
        for way, acts in ways.items():
            wall_s, cpu_s = best(acts, repeats)
            records.append({"members": n_models, "way": way, "wall_s": wall_s, "cpu_s": cpu_s})
    return records


def present_times(records: pd.DataFrame) -> None:
    """Print the members' cost, and how many times less it is than in turn."""
    wall = records.set_index(["members", "way"])["wall_s"]
    rows = []
    for r in records.itertuples():
        by_default, one_thread = (wall[r.members][way] / r.wall_s for way in wall[r.members].index[:2])
        is_ours = not r.way.startswith("in turn")
        line = {"members": r.members, "way": r.way, "wall s": f"{r.wall_s:.2f}", "cpu s": f"{r.cpu_s:.2f}"}
        line["in turn, the library's threads / this"] = against(by_default, BAR if is_ours else None, at_most=False)
        rows.append(line | {"in turn, one thread / this": f"{one_thread:.2f}"})
    sizes = f"{N_ROWS // 10:,} rows to train on, {N_ROWS * 9 // 10:,} to look at, {N_COLUMNS} columns"
    show(f"Moments of an ensemble of XGBoosts: {sizes}", pd.DataFrame(rows).set_index("members"))


def labeler(name: str, members: str, n_models: int | None) -> Labeler:
    """One of the three that ask an ensemble, trained ones of the given size, else of that in the paper."""
    settings: dict[str, Any] = {"members": members}
    if n_models is not None and members == "trained":
        settings["n_models"] = n_models
    match name:
        case "ups":
            return UPS(**settings)
        case "sla":
            return SLA(threshold=0.5, **settings)
    return CSA(threshold=0.5, **settings)


def cell(table: str, seed: int, noise: float, n_models: int | None) -> list[dict[str, Any]]:
    """Run every ensemble labeler with trained and with virtual members on one table."""
    warnings.simplefilter("ignore")
    data, records = real(table, seed, noise), []
    for name in ("ups", "sla", "csa"):
        for members in KINDS:
            chosen = labeler(name, members, n_models)
            model = PseudoLabelClassifier(XGBClassifier(n_jobs=1), labeler=chosen, random_state=seed, n_jobs=1)
            wall_s, cpu_s, _ = timed(partial(model.fit, data.X, data.y, X_unlabeled=data.X_unlabeled))
            record = {"table": table, "noise": noise, "seed": seed, "labeler": name, "members": members, "cpu_s": cpu_s}
            records.append(record | {"wall_s": wall_s, "accuracy": float(model.score(data.X_test, data.y_test))})
    return records


def accuracies(quick: bool, n_models: int | None) -> pd.DataFrame:
    """Measure whole runs of five rounds, the default curator, labels as they came and with a fifth flipped."""
    names, seeds = (TABLES[:1], 1) if quick else (TABLES, 5)
    grid = [(table, seed, noise, n_models) for seed in range(seeds) for noise in (0.0, 0.2) for table in names]
    return run_grid("ensembles", cell, grid, jobs=2)


def present_accuracies(records: pd.DataFrame, n_models: int | None) -> None:
    """Print trained beside virtual members, table by table; then the gain of the virtual ones over the same runs."""
    keys = ["labeler", "noise", "members"]
    shown = records.groupby([*keys, "table"])["accuracy"].apply(with_error).unstack()
    shown["mean"] = records.groupby(keys)["accuracy"].mean().mul(100).round(2)
    shown["cpu s"] = records.groupby(keys)["cpu_s"].mean().round(2)
    size = "10 for UPS, 20 for SLA and CSA" if n_models is None else f"{n_models} each"
    title = f"Accuracy %, trained members ({size}) and the checkpoints of one model"
    show(title, shown.reset_index().set_index("labeler"))
    pairs = records.pivot(index=["labeler", "noise", "table", "seed"], columns="members", values="accuracy")
    gain = (pairs["checkpoints"] - pairs["trained"]).groupby(["labeler", "noise"]).apply(with_error)
    show("Checkpoints minus trained, points of accuracy over all tables and seeds", gain.unstack())


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one table, one seed, one repeat")
    parser.add_argument("--members", type=int, help="trained members in the accuracies; if not given, the paper's")
    parser.add_argument("--only", choices=("times", "accuracy"), help="one of the two parts")
    chosen = parser.parse_args()
    tables: dict[str, list[dict[str, Any]]] = {}
    if chosen.only != "times" and has_real_tables():
        accuracy = accuracies(chosen.quick, chosen.members)
        present_accuracies(accuracy, chosen.members)
        tables["accuracy"] = accuracy.to_dict("records")
    if chosen.only != "accuracy":
        tables["times"] = times(1 if chosen.quick else 3)
        present_times(pd.DataFrame(tables["times"]))
    keep("ensembles", tables)


if __name__ == "__main__":
    main()
