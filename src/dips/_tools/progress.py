"""Bars that move while rounds are trained; silent where nobody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bars(enabled: bool) -> Iterator[Callable[[str, int], Callable[[int], None]]]:
    """Yield a function that adds a bar of so many steps, and returns one that is told how many of them are done."""
    if not enabled:
        yield lambda description, total: lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:

        def add(description: str, total: int) -> Callable[[int], None]:
            task = progress.add_task(description, total=total)
            return lambda done: progress.update(task, completed=done)

        yield add
