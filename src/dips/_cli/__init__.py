"""The command ``dips``.

Every module of ``commands`` adds its commands to the application; a module put there is found. A group of commands is
one ``app.add_typer(group, name="...")`` in such a module.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

from dips._tools.interrupts import STOPPED, listen

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its code; Ctrl-C ends in one line, also while libraries are imported."""
    listen()
    try:
        from dips._cli.app import run

        code = run()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is written; a late Ctrl-C changes nothing
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write("dips: Stopped.\n")
        code = STOPPED
    _flush()
    raise SystemExit(code)


def _flush() -> None:
    """Python would exit with a code of its own where what was printed cannot be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
