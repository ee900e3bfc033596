"""A model folder is opened in a process of its own first: what a library does to that one, it does not do to yours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from dips.exceptions import ModelError

_TIMEOUT_S = 120
_CHILD = """
import sys
from dips import load_model
from dips.exceptions import ModelError
try:
    load_model(sys.argv[1])
except ModelError as error:
    sys.stdout.buffer.write(str(error).encode("utf-8", "replace"))
    raise SystemExit(error.exit_code)
"""


def try_elsewhere(folder: Path) -> None:
    """Load the model in a child process; refuse it if that process refuses it, crashes or does not end."""
    command = [sys.executable, "-c", _CHILD, str(folder)]
    try:
        child = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise ModelError(f"{folder} was not loaded after {_TIMEOUT_S} seconds; do not use it.") from None
    if child.returncode == ModelError.exit_code:
        raise ModelError(child.stdout.decode("utf-8", "replace").strip())
    if child.returncode != 0:
        raise ModelError(f"{folder} crashed the process that tried to load it ({child.returncode}); do not use it.")
