"""Jobs small enough to test the engine with."""

import os
import signal
import time
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
