"""``dips fit`` killed at a random moment, with -9 or with Ctrl-C: the same command then ends in the same result."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import time
from functools import cache
from pathlib import Path

from tests.attack.harness import ROOT
from tests.attack.outcomes import CLEAN, CRASH, DIFFERENT, HANG, TRACEBACK
from tests.attack.study import arguments, digest

_TIMEOUT_S = 120
_STOPPED = 130


def attack(place: Path, seed: int) -> str:
    """Kill it once or twice, sometimes over an old run, then let it end."""
    rng = random.Random(seed)
    wanted, seconds = _undisturbed(place)
    out = place / "killed"
    shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(place / ".killed.unfinished", ignore_errors=True)
    replaces = rng.random() < 0.3
    if replaces:
        shutil.copytree(place / "undisturbed", out)
    command = arguments(place, out, *(["--force"] if replaces else []))
    for _ in range(rng.choice((1, 1, 2))):
        number = rng.choice((signal.SIGKILL, signal.SIGINT))
        process = _started(command)
        # Python itself reports a Ctrl-C that comes before it has read the first line of a program.
        time.sleep(rng.uniform(0.5 if number == signal.SIGINT else 0, 1.1 * seconds))
        process.send_signal(number)
        try:
            _, said = process.communicate(timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return HANG
        if b"Traceback" in said or b"This is a bug" in said:
            return TRACEBACK
        if number == signal.SIGINT and process.returncode not in (0, _STOPPED, -signal.SIGINT):
            return CRASH
        if replaces and not (out / "config.json").exists():
            return DIFFERENT  # there must always be a run
    process = _started(command if replaces or not out.exists() else [*command, "--force"])
    _, said = process.communicate(timeout=_TIMEOUT_S)
    if process.returncode != 0:
        return TRACEBACK if b"Traceback" in said else CRASH
    left_over = [p.name for p in place.iterdir() if p.name.startswith(".killed") and p.name != ".killed.lock"]
    return CLEAN if digest(out) == wanted and not left_over else DIFFERENT


def _started(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@cache
def _undisturbed(place: Path) -> tuple[str, float]:
    """Return what the study finds if nothing happens, and how long it takes."""
    began = time.monotonic()
    subprocess.run(arguments(place, place / "undisturbed"), cwd=ROOT, check=True, capture_output=True)
    return digest(place / "undisturbed"), time.monotonic() - began
