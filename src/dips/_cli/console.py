"""Printing: names and values from the data are shown as they are, never read as markup or terminal commands."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dips._report.label_words import share_in_words
from dips._tools.files import without_nan
from dips._tools.progress import ProgressBars

_CONTROL = {c: "�" for c in (*range(32), *range(127, 160)) if chr(c) not in "\n\t"}


def printable(value: Any, style: str = "") -> Text:
    """Text that prints as it is; control characters are replaced."""
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


class TerminalObserver(ProgressBars):
    """Shows stages and warnings of a study on the error stream; nothing where the output is for machines."""

    def __init__(self, enabled: bool = True) -> None:
        super().__init__(enabled, transient=True, console=remarks())
        self.enabled = enabled

    def message(self, text: str, fraction: float) -> None:
        """Name the stage; programs that start dips with DIPS_PROGRESS=json get a line of JSON for each."""
        super().message(text, fraction)
        if os.environ.get("DIPS_PROGRESS") == "json":
            print(json.dumps({"stage": text, "fraction": fraction}), file=sys.stderr, flush=True)

    def on_record(self, record: dict[str, Any]) -> None:
        """Print a warning."""
        if self.enabled and record["event"] == "warning":
            self.console.print(printable(f"Warning: {record['message']}", "yellow"), soft_wrap=True)


def label_summary(share_wrong: float | None, interval: Sequence[float] | None, n_suspects: int, n_labeled: int) -> str:
    """Say how many labels look wrong and how sure that is, and how many are suspects."""
    suspects = f"{n_suspects:,} of {n_labeled:,} are suspect."
    if n_suspects == 0 and interval is None:
        return f"None of {n_labeled:,} labels is suspect."
    if n_suspects == 0:
        suspects = f"none of {n_labeled:,} is suspect."
    return suspects if share_wrong is None else f"{share_in_words(share_wrong, interval)}; {suspects}"
