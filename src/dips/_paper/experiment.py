"""What an experiment is: a grid of trials, and what is made of their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dips._paper.engine.job import hashed
from dips._paper.engine.store import Store
from dips._paper.tables.splits import CROSS, SYNTHETIC, authors_seeds, table, tables_of
from dips._paper.tables.trial import Trial
from dips.datasets import TABLES, available
from dips.exceptions import UserError

LABELERS = {"PL": "greedy", "UPS": "ups", "FlexMatch": "flexmatch", "SLA": "sla", "CSA": "csa"}
CURATORS = {"DIPS": "dips", "small loss": "small_loss", "fluctuation": "fluctuation", "FINE": "fine"}
PAPER_TABLES = tuple(name for name in TABLES if name != "heart")


@dataclass(frozen=True)
class Plan:
    """How much of an experiment is run.

    Attributes
    ----------
    n_seeds : how many
    data : tables, or image sets, that there are
    members : models in an ensemble, or "checkpoints" to take those of the one training there is
    max_labeled, max_unlabeled : at most so many rows of a table, or images
    n_steps, network, curators : of experiments on images
    """

    n_seeds: int
    data: tuple[str, ...] = ()
    members: int | str = 3
    max_labeled: int | None = None
    max_unlabeled: int | None = None
    n_steps: int = 26_000
    network: str = "fast"
    curators: tuple[str, ...] = ("none", "percentile", "auto")

    @property
    def seeds(self) -> list[int]:
        """Of synthetic tables, and of images."""
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

    trial: Any  # a Trial, or another job with a seed and the name of its data
    labels: dict[str, Any]


@dataclass(frozen=True)
class Report:
    """Tables by name, and functions that draw the figures."""

    tables: dict[str, pd.DataFrame]
    figures: dict[str, Callable[[], Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """Outcomes of the cells that are finished, one row each, what is not there, and the seconds spent on what."""

    frame: pd.DataFrame
    n_missing: int
    failures: list[dict[str, Any]]
    spent_s: dict[str, float]


@dataclass(frozen=True)
class Sets:
    """A kind of data: tables, or images.

    Attributes
    ----------
    available : names of the sets that can be asked for
    of : those that the data of a trial stand for
    read : returns one, or says in a sentence why it cannot be had
    hindrance : says why this machine should not run such experiments unasked, if so
    """

    available: Callable[[], list[str]]
    of: Callable[[str], Iterable[str]]
    read: Callable[[str], Any]
    hindrance: Callable[[], str] = lambda: ""


TABLE_SETS = Sets(available, tables_of, table)


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
    sets : the kind of data
    """

    order: int
    name: str
    title: str
    source: str
    seeds: int
    cells: Callable[[Plan], Iterable[Cell]]
    report: Callable[[pd.DataFrame, Plan], Report]
    sets: Sets = TABLE_SETS

    def trials(self, plan: Plan) -> list[Any]:
        """The jobs, those of the first seed first, so that a part of them is a fair sample of all."""
        found = [cell.trial for cell in self.cells(plan)]
        ranks = {seed: rank for rank, seed in enumerate(dict.fromkeys(t.seed for t in found))}
        return sorted(found, key=lambda t: ranks[t.seed])

    def collect(self, plan: Plan, keys: list[str], store: Store) -> Results:
        """Read the records of all cells, by the keys they had when the plan was run.

        So records can be read on any machine: without the data, and with other versions of the libraries.
        """
        cells = list(self.cells(plan))
        rows, failures, n_missing, spent = [], [], 0, {}
        if len(cells) != len(keys):
            raise self.has_changed()
        for cell, key in zip(cells, keys, strict=True):
            record = store.get(key)
            if record is None:
                n_missing += 1
                continue
            if hashed(record["settings"]) != hashed(cell.trial.settings()):
                raise self.has_changed()
            spent[key] = _spent(record)
            if record["status"] == "failed":
                failures.append(cell.labels | {"seed": cell.trial.seed, "error": record["error"]})
            else:
                rows.append(_row(cell, record["outcome"]))
        return Results(pd.DataFrame(rows), n_missing, failures, _total(spent.values()))

    def has_changed(self) -> UserError:
        """What to say of a plan whose trials are no longer those of the experiment."""
        return UserError(
            f"What was run as {self.name} is not what the experiment is made of now; run it again with `dips paper run "
            f"{self.name}`, which does only the trials that have changed."
        )


def _spent(record: dict[str, Any]) -> tuple[str, float]:
    """On what a record was made, and in how many seconds."""
    device = record.get("outcome", {}).get("device")
    return ("core", record["cpu_s"]) if device is None else (device, record["elapsed_s"])


def _total(spent: Iterable[tuple[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for on, seconds in spent:
        total[on] = total.get(on, 0.0) + seconds
    return total


def _row(cell: Cell, outcome: dict[str, Any]) -> dict[str, Any]:
    return {**outcome, "test_over_train": _test_over_train(cell.trial, outcome), "seed": cell.trial.seed, **cell.labels}


def _test_over_train(trial: Any, outcome: dict[str, Any]) -> float:
    """Ratio of test rows to the others that come from the same table.

    It is 0 where rows are drawn anew, and for images: their test images are set, and few of the others are labeled.
    """
    if not isinstance(trial, Trial) or trial.data in SYNTHETIC:
        return 0.0
    n_train = outcome["n_labeled"] + (0 if trial.data.startswith(CROSS) else outcome["n_unlabeled"])
    return outcome["n_test"] / n_train
