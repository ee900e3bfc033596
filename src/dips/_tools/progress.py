"""Progress bars on a terminal; silent anywhere else."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from dips._tools.observer import Observer


class ProgressBars(Observer):
    """A bar of the rounds, and one of the rows where they are read in batches; use it as a context."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, disable=not console.is_terminal)
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> ProgressBars:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def on_round(self, record: dict[str, Any], n_rounds: int) -> None:
        """Move the bar of the rounds."""
        self._update("rounds", record["round"], n_rounds)

    def on_rows(self, n_done: int, n_rows: int) -> None:
        """Move the bar of the rows."""
        self._update("rows of this pass", n_done, n_rows)

    def _update(self, what: str, n_done: int, total: int) -> None:
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=total)
        self._progress.update(self._tasks[what], completed=n_done, total=total)
