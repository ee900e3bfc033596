"""Runs attacks in a process of their own, and counts how they end."""

from __future__ import annotations

import select
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.attack.outcomes import CRASH, FINE, HANG

ROOT = Path(__file__).parents[2]


@dataclass
class Tally:
    """How many attacks ended how, and the seeds of those that ended badly."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)

    def add(self, seed: int, outcome: str) -> None:
        """Count one."""
        self.counts[outcome] += 1
        if outcome not in FINE:
            self.failures.append((seed, outcome))


class Worker:
    """A process that is attacked with one seed after another, and started anew when it dies."""

    def __init__(self, name: str, place: Path, log: Path, environment: dict[str, str] | None = None) -> None:
        self.environment = environment
        self.arguments = [sys.executable, "-m", "tests.attack.worker", name, str(place)]
        self.log = log.open("ab")
        self.process: subprocess.Popen[bytes] | None = None

    def attack(self, seed: int, timeout_s: float) -> str:
        """Return how the attack ended."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.log,
                cwd=ROOT,
                env=self.environment,
            )
            if self._answer(300) != "ready":
                raise RuntimeError(f"The worker did not start; see {self.log.name}.")
        assert self.process.stdin is not None
        self.process.stdin.write(f"{seed}\n".encode())
        self.process.stdin.flush()
        outcome = self._answer(timeout_s)
        if outcome in ("", None):
            self.process.kill()
            self.process.wait()
            self.process = None
        return HANG if outcome is None else outcome or CRASH

    def _answer(self, timeout_s: float) -> str | None:
        """Return the next line: empty if the process died, None if it takes too long."""
        assert self.process is not None
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], timeout_s)
        return self.process.stdout.readline().decode().strip() if ready else None

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.log.close()


def run(
    name: str,
    seeds: Iterable[int],
    timeout_s: float = 60,
    log: Path | None = None,
    environment: dict[str, str] | None = None,
) -> Tally:
    """Attack with every seed, in a process with the given environment."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as place:
        worker = Worker(name, Path(place), log or Path(place) / "log.txt", environment)
        try:
            for seed in seeds:
                tally.add(seed, worker.attack(seed, timeout_s))
        finally:
            worker.close()
    return tally
