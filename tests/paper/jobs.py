"""Jobs small enough to test the engine with."""

import os
import signal
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

from dips._paper.engine import hashed


@dataclass(frozen=True)
class Square:
    """Squares a number, slowly or fatally if asked to, and leaves a mark in a folder each time it runs."""

    number: int
    marks: str = ""
    sleep_s: float = 0.0
    fails_below: int = -1
    killed_at: int = -1

    def key(self):
        return hashed({"number": self.number, "fails_below": self.fails_below})

    def settings(self):
        return asdict(self)

    def run(self):
        if self.marks:
            (Path(self.marks) / f"{self.number}-{os.getpid()}-{time.time_ns()}").touch()
        time.sleep(self.sleep_s)
        if self.number == self.killed_at:
            os.kill(os.getpid(), signal.SIGKILL)  # as the system does when memory runs out
        if self.number < self.fails_below:
            raise ArithmeticError(f"{self.number} is too small")
        return {"square": self.number**2}


def squares(n, **settings):
    return [Square(i, **settings) for i in range(n)]


@dataclass(frozen=True)
class Countdown:
    """Counts down by turns, notes in a shared list who did so, and may warn or fail at the end."""

    number: int
    turns: list
    fails: bool = False
    sleep_s: float = 0.0

    def key(self):
        return hashed({"number": self.number})

    def settings(self):
        return {"number": self.number}

    def run(self):
        raise AssertionError("a job that can share a device is not run by itself where several are")

    def proceed(self):
        for _ in range(self.number):
            self.turns.append(self.number)
            time.sleep(self.sleep_s)
            yield
        warnings.warn(f"{self.number} is over", stacklevel=1)
        if self.fails:
            raise ArithmeticError(f"{self.number} fails")
        return {"counted": self.number}
