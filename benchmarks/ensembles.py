"""Ensembles at the paper's sizes: members trained in turn, in parallel, or taken from checkpoints; and their accuracy.

[DIPS_DATA=folder] python benchmarks/ensembles.py [--quick]; accuracy is measured on the public tables in the folder.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from common import run_grid, show, with_error
from data import Split, adult, has_real_tables, real
from harness import against, keep, options, timed
from xgboost import XGBClassifier

from dips import PseudoLabelClassifier
from dips.backbones import find_backbone
from dips.labelers import CSA, SLA, UPS, Candidates, Labeler

SIZES = (10, 20)
BAR = 3.0  # how many times less than members in turn
TABLES = ("german", "drug", "covid", "compas", "heart")
KINDS = ("trained", "checkpoints")


def labeler(name: str, kind: str, n_models: int | None = None) -> Labeler:
    """One of the three that ask an ensemble, trained or taken from the checkpoints of the one model there is."""
    settings = {"members": kind} | ({} if n_models is None else {"n_models": n_models})
    match name:
        case "ups":
            return UPS(**settings)
        case "sla":
            return SLA(threshold=0.5, **settings)
    return CSA(threshold=0.5, **settings)


class InTurn(UPS):
    """Members as anybody would write them: one after another, each with the threads that its library takes."""

    def __init__(self, data: Split, seed: int, n_models: int, n_threads: int | None) -> None:
        super().__init__(n_models=n_models)
        self.data, self.seed, self.n_threads = data, seed, n_threads

    def propose(self, candidates: Candidates) -> tuple[np.ndarray, np.ndarray]:
        """Train the members on the given labels, look at the pool with each, then follow UPS's rule."""
        data, votes = self.data, []
        for varied in _members(self.seed, self.n_models):
            member = XGBClassifier(n_jobs=self.n_threads, **varied).fit(data.X, data.y)
            votes.append(member.predict_proba(data.X_unlabeled))
        mean, std = np.mean(votes, axis=0), np.std(votes, axis=0, ddof=1)
        labels = mean.argmax(axis=1)
        rows = np.flatnonzero((mean.max(axis=1) > self.threshold) & (std[np.arange(labels.size), labels] < self.kappa))
        return rows, labels[rows]


def _members(seed: int, n_models: int) -> list[dict[str, Any]]:
    """Draw settings in the order of a run: the first model's seed, then a seed and the rest for each member."""
    rng, family = np.random.RandomState(seed), find_backbone(XGBClassifier())
    draw = partial(rng.randint, 2**31 - 1)
    draw()
    return [{"random_state": draw(), **family.vary(XGBClassifier(), rng)} for _ in range(n_models)]


def run(data: Split, seed: int, chosen: str | Labeler) -> PseudoLabelClassifier:
    """Two rounds: one ensemble is asked for, before the second."""
    model = PseudoLabelClassifier(
        XGBClassifier(), labeler=chosen, curator="dips", curate="rounds", n_rounds=2, random_state=seed, n_jobs=-1
    )
    return model.fit(data.X, data.y, X_unlabeled=data.X_unlabeled)


def contenders(data: Split, seed: int, n_models: int) -> dict[str, Callable[[], Any]]:
    """List the ways to have an ensemble, after a run without one."""
    return {
        "none": partial(run, data, seed, "greedy"),
        "in turn": partial(run, data, seed, InTurn(data, seed, n_models, n_threads=None)),
        "in turn, one thread": partial(run, data, seed, InTurn(data, seed, n_models, n_threads=1)),
        "ours, trained": partial(run, data, seed, labeler("ups", "trained", n_models)),
        "ours, checkpoints": partial(run, data, seed, labeler("ups", "checkpoints", n_models)),
    }


def times(repeats: int, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Time runs that differ by their ensemble alone."""
    records = []
    run(adult(0), 0, "greedy")  # what is loaded at first use is nobody's cost
    for seed in range(repeats):
        data = adult(seed)
        for n_models in sizes:
            for kind, act in contenders(data, seed, n_models).items():
                wall_s, cpu_s, _ = timed(act)
                records.append({"members": n_models, "kind": kind, "seed": seed, "wall_s": wall_s, "cpu_s": cpu_s})
    return records


def present_times(records: pd.DataFrame) -> None:
    """Print whole runs: all that is not the ensemble counts against us."""
    median = records.groupby(["members", "kind"], sort=False)[["wall_s", "cpu_s"]].median()
    rows = []
    for (members, kind), found in median.iterrows():
        less = median["wall_s"][members] / found["wall_s"]
        line = {"members": members, "kind": kind, "wall s": f"{found['wall_s']:.2f}", "cpu s": f"{found['cpu_s']:.2f}"}
        line["in turn / this"] = against(less["in turn"], BAR if kind.startswith("ours") else None, at_most=False)
        rows.append(line | {"in turn on one thread / this": f"{less['in turn, one thread']:.2f}"})
    title = "A run with one ensemble on adult-sized data, all cores; in turn: each member with its library's threads"
    show(title, pd.DataFrame(rows).set_index("members"))


def cell(table: str, seed: int, noise: float) -> list[dict[str, Any]]:
    """Run every ensemble labeler with both kinds of members on one table."""
    warnings.simplefilter("ignore")
    data, records = real(table, seed, noise), []
    for name in ("ups", "sla", "csa"):
        for kind in KINDS:
            model = PseudoLabelClassifier(
                XGBClassifier(n_jobs=1), labeler=labeler(name, kind), random_state=seed, n_jobs=1
            )
            wall_s, cpu_s, _ = timed(partial(model.fit, data.X, data.y, X_unlabeled=data.X_unlabeled))
            found = {"table": table, "noise": noise, "seed": seed, "labeler": name, "members": kind, "cpu_s": cpu_s}
            records.append(found | {"wall_s": wall_s, "accuracy": float(model.score(data.X_test, data.y_test))})
    return records


def accuracies(quick: bool) -> pd.DataFrame:
    """Measure whole runs of five rounds, the default curator, labels as they came and with a fifth flipped."""
    tables, seeds = (TABLES[:1], 1) if quick else (TABLES, 5)
    return run_grid("ensembles", cell, [(t, s, n) for t in tables for n in (0.0, 0.2) for s in range(seeds)], jobs=2)


def present_accuracies(records: pd.DataFrame) -> None:
    """Print the two kinds one under the other."""
    keys = ["labeler", "noise", "members"]
    table = records.groupby([*keys, "table"])["accuracy"].apply(with_error).unstack()
    table["mean"] = records.groupby(keys)["accuracy"].mean().mul(100).round(2)
    table["cpu s"] = records.groupby(keys)["cpu_s"].mean().round(2)
    table = table.reset_index().set_index("labeler")
    show("Accuracy % by the kind of members, 10 for UPS, 20 for SLA and CSA; whole runs, one thread", table)


def main() -> None:
    """Measure, print, keep."""
    chosen = options(__doc__)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        timing = times(1, SIZES[:1]) if chosen.quick else times(3, SIZES)
    present_times(pd.DataFrame(timing))
    accuracy = accuracies(chosen.quick) if has_real_tables() else pd.DataFrame()
    if len(accuracy):
        present_accuracies(accuracy)
    keep("ensembles", {"times": timing, "accuracy": accuracy.to_dict("records")})


if __name__ == "__main__":
    main()
