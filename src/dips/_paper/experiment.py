"""What an experiment is: a grid of trials, and what is made of their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dips._paper.engine.job import hashed
from dips._paper.engine.store import Store
from dips.exceptions import UserError


@dataclass(frozen=True)
class Plan:
    """How much of an experiment is run.

    Attributes
    ----------
    n_seeds : how many seeds
    data : the tables, or image sets, that are available
    members : models in an ensemble, or "checkpoints" to use those of a single training as its members
    max_labeled, max_unlabeled : at most so many rows of a table, or images
    labelers, curators : names of those to compare; none stands for the paper's
    only : such as "backbone=mlp": only cells with one of the values named for a label, or "seed=1"; none stands for all
    n_steps, network : of experiments on images
    """

    n_seeds: int
    data: tuple[str, ...] = ()
    members: int | str = 3
    max_labeled: int | None = None
    max_unlabeled: int | None = None
    n_steps: int = 26_000
    network: str = "fast"
    labelers: tuple[str, ...] = ()
    curators: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    @property
    def seeds(self) -> list[int]:
        """Seeds of synthetic tables, and of images."""
        return list(range(self.n_seeds))


@dataclass(frozen=True)
class Cell:
    """A trial, and what it is called in the tables and figures of an experiment."""

    trial: Any  # a Trial or an ImageTrial
    labels: dict[str, Any]

    @property
    def traits(self) -> dict[str, Any]:
        """What it can be chosen by: its labels and its seed."""
        return self.labels | {"seed": self.trial.seed}


@dataclass(frozen=True)
class Report:
    """Tables by name, and functions that draw the figures."""

    tables: dict[str, pd.DataFrame]
    figures: dict[str, Callable[[], Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """Outcomes of the finished cells, one row each, what is missing or failed, and the seconds spent on each device."""

    frame: pd.DataFrame
    n_missing: int
    failures: list[dict[str, Any]]
    spent_s: dict[str, float]


@dataclass(frozen=True)
class DataSets:
    """A kind of data: tables, or images.

    Attributes
    ----------
    kind : "tables" or "images"
    available : names of the sets that can be asked for
    used_by : names of the sets that the `data` of a trial stands for
    read : returns a set, or raises an error that says why it is not available
    check : raises an error if a plan names what is unknown for this kind of data
    why_unavailable : says why this machine should run such experiments only when asked; "" if nothing prevents it
    """

    kind: str
    available: Callable[[], list[str]]
    used_by: Callable[[str], Iterable[str]]
    read: Callable[[str], Any]
    check: Callable[[Plan], None]
    why_unavailable: Callable[[], str] = lambda: ""


@dataclass(frozen=True)
class Experiment:
    """A figure or table of the paper.

    Attributes
    ----------
    order : its place in lists
    name, title : what it is called, and what it shows
    source : where it is in the paper
    seeds : how many the paper has, or a sensible number
    cells : makes the grid of a plan
    report : makes tables and figures of the outcomes
    sets : the kind of data
    compares : "labelers" or "curators", if a plan may name others than the paper's
    """

    order: int
    name: str
    title: str
    source: str
    seeds: int
    cells: Callable[[Plan], Iterable[Cell]]
    report: Callable[[pd.DataFrame, Plan], Report]
    sets: DataSets
    compares: tuple[str, ...] = ()

    def trials(self, plan: Plan) -> list[Any]:
        """The trials, those of the first seed first, so that the first part of them is a fair sample of all."""
        trials = [cell.trial for cell in self.chosen(plan)]
        ranks = {seed: rank for rank, seed in enumerate(dict.fromkeys(t.seed for t in trials))}
        return sorted(trials, key=lambda t: ranks[t.seed])

    def chosen(self, plan: Plan) -> list[Cell]:
        """The cells that a plan asks for.

        Examples
        --------
        >>> from dips._paper import find
        >>> plan = Plan(2, only=("method=PL", "noise=0.1", "noise=0.3"))
        >>> len(find("noise-and-size").chosen(plan))  # 2 seeds, 3 sizes, 2 noise levels
        12
        """
        asked: dict[str, set[str]] = {}
        for one in plan.only:
            name, _, value = one.partition("=")
            asked.setdefault(name, set()).add(value)
        every = list(self.cells(plan))
        self._check_asked(asked, every)
        return [c for c in every if all(str(c.traits.get(name)) in values for name, values in asked.items())]

    def _check_asked(self, asked: dict[str, set[str]], cells: list[Cell]) -> None:
        for name, values in asked.items() if cells else ():
            known = list(dict.fromkeys(str(c.traits[name]) for c in cells if name in c.traits))
            if not known:
                names = ", ".join(dict.fromkeys(n for c in cells for n in c.traits))
                raise UserError(f"{self.name} has nothing called {name!r}; --only takes NAME=VALUE, of {names}.")
            if unknown := sorted(values - set(known)):
                raise UserError(f"{self.name} has no {name} {unknown[0]!r}; choose among {', '.join(known)}.")

    def collect(self, plan: Plan, keys: list[str], store: Store) -> Results:
        """Read the records of all cells, by the keys they had when the plan was run.

        So records can be read on any machine: without the data, and with other versions of the libraries.
        """
        cells = self.chosen(plan)
        rows, failures, n_missing, spent = [], [], 0, {}
        if len(cells) != len(keys):
            raise self.has_changed()
        for cell, key in zip(cells, keys, strict=True):
            record = store.get(key)
            if record is None:
                n_missing += 1
                continue
            if hashed(_as_named_now(record["settings"])) != hashed(cell.trial.settings()):
                raise self.has_changed()
            spent[key] = _spent(record)
            if record["status"] == "failed":
                failures.append(cell.labels | {"seed": cell.trial.seed, "error": record["error"]})
            else:
                rows.append(_row(cell, record["outcome"]))
        return Results(pd.DataFrame(rows), n_missing, failures, _total(spent.values()))

    def has_changed(self) -> UserError:
        """Return the error for a plan whose trials are no longer those of the experiment."""
        return UserError(
            f"The experiment {self.name} has changed since it was run; run it again with `dips paper run {self.name}`, "
            "which does only the trials that have changed."
        )


def _as_named_now(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a record; for tables 0.1.0 called its default curator "auto", which is now "adaptive"."""
    return settings | {"curator": {"name": "adaptive"}} if settings.get("curator") == {"name": "auto"} else settings


def _spent(record: dict[str, Any]) -> tuple[str, float]:
    """The device that a record was made on, and the seconds it took."""
    device = record.get("outcome", {}).get("device")
    return ("core", record["cpu_s"]) if device is None else (device, record["elapsed_s"])


def _total(spent: Iterable[tuple[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for on, seconds in spent:
        total[on] = total.get(on, 0.0) + seconds
    return total


def _row(cell: Cell, outcome: dict[str, Any]) -> dict[str, Any]:
    ratio = cell.trial.test_over_train(outcome)
    return {**outcome, "test_over_train": ratio, "seed": cell.trial.seed, **cell.labels}
