"""Ctrl-C, also where a library swallows it.

Python raises KeyboardInterrupt wherever it happens to be. In a callback of a library that only prints it and goes on,
perhaps without the rows that the callback was to deliver. So the signal is remembered, and nothing is written after it.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

STOPPED = 130
_was_stopped = False


def listen() -> None:
    """Remember Ctrl-C from now on; a second one ends the process at once, which loses nothing that was finished."""
    signal.signal(signal.SIGINT, _stop)
    shown = sys.unraisablehook
    sys.unraisablehook = lambda problem: None if isinstance(problem.exc_value, KeyboardInterrupt) else shown(problem)


def was_stopped() -> bool:
    """Whether there was a Ctrl-C."""
    return _was_stopped


def raise_if_stopped() -> None:
    """Raise a KeyboardInterrupt that may have been swallowed."""
    if _was_stopped:
        raise KeyboardInterrupt


def _stop(number: int, frame: Any) -> None:
    global _was_stopped
    if _was_stopped:
        os._exit(STOPPED)
    _was_stopped = True
    raise KeyboardInterrupt
