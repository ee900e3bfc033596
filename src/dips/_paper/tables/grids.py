"""Trials on tables that several figures compare, as cells with the names that the figures use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dips._paper.experiment import Cell, Plan
from dips._paper.tables.splits import authors_seeds
from dips._paper.tables.trial import Trial
from dips.datasets import TABLES

NOISE = (0.1, 0.2, 0.3, 0.4)
_LABELERS = {"greedy": "PL", "ups": "UPS", "flexmatch": "FlexMatch", "sla": "SLA", "csa": "CSA"}  # the paper's
_CURATORS = {"dips": "DIPS", "small_loss": "small loss", "fluctuation": "fluctuation", "fine": "FINE"}
_AUTHORS_SETTINGS = {"flexmatch": {"threshold": 0.8}, "sla": {"threshold": 0.5}, "csa": {"threshold": 0.5}}


def seeds(plan: Plan) -> list[int]:
    """Seeds of real tables: the authors'."""
    return authors_seeds(plan.n_seeds)


def paper_tables(plan: Plan) -> list[str]:
    """The tables of the paper that are available."""
    return [name for name in TABLES if name != "heart" and name in plan.data]


def trial(plan: Plan, data: str, seed: int, **settings: Any) -> Trial:
    """A trial on a real table, within the limits of the plan."""
    limits = {"max_labeled": plan.max_labeled, "max_unlabeled": plan.max_unlabeled}
    return Trial(data, seed, **limits | settings)


def labelers(plan: Plan) -> dict[str, str]:
    """Names of the labelers to compare, by their titles: those asked for, or the paper's five."""
    return {_LABELERS.get(name, name): name for name in plan.labelers or _LABELERS}


def curator_titles(plan: Plan) -> dict[str, str]:
    """Names of the curators to compare, by their titles: those asked for, or the paper's four."""
    return {_CURATORS.get(name, name.replace("_", " ")): name for name in plan.curators or _CURATORS}


def labeler(plan: Plan, name: str) -> dict[str, Any]:
    """A labeler with the settings of the authors' code, and with the plan's ensemble if it uses one."""
    from dips.labelers import LABELERS

    settings = {"name": name} | _AUTHORS_SETTINGS.get(name, {})
    if "n_models" not in LABELERS.resolve(name).get_params():
        return settings
    return settings | ({"members": plan.members} if plan.members == "checkpoints" else {"n_models": int(plan.members)})


def supervised(base: Trial, **labels: Any) -> Cell:
    """Training on the labels as they are."""
    return Cell(replace(base, method="supervised"), {"method": "Supervised"} | labels)


def curated(base: Trial, curator: str = "dips", name: str = "Curated labels only", **labels: Any) -> Cell:
    """Training on the useful labels, without unlabeled rows."""
    return Cell(replace(base, method="curated", curator={"name": curator}), {"method": name} | labels)


def with_and_without(base: Trial, name: str = "PL", **labels: Any) -> Iterator[Cell]:
    """A labeler alone, and with DIPS."""
    yield Cell(base, {"method": name} | labels)
    yield Cell(replace(base, curator={"name": "dips"}), {"method": f"{name}+DIPS"} | labels)


def curators(plan: Plan, base: Trial, name: str = "PL", **labels: Any) -> Iterator[Cell]:
    """A labeler with each curator: DIPS and the selectors of the noisy-label literature, or those asked for."""
    for title, curator in curator_titles(plan).items():
        yield Cell(replace(base, curator={"name": curator}), {"method": f"{name}+{title}"} | labels)


def adaptive(base: Trial, name: str = "PL", **labels: Any) -> Cell:
    """A labeler with the curator "adaptive", the default of version 0.1.0."""
    return Cell(replace(base, curator={"name": "adaptive"}), {"method": f"{name}+adaptive"} | labels)
