"""Progress bars on a terminal; silent anywhere else."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from dips._tools.observer import Observer

_SPEED_OVER_S = 600.0  # single steps may take minutes


class ProgressBars(Observer):
    """One bar per kind of event: stages, rounds, rows, files, steps. Use it as a context.

    Parameters
    ----------
    enabled : bool
        False shows nothing.
    title : str
        Name of the bar of steps; may be changed on the way.
    unit, units_per_step : str, int
        Show a speed: how many units a step works on.
    transient : bool
        Remove the bars in the end.
    console : Console
        Where to draw; by default the error stream.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        title: str = "steps",
        unit: str = "",
        units_per_step: int = 1,
        transient: bool = False,
        console: Console | None = None,
    ) -> None:
        self.title = title
        self.console = console or Console(stderr=True)
        columns = [TextColumn("{task.description}", markup=False), BarColumn(), _Done()]
        columns += [_Speed(unit, units_per_step)] if unit else []
        self._progress = Progress(
            *columns,
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self.console,
            transient=transient,
            disable=not (enabled and self.console.is_terminal),
            speed_estimate_period=_SPEED_OVER_S,
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def message(self, text: str, fraction: float) -> None:
        """Name the stage, and move its bar."""
        self._update("stage", fraction, 1.0, text)

    def on_round(self, record: dict[str, Any], n_rounds: int) -> None:
        """Move the bar of the rounds."""
        self._update("rounds", record["round"], n_rounds)

    def on_rows(self, n_done: int, n_rows: int) -> None:
        """Move the bar of the rows."""
        self._update("rows of this pass", n_done, n_rows)

    def on_files(self, n_done: int, n_files: int) -> None:
        """Move the bar of the files, which goes when all are read."""
        self._update("files", n_done, n_files, visible=n_done < n_files)

    def on_part(self, name: str) -> None:
        """Name the bar of the steps after the part that they belong to."""
        self.title = name

    def on_step(self, n_done: int, n_steps: int) -> None:
        """Move the bar of the steps."""
        self._update("steps", n_done, n_steps, self.title)

    def _update(self, what: str, n_done: float, total: float, description: str = "", visible: bool = True) -> None:
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(description or what, total=total)
        elif n_done < self._progress.tasks[self._tasks[what]].completed:  # begins again, and so does its clock
            self._progress.reset(self._tasks[what])
        self._progress.update(
            self._tasks[what], completed=n_done, total=total, description=description or what, visible=visible
        )


class _Done(ProgressColumn):
    """A count, or a percentage of a fraction."""

    def render(self, task: Task) -> Text:
        if isinstance(task.total, float):
            return Text(f"{task.percentage:>3.0f} %")
        return Text(f"{task.completed:,.0f}/{task.total:,.0f}")


class _Speed(ProgressColumn):
    """Units per second."""

    def __init__(self, unit: str, units_per_step: int) -> None:
        super().__init__()
        self.unit, self.units_per_step = unit, units_per_step

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"? {self.unit}/s" if speed is None else f"{speed * self.units_per_step:,.0f} {self.unit}/s")
