"""Printing: names and values from the data are shown as they are, never read as markup or terminal commands."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import threading
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dips._tools.progress import ProgressBars
from dips._tools.wording import duration
from dips.exceptions import OutputError

_SILENCE_S = 30.0  # that a log may keep
_FIRST_S = 1.0  # that the first stage lasts before it is said: what is refused at once needs no line before it
_TURN_TEXT_ROUND = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROL = {c: "�" for c in (*range(32), *range(127, 160), *_TURN_TEXT_ROUND) if chr(c) not in "\n\t"}


def printable(value: Any, style: str = "") -> Text:
    """Text that prints as it is; control characters are replaced."""
    return Text(str(value).translate(_CONTROL), style=style)


class Terminal(Console):
    """Words for people: where they cannot be shown, the work that they are about is still done."""

    def print(self, *objects: Any, **how: Any) -> None:
        """Print, if the stream can be written to."""
        with contextlib.suppress(OSError, ValueError):  # a full disk, a reader that went away, a closed stream
            super().print(*objects, **how)

    def say(self, words: Any, style: str = "") -> None:
        """Print words as they are, on one line however long."""
        self.print(printable(words, style), soft_wrap=True)

    def say_notes(self, notes: Iterable[str]) -> None:
        """Say how the data was read."""
        for note in notes:
            self.say(f"Note: {note}")

    def on_broken_pipe(self) -> None:
        """Say nothing more to a reader that went away; rich would end the process with an error."""
        self.quiet = True


def output() -> Terminal:
    """Where results go."""
    return Terminal(highlight=False)


def remarks() -> Terminal:
    """Where everything else goes: the error stream."""
    return Terminal(stderr=True, highlight=False)


def show_what_can_be_shown() -> None:
    """Let the streams replace characters that their encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def print_json(record: Any) -> None:
    """One document for a machine; other characters than ASCII are escaped where the stream is not in Unicode."""
    from dips._tools.files import without_nan

    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    print_data(json.dumps(without_nan(record), ensure_ascii=not is_unicode, indent=1) + "\n")


def print_data(text: str) -> None:
    """Results themselves: complete, or refused, since nobody would notice a replaced character."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError as error:
        shown = text[error.start : error.start + 1]
        raise OutputError(
            f"The output is in {sys.stdout.encoding}, which lacks {shown!r}; write to a file with -o, or set "
            "PYTHONIOENCODING=utf-8."
        ) from None
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"The output cannot be written: {error.strerror}.") from error


def make_table(columns: dict[str, str], rows: list[list[Any]], title: str = "") -> Table:
    """A plain table; `columns` says how each is aligned."""
    heading = printable(title, "bold") if title else None
    table = Table(title=heading, box=SIMPLE_HEAD, pad_edge=False, title_justify="left")
    table.padding, table.collapse_padding = (0, 1), True
    for name, justify in columns.items():
        table.add_column(printable(name), justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else printable(cell) for cell in row))
    return table


class TerminalObserver(ProgressBars):
    """Shows stages and warnings of a study on the error stream; nothing where the output is for machines.

    Where there is no terminal for bars, as in a notebook or a log, each stage is a line when it begins (the first one
    if it lasts), and so are the steps of a long one every half a minute.
    """

    console: Terminal

    def __init__(self, enabled: bool = True) -> None:
        super().__init__(enabled, title="training", transient=True, console=remarks())
        self.enabled, self._told, self._spoke_at = enabled, set[str](), time.monotonic()
        self._speaks_in_lines = enabled and not self.console.is_terminal and os.environ.get("DIPS_PROGRESS") != "json"
        self._first: threading.Timer | None = None
        self._clock = _Clock()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._first is not None:
            self._first.cancel()
        super().__exit__(kind, error, trace)

    def message(self, text: str, fraction: float) -> None:
        """Name the stage; programs that start dips with DIPS_PROGRESS=json get a line of JSON for each."""
        super().message(text, fraction)
        if os.environ.get("DIPS_PROGRESS") == "json":
            print(json.dumps({"stage": text, "fraction": fraction}), file=sys.stderr, flush=True)
        elif self._speaks_in_lines and text not in self._told:
            self._told.add(text)
            line = f"{100 * fraction:3.0f} % {text}"
            if self._first is None:
                self._first = threading.Timer(_FIRST_S, self._say, [line])
                self._first.daemon = True
                self._first.start()
            else:
                self._first.cancel()
                self._say(line)

    def on_step(self, n_done: int, n_steps: int) -> None:
        """Move the bar of the steps, or say now and then how many are done."""
        super().on_step(n_done, n_steps)
        self._clock.note(n_done)
        if self._speaks_in_lines and time.monotonic() - self._spoke_at > _SILENCE_S:
            self._say(f"      {self.title}: step {n_done:,} of {n_steps:,}{self._clock.left(n_done, n_steps)}")

    def _say(self, line: str) -> None:
        self._spoke_at = time.monotonic()
        self.console.say(line)

    def on_record(self, record: dict[str, Any]) -> None:
        """Print a warning or a note."""
        kind = {"warning": "Warning", "note": "Note"}.get(record["event"])
        if self.enabled and kind is not None:
            self.console.say(f"{kind}: {record['message']}", "yellow" if kind == "Warning" else "")


class _Clock:
    """How long steps have taken, and so how long the others will take."""

    def __init__(self) -> None:
        self._first, self._last, self._began = 0, -1, 0.0

    def note(self, n_done: int) -> None:
        """Take note of the steps done; fewer than before are those of another training."""
        if self._last < 0 or n_done < self._last:
            self._first, self._began = n_done, time.monotonic()
        self._last = n_done

    def left(self, n_done: int, n_steps: int) -> str:
        """The time left, in words; nothing while too little is known."""
        if n_done == self._first:
            return ""
        seconds = (time.monotonic() - self._began) * (n_steps - n_done) / (n_done - self._first)
        return f", about {duration(seconds)} left"
