"""Writes the results of an experiment: tables as Markdown and CSV, figures as PNG and SVG, and a page of all."""

from __future__ import annotations

import json
import shlex
import shutil
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dips._paper.engine import figures, tables
from dips._paper.engine.store import Store
from dips._paper.experiment import Experiment, Plan, Report, Results
from dips._tools.files import make_folder, write_json, write_whole
from dips.exceptions import UserError

_DEFAULT_OF_0_1_0 = ("none", "percentile", "auto")  # was written into every plan, also of tables
_MAIN_ROWS = 25  # longer tables are folded on the page


@dataclass(frozen=True)
class Shown:
    """An experiment's results and what was made of them."""

    experiment: Experiment
    plan: Plan
    results: Results
    report: Report


def save_plan(experiment: Experiment, plan: Plan, store: Store) -> None:
    """Keep the plan and the keys of its trials, so that the last run can be shown, here or on another machine."""
    path = _plan_path(experiment, store)
    make_folder(path.parent)
    write_json(path, {"plan": asdict(plan), "keys": [cell.trial.key() for cell in experiment.chosen(plan)]})


def load_plan(experiment: Experiment, store: Store) -> tuple[Plan, list[str]]:
    """Return the plan that was run last, and the keys of its trials in the order of the cells."""
    if not was_run(experiment, store):
        raise UserError(f"{experiment.name} has not been run yet; run `dips paper run {experiment.name}` first.")
    path = _plan_path(experiment, store)
    try:
        record = json.loads(path.read_bytes())
    except ValueError as error:
        raise UserError(
            f"{path} is damaged; run `dips paper run {experiment.name}` again with the options that it was run with, "
            "which finds the trials that are done."
        ) from error
    try:
        return _plan_from(record["plan"]), [str(key) for key in record["keys"]]
    except (KeyError, TypeError, AttributeError) as error:  # written by another version
        raise experiment.has_changed() from error


def _plan_from(record: dict[str, Any]) -> Plan:
    settings: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}
    if settings.get("curators") == _DEFAULT_OF_0_1_0:
        del settings["curators"]
    return Plan(**settings)


def was_run(experiment: Experiment, store: Store) -> bool:
    """Whether it was run, completely or in part."""
    return _plan_path(experiment, store).exists()


def has_results(experiment: Experiment, store: Store) -> bool:
    """Whether a trial of it is finished."""
    return was_run(experiment, store) and not collect(experiment, store)[1].frame.empty


def collect(experiment: Experiment, store: Store) -> tuple[Plan, Results]:
    """The plan that was run last, and what came of it."""
    plan, keys = load_plan(experiment, store)
    return plan, experiment.collect(plan, keys, store)


def show(experiment: Experiment, store: Store, folder: Path) -> Shown:
    """Write tables and figures of what was run last into the folder, each name after the experiment's."""
    plan, results = collect(experiment, store)
    if results.frame.empty:
        raise UserError(
            f"Nothing of {experiment.name} is finished ({results.n_missing} trials to do, {len(results.failures)} "
            f"failed); run `dips paper run {experiment.name}` first."
        )
    report = experiment.report(results.frame, plan)
    for name, table in report.tables.items():
        tables.write(table, folder, f"{experiment.name}-{name}")
    for name, draw in report.figures.items():
        figures.save(draw, folder, f"{experiment.name}-{name}")
    if results.failures:
        tables.write(failures_table(results), folder, f"{experiment.name}-failures")
    return Shown(experiment, plan, results, report)


def failures_table(results: Results) -> pd.DataFrame:
    """The trials that failed, and why."""
    return pd.DataFrame(results.failures).set_index("seed")


def command(experiment: Experiment, plan: Plan) -> str:
    """The command that ran a plan."""
    parts = [f"dips paper run {experiment.name} --seeds {plan.n_seeds}"]
    parts += [f"--members {plan.members}"] if plan.members != Plan(1).members else []
    parts += [f"--max-labeled {plan.max_labeled}"] if plan.max_labeled else []
    parts += [f"--max-unlabeled {plan.max_unlabeled}"] if plan.max_unlabeled else []
    parts += [f"--steps {plan.n_steps}"] if plan.n_steps != Plan(1).n_steps else []
    parts += [f"--network {plan.network}"] if plan.network != Plan(1).network else []
    parts += [f"--labeler {name}" for name in plan.labelers]
    parts += [f"--curator {name}" for name in plan.curators]
    parts += [f"--only {shlex.quote(one)}" for one in plan.only]
    return " ".join(parts)


def read_readings(path: Path) -> dict[str, dict[str, str]]:
    """Read the comment on each experiment: a table with its name, and a `reading` in it."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise UserError(f"{path} is not a TOML file: {error}.") from error
    for name, table in said.items():
        if not isinstance(table, dict):
            raise UserError(f'{path} has {name} = {table!r}; write a table, [{name}], with reading = "...".')
    return said


def write_page(
    shown: Iterable[Shown], left_out: list[str], path: Path, drawn: Path, said: Mapping[str, Mapping[str, str]]
) -> None:
    """Write one page with every table and figure, its command, and a comment on it.

    The figures are copied from `drawn` to ``images/paper`` beside the page.
    """
    shown = list(shown)
    parts = [said.get("page", {}).get("introduction", "# The paper, reproduced").strip(), _versions(shown)]
    images = path.parent / "images" / "paper"
    make_folder(images)
    for one in shown:
        parts.append(_section(one, said.get(one.experiment.name, {}).get("reading", "")))
        for name in one.report.figures:
            shutil.copy(drawn / f"{one.experiment.name}-{name}.png", images)
    if left_out:
        parts.append(f"Not run for this page: {', '.join(left_out)}.")
    write_whole(path, ("\n\n".join(parts) + "\n").encode())


def _versions(shown: Iterable[Shown]) -> str:
    """The libraries that computed the records, with every version that was used."""
    numbers: dict[str, set[str]] = {}
    for one in shown:
        for libraries in one.results.frame["libraries"]:
            for name, number in libraries.items():
                numbers.setdefault(name, set()).add(number)
    return "Versions: " + ", ".join(f"{name} {' and '.join(sorted(numbers[name]))}" for name in numbers) + "."


def _section(one: Shown, reading: str) -> str:
    experiment, results = one.experiment, one.results
    source = experiment.source[:1].upper() + experiment.source[1:]
    is_synthetic = results.frame["test_over_train"] == 0  # seeds of real tables are the authors', those of others not
    n_seeds = results.frame.groupby(is_synthetic)["seed"].nunique().max()
    lines = [
        f"## {experiment.title}",
        f"{source}. `{command(experiment, one.plan)}`: {len(results.frame):,} trials, {n_seeds} "
        f"seed{'s' if n_seeds > 1 else ''}, {_spent(results)}. {_gaps(results)}".strip(),
        reading.strip(),
    ]
    lines += [f"![{experiment.title}](images/paper/{experiment.name}-{name}.png)" for name in one.report.figures]
    lines += [_folded(name, table) for name, table in one.report.tables.items()]
    return "\n\n".join(line for line in lines if line)


def _spent(results: Results) -> str:
    return " and ".join(f"{_in_minutes(seconds)} of one {on}" for on, seconds in results.spent_s.items())


def _in_minutes(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes == 0:
        return "under a minute"
    return "1 minute" if minutes == 1 else f"{minutes} minutes"


def _gaps(results: Results) -> str:
    failed = f"{len(results.failures)} trials failed: {results.failures[0]['error']}" if results.failures else ""
    missing = f"Trials not finished: {results.n_missing}." if results.n_missing else ""
    return " ".join(part for part in (failed, missing) if part)


def _folded(name: str, table: pd.DataFrame) -> str:
    title, text = name.replace("_", " ").capitalize(), tables.markdown(table)
    if len(table) <= _MAIN_ROWS:
        return f"**{title}**\n\n{text}"
    return f"<details><summary>{title} ({len(table)} rows)</summary>\n\n{text}\n\n</details>"


def _plan_path(experiment: Experiment, store: Store) -> Path:
    return store.folder / "plans" / f"{experiment.name}.json"


def as_json(shown: Shown) -> dict[str, Any]:
    """What was shown, for machines."""
    return {
        "experiment": shown.experiment.name,
        "plan": asdict(shown.plan),
        "missing": shown.results.n_missing,
        "failures": shown.results.failures,
        "tables": {name: table.reset_index().to_dict("records") for name, table in shown.report.tables.items()},
    }
