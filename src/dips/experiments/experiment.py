"""What an experiment is: a grid of trials, and what is made of their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dips.datasets.tables import TABLES
from dips.experiments.engine.store import Store
from dips.experiments.splits import CROSS, SYNTHETIC, authors_seeds
from dips.experiments.trial import Trial

LABELERS = {"PL": "greedy", "UPS": "ups", "FlexMatch": "flexmatch", "SLA": "sla", "CSA": "csa"}
CURATORS = {"DIPS": "dips", "small loss": "small_loss", "fluctuation": "fluctuation", "FINE": "fine"}
PAPER_TABLES = tuple(name for name in TABLES if name != "heart")


@dataclass(frozen=True)
class Plan:
    """How much of an experiment is run.

    Attributes
    ----------
    n_seeds : how many
    data : tables that there are
    members : models in an ensemble, or "checkpoints" to take those of the one training there is
    max_labeled, max_unlabeled : at most so many rows of a table
    """

    n_seeds: int
    data: tuple[str, ...] = ()
    members: int | str = 3
    max_labeled: int | None = None
    max_unlabeled: int | None = None

    @property
    def seeds(self) -> list[int]:
        """Of synthetic tables."""
        return list(range(self.n_seeds))

    @property
    def table_seeds(self) -> list[int]:
        """Of real tables: the authors'."""
        return authors_seeds(self.n_seeds)

    @property
    def paper_tables(self) -> list[str]:
        """Those tables of the paper that there are."""
        return [name for name in PAPER_TABLES if name in self.data]

    def labeler(self, title: str) -> dict[str, Any]:
        """A labeler with the settings of the authors' code."""
        name = LABELERS[title]
        if name == "greedy":
            return {"name": name}
        if name == "flexmatch":
            return {"name": name, "threshold": 0.8}
        members = {"members": "checkpoints"} if self.members == "checkpoints" else {"n_models": int(self.members)}
        return {"name": name} | members | ({} if name == "ups" else {"threshold": 0.5})

    def trial(self, data: str, seed: int, **settings: Any) -> Trial:
        """A trial on a real table, within the limits of the plan."""
        limits = {"max_labeled": self.max_labeled, "max_unlabeled": self.max_unlabeled}
        return Trial(data, seed, **limits | settings)


@dataclass(frozen=True)
class Cell:
    """A trial, and what it is called in the tables and figures of an experiment."""

    trial: Trial
    labels: dict[str, Any]


@dataclass(frozen=True)
class Report:
    """Tables by name, and functions that draw the figures."""

    tables: dict[str, pd.DataFrame]
    figures: dict[str, Callable[[], Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """Outcomes of the cells that are finished, one row each, and what is not there."""

    frame: pd.DataFrame
    n_missing: int
    failures: list[dict[str, Any]]
    cpu_s: float


@dataclass(frozen=True)
class Experiment:
    """A figure or table of the paper.

    Attributes
    ----------
    order : its place in lists
    name, title : what it is called, and what it shows
    source : where it is in the paper
    seeds : how many the paper has, or a sensible number
    cells : the grid of a plan
    report : what is made of the outcomes
    """

    order: int
    name: str
    title: str
    source: str
    seeds: int
    cells: Callable[[Plan], Iterable[Cell]]
    report: Callable[[pd.DataFrame, Plan], Report]

    def trials(self, plan: Plan) -> list[Trial]:
        """The jobs, those of the first seed first, so that a part of them is a fair sample of all."""
        found = [cell.trial for cell in self.cells(plan)]
        ranks = {seed: rank for rank, seed in enumerate(dict.fromkeys(t.seed for t in found))}
        return sorted(found, key=lambda t: ranks[t.seed])

    def collect(self, plan: Plan, store: Store) -> Results:
        """Read the records of all cells."""
        rows, failures, n_missing, cpu_s = [], [], 0, {}
        for cell in self.cells(plan):
            key = cell.trial.key()
            record = store.get(key)
            if record is None:
                n_missing += 1
                continue
            cpu_s[key] = record["cpu_s"]
            if record["status"] == "failed":
                failures.append(cell.labels | {"seed": cell.trial.seed, "error": record["error"]})
            else:
                rows.append(_row(cell, record["outcome"]))
        return Results(pd.DataFrame(rows), n_missing, failures, sum(cpu_s.values()))


def _row(cell: Cell, outcome: dict[str, Any]) -> dict[str, Any]:
    return {**outcome, "test_over_train": _test_over_train(cell.trial, outcome), "seed": cell.trial.seed, **cell.labels}


def _test_over_train(trial: Trial, outcome: dict[str, Any]) -> float:
    """Ratio of test rows to the others that come from the same table; 0 where rows are drawn anew."""
    if trial.data in SYNTHETIC:
        return 0.0
    n_train = outcome["n_labeled"] + (0 if trial.data.startswith(CROSS) else outcome["n_unlabeled"])
    return outcome["n_test"] / n_train
