"""Print the score tables of the model card as Markdown: ``python benchmarks/network_card.py SCORES.jsonl``.

SCORES.jsonl is what ``benchmarks/network.py TABLES --seeds 2 --no-folds --out SCORES.jsonl`` wrote. Each cell is
accuracy in percent, log loss, and area under the ROC curve in percent, on the tasks that every model could fit. Printed
are also how far the network is ahead, and how well labels are judged.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from network_report import complete, gain, is_clean, mean, read, rivals_of

TITLES = {
    "network": "network", "curated": "the default", "xgboost": "XGBoost", "catboost": "CatBoost",
    "extra trees": "ExtraTrees", "logistic": "logistic",
}  # fmt: skip
CALIBRATED = {f"{name}, sigmoid": TITLES[name] for name in ("xgboost", "catboost", "extra trees", "logistic")}
GROUPS = {"best supervised model": 0, "best calibrated model": 1, "the default": 2}

Record = dict[str, Any]


def cell(records: list[Record]) -> str:
    """Accuracy in percent / log loss / area in percent."""
    accuracy, loss, area = (mean(records, score) for score in ("accuracy", "log_loss", "auc"))
    return f"{100 * accuracy:.1f} / {loss:.3f} / {100 * area:.1f}"


def table(records: list[Record], titles: dict[str, str], rows: dict[str, Callable[[Record], bool]]) -> str:
    """One line per row, one column per model."""
    present = {record["model"] for record in records}
    models = [model for model in titles if model in present]
    lines = [["", *(titles[model] for model in models)], ["---"] * (1 + len(models))]
    for name, belongs in rows.items():
        members = [record for record in records if belongs(record)]
        lines.append([name, *(cell([r for r in members if r["model"] == model]) for model in models)])
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines)


def in_words(task: str) -> str:
    """What a task is called: "50/0.2" has 50 labels, 20 % of them wrong."""
    labels, noise = task.split("/")
    return f"{labels} labels, {100 * float(noise):.0f} % wrong"


def is_dirty(record: Record) -> bool:
    """Has the task a wrong label?"""
    return not is_clean(record)


def by_task(records: list[Record]) -> dict[str, Callable[[Record], bool]]:
    """The rows of a table by number of labels and noise."""
    tasks = sorted({record["task"] for record in records}, key=lambda task: [float(part) for part in task.split("/")])
    rows: dict[str, Callable[[Record], bool]] = {in_words(task): _having("task", task) for task in tasks}
    return rows | {"all clean": is_clean, "all dirty": is_dirty}


def by_table(records: list[Record]) -> dict[str, Callable[[Record], bool]]:
    """The rows of a table by real table."""
    return {name: _having("table", name) for name in dict.fromkeys(record["table"] for record in records)}


def leads(records: list[Record], called: str) -> Iterable[str]:
    """How far the network is ahead of the best of each group of models."""
    for labels, part in (("dirty", is_dirty), ("clean", is_clean)):
        members = [record for record in records if part(record)]
        groups = rivals_of(members, "network")
        for title, place in GROUPS.items():
            accuracy, loss, area = (
                gain(members, score, "network", groups[place]) for score in ("accuracy", "log_loss", "auc")
            )
            cells = [_points(accuracy), f"{100 * loss[2] / loss[1]:+.1f} %", _points(area)]
            yield _minus(f"| {called}, {labels} labels; {title} | {' | '.join(cells)} |")


def judged(records: list[Record]) -> Iterable[str]:
    """The area of finding wrong labels, by number of labels and noise, and over how many tables."""
    for task in sorted({r["task"] for r in records if is_dirty(r)}, key=lambda t: [float(p) for p in t.split("/")]):
        members = [record for record in records if record["task"] == task]
        areas = {
            TITLES[model]: mean([r for r in members if r["model"] == model], "auc_wrong")
            for model in ("network", "curated")
        }
        said = ", ".join(f"{title} {area:.3f}" for title, area in areas.items())
        yield f"{in_words(task)}: {said} ({len({r['table'] for r in members})} tables)"


def _having(key: str, value: Any) -> Callable[[Record], bool]:
    return lambda record: record[key] == value


def _points(found: tuple[str, float, float, float]) -> str:
    return f"{100 * found[2]:+.1f} ± {100 * found[3]:.1f}"


def _minus(text: str) -> str:
    return text.replace(" -", " −").replace("+0.0 ±", "0.0 ±").replace("−0.0 ±", "0.0 ±")


def main() -> None:
    """Print all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=Path, nargs="+")
    parser.add_argument("--called", default="tables", help="what the tables are called")
    options = parser.parse_args()
    records = complete(read(options.scores))
    tasks = len({(r["table"], r["task"], r["seed"]) for r in records})
    print(f"{len({r['table'] for r in records})} tables, {tasks} tasks\n")
    print(table(records, TITLES, by_task(records)), end="\n\n")
    print(table(records, TITLES, by_table(records)), end="\n\n")
    if any(record["model"] in CALIBRATED for record in records):
        print(table(records, CALIBRATED, {"all clean": is_clean, "all dirty": is_dirty}), end="\n\n")
        print("\n".join(leads(records, options.called)), end="\n\n")
    print("\n".join(judged(records)))


if __name__ == "__main__":
    main()
