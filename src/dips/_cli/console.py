"""Printing: names and values from data are shown as they are, never read as markup or as commands to the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dips._tools.files import without_nan

_CONTROL = {c: "�" for c in (*range(32), *range(127, 160)) if chr(c) not in "\n\t"}


def printable(value: Any, style: str = "") -> Text:
    """Text that prints as it is; what would steer the terminal is replaced."""
    return Text(str(value).translate(_CONTROL), style=style)


def output() -> Console:
    """Where results go."""
    return Console(highlight=False)


def remarks() -> Console:
    """Where everything else goes: the error stream."""
    return Console(stderr=True, highlight=False)


def print_json(record: Any) -> None:
    """One document for a machine."""
    json.dump(without_nan(record), sys.stdout, ensure_ascii=False, indent=1)
    sys.stdout.write("\n")


def make_table(columns: dict[str, str], rows: list[list[Any]], title: str = "") -> Table:
    """A plain table; `columns` says how each is aligned."""
    table = Table(title=title or None, box=SIMPLE_HEAD, pad_edge=False, title_justify="left", title_style="bold")
    table.padding, table.collapse_padding = (0, 1), True
    for name, justify in columns.items():
        table.add_column(name, justify=justify, overflow="ellipsis")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else printable(cell) for cell in row))
    return table


@contextmanager
def progress(enabled: bool) -> Iterator[tuple[Callable[[str, float], None], Console]]:
    """Yield a function that moves a bar, and where to print meanwhile; no bar where the error stream is no terminal."""
    console = remarks()
    if not enabled or not console.is_terminal:
        yield lambda what, share: None, console
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=1.0)
        yield lambda what, share: bar.update(task, description=what, completed=share), console


def said_of_labels(share_wrong: float | None, n_suspects: int, n_labeled: int) -> str:
    """How many labels look wrong, and how many are listed."""
    if n_suspects == 0:
        return f"None of {n_labeled:,} labels looks wrong enough to be listed."
    listed = f"{n_suspects:,} of {n_labeled:,} are listed."
    return (
        f"Suspect labels: {listed}"
        if share_wrong is None
        else f"About {100 * share_wrong:.0f} % of the labels look wrong; {listed}"
    )
