"""Things that happen to a command while it runs: the folder vanishes or turns read-only, the disk is full, Ctrl-C.

Python announces what it is about to do to its audit hooks. A hook waits for one of the steps and lets the fault happen
there. The command must then end in one sentence with its code, hold no lock, leave whole files or none, and do the same
as ever when it is given again.
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from dips._tools.interrupts import listen
from tests.attack.harness import ROOT
from tests.attack.outcomes import CLEAN, CRASH, DIFFERENT, HANG, REFUSED, TRACEBACK

COMMANDS = ("fit", "audit", "predict", "paper")
KINDS = ("stopped", "stopped while writing", "full", "read-only", "vanished")
_CHANGES = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate")
_TIMEOUT_S = 300
_STOPPED, _NOT_WRITTEN = 130, 4


def attack(place: Path, seed: int) -> str:
    """Let one fault happen to one command, then give the command again."""
    rng = random.Random(seed)
    command, kind = rng.choice(COMMANDS), rng.choice(KINDS)
    wanted, n_steps, n_changes = _undisturbed(place, command)
    shutil.rmtree(place / "out", ignore_errors=True)
    (place / "out").mkdir()
    at = rng.randrange(n_steps if kind == "stopped" else n_changes)
    code, said = _child(place, _arguments(place, command), kind, at)
    if code is None:
        return HANG
    if "Traceback" in said or "This is a bug" in said:
        sys.stderr.write(f"{command}, {kind} at {at}: {said}\n")
        return TRACEBACK
    if code == 0 and kind != "vanished" and _digest(place, command) != wanted:
        return DIFFERENT
    is_stop = kind.startswith("stopped")
    if code not in (0, _STOPPED if is_stop else _NOT_WRITTEN) or said.count("dips: ") != (code != 0):
        sys.stderr.write(f"{command}, {kind} at {at}, code {code}: {said}\n")
        return CRASH
    (place / "out").mkdir(exist_ok=True)
    left_over = [p.name for p in (place / "out").rglob(".*.part")]
    again, said = _child(place, _arguments(place, command))
    if again != 0 or _digest(place, command) != wanted or (left_over and kind != "read-only"):
        sys.stderr.write(f"{command}, {kind} at {at}, then code {again}, {left_over}: {said}\n")
        return DIFFERENT
    return CLEAN if code == 0 else REFUSED


def _arguments(place: Path, command: str) -> list[str]:
    table, out, run = str(place / "patients.csv"), place / "out", str(place / "run")
    return {
        "fit": ["fit", table, "-t", "outcome", "-o", str(out / "run"), "--rounds", "2", "--force"],
        "audit": ["audit", table, "-t", "outcome", "-o", f"{out}/a.csv", "--report", f"{out}/a.html", "--force"],
        "predict": ["predict", run, table, "-o", f"{out}/p.csv", "--force"],
        "paper": ["paper", "run", "clean-labels", "--seeds", "1", "--results", str(out / "results")],
    }[command]


@cache
def _undisturbed(place: Path, command: str) -> tuple[str, int, int]:
    """Return what the command writes if nothing happens, and at how many steps something could."""
    if command == "predict" and not (place / "run").exists():
        first = ["fit", str(place / "patients.csv"), "-t", "outcome", "--rounds", "2", "-o", str(place / "run")]
        assert _child(place, first)[0] == 0
    shutil.rmtree(place / "out", ignore_errors=True)
    (place / "out").mkdir()
    code, said = _child(place, _arguments(place, command))
    assert code == 0, said
    n_steps, n_changes = map(int, (place / "steps").read_text().split())
    return _digest(place, command), n_steps, n_changes


def _digest(place: Path, command: str) -> str:
    """Return a checksum of what does not tell the time."""
    names = {
        "fit": ["run/samples.csv", "run/model/backbone.ubj", "run/model/preparation.json"],
        "audit": ["a.csv"],
        "predict": ["p.csv"],
        "paper": [],
    }[command]
    digest = hashlib.sha256()
    for name in names:
        path = place / "out" / name
        digest.update(path.read_bytes() if path.exists() else b"missing")
    if command == "paper":
        digest.update(str(sorted(p.name for p in (place / "out").rglob("*.json"))).encode())
    return digest.hexdigest()


def _child(place: Path, arguments: list[str], kind: str = "none", at: int = 0) -> tuple[int | None, str]:
    """Run a command in a process of its own; return its code, None if it does not end, and what it said."""
    command = [sys.executable, "-m", "tests.attack.faults", str(place), kind, str(at), *arguments]
    try:
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return None, ""
    return ended.returncode, ended.stderr.decode(errors="replace")


def _main(place: Path, kind: str, at: int, arguments: list[str]) -> None:
    """Run a command with small models and a fault in wait; what it imports is imported before that."""
    warnings.simplefilter("ignore")
    from dips._cli import main
    from tests.effort import quick_studies
    from tests.patients import patients

    if not (place / "patients.csv").exists():
        patients(n=80, n_labeled=60)[0].to_csv(place / "patients.csv", index=False)
    sys.argv = ["dips", *arguments]
    with quick_studies():
        listen()
        fault = _Fault(place / "out", kind, at)
        sys.addaudithook(fault)
        try:
            main()
        except KeyboardInterrupt:  # before the command's own eyes are open, where Python would report it
            raise SystemExit(_STOPPED) from None
        finally:
            fault.is_over = True
            (place / "steps").write_text(f"{fault.n_steps} {fault.n_changes}")


class _Fault:
    """Waits for a step, or for a change in a folder, and lets something happen there."""

    def __init__(self, folder: Path, kind: str, at: int) -> None:
        self.folder, self.kind, self.at = folder, kind, at
        self.n_steps = self.n_changes = 0
        self.is_over = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.is_over:
            return
        self.n_steps += 1
        is_change = event in _CHANGES and self._is_inside(arguments) and (event != "open" or self._writes(arguments))
        self.n_changes += is_change
        if self.kind == "stopped":
            self._happen(self.n_steps - 1 == self.at)
        elif self.kind == "read-only":
            if is_change and self.n_changes - 1 >= self.at:
                raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        elif self.kind != "none":
            self._happen(is_change and self.n_changes - 1 == self.at)

    def _happen(self, is_now: bool) -> None:
        if not is_now:
            return
        if self.kind == "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.is_over = True
        if self.kind == "vanished":
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            signal.raise_signal(signal.SIGINT)

    def _is_inside(self, arguments: tuple[Any, ...]) -> bool:
        return any(isinstance(a, str | Path) and str(a).startswith(str(self.folder)) for a in arguments[:2])

    def _writes(self, arguments: tuple[Any, ...]) -> bool:
        flags = arguments[2]
        return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:])
