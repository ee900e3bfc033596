"""Train again: the decisions so far become corrections, and commands run in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dips._persistence.export import to_csv
from dips._review.desk import Desk
from dips._review.export import corrections_frame
from dips._tools.files import write_whole
from dips.exceptions import ReviewError

IDLE, RUNNING, DONE, FAILED = "idle", "running", "done", "failed"
_LINES = 12  # of a failed command's last words


@dataclass(frozen=True)
class TrainingPlan:
    """What to run on a file of corrections.

    Attributes
    ----------
    commands : each a title and a command line, one after the other
    page : what the last one writes, to be looked at
    made : the new run, for people
    """

    commands: list[tuple[str, list[str]]]
    page: Path
    made: str


class TrainingAgain:
    """Runs a plan, one at a time, and tells how far it is.

    Parameters
    ----------
    place : folder for the files of corrections
    plan : gives the commands for a file of corrections
    """

    def __init__(self, place: Path, plan: Callable[[Path], TrainingPlan]) -> None:
        self._place, self._make_plan = place, plan
        self._lock = threading.Lock()
        self._state: dict[str, Any] = {"state": IDLE, "stage": "", "fraction": 0.0, "error": "", "made": ""}
        self._process: subprocess.Popen[str] | None = None
        self._is_stopped = False
        self._page: Path | None = None

    def start(self, desk: Desk) -> dict[str, Any]:
        """Write the corrections down and start."""
        corrections = corrections_frame(desk)
        if corrections.empty:
            raise ReviewError("Nothing has been decided yet, so there is nothing to train with.")
        with self._lock:
            if self._state["state"] == RUNNING:
                raise ReviewError("A training is already running.")
            path = write_corrections(corrections, self._place)
            plan = self._make_plan(path)
            self._is_stopped = False
            self._state = {"state": RUNNING, "stage": "starting", "fraction": 0.0, "error": "", "made": plan.made}
        threading.Thread(target=self._run, args=(plan,), daemon=True, name="train again").start()
        return self.state()

    def state(self) -> dict[str, Any]:
        """How far it is."""
        with self._lock:
            return dict(self._state)

    def stop(self) -> dict[str, Any]:
        """End what runs; dips fit keeps its finished parts and continues from there next time."""
        with self._lock:
            self._is_stopped = True  # nor may the next command start
            if self._process is not None and self._process.poll() is None:
                self._process.terminate()
        return self.state()

    def page(self) -> str | None:
        """The page that the last training ended with."""
        return None if self._page is None or not self._page.exists() else self._page.read_text(encoding="utf-8")

    def _run(self, plan: TrainingPlan) -> None:
        for title, command in plan.commands:
            error = self._run_one(title, command)
            if error:
                self._update(state=FAILED, error=error)
                return
        self._page = plan.page
        self._update(state=DONE, stage="", fraction=1.0)

    def _run_one(self, title: str, command: list[str]) -> str:
        """Run a command; return its last words if it fails."""
        self._update(stage=title, fraction=0.0)
        lines: list[str] = []
        with self._lock:
            if self._is_stopped:
                return "It was stopped."
            try:
                self._process = _start(command)
            except OSError as error:
                return f"{command[0]} cannot be started: {error}"
        assert self._process.stderr is not None
        for line in self._process.stderr:
            told = _progress_in(line)
            if told is None:
                lines = [*lines, line.rstrip()][-_LINES:]
            else:
                self._update(stage=f"{title}: {told['stage']}", fraction=told["fraction"])
        code = self._process.wait()
        return "" if code == 0 else "\n".join(lines) or f"It was stopped (exit code {code})."

    def _update(self, **changes: Any) -> None:
        with self._lock:
            self._state = self._state | changes


def write_corrections(corrections: pd.DataFrame, place: Path) -> Path:
    """Write corrections to the next free file, or find the last one if it says the same."""
    content, n = to_csv(corrections).encode(), 1
    while (path := place / f"corrections-{n}.csv").exists():
        n += 1
    last = place / f"corrections-{n - 1}.csv"
    if n > 1 and last.read_bytes() == content:
        return last
    write_whole(path, content)
    return path


def _start(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        encoding="utf-8", errors="replace", env=os.environ | {"DIPS_PROGRESS": "json"},
    )  # fmt: skip


def _progress_in(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and {"stage", "fraction"} <= set(record) else None
