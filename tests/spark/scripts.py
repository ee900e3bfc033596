"""Scripts that need a session of another kind, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dips

PLACES = Path(dips.__file__).parents[1], Path(__file__).parents[2]  # where workers find the package and these tests
_NEEDED = 4 << 30  # bytes of memory for a driver and two executors


def environment():
    places = os.pathsep.join(map(str, PLACES))
    return os.environ | {"PYTHONPATH": places, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


def start(module, *arguments):
    """Run a module of these tests to its end."""
    command = [sys.executable, "-W", "ignore", "-m", module, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)


def ran(module, *arguments):
    """Return what the module printed last."""
    done = start(module, *arguments)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def _available():
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def _why_no_cluster():
    if not sys.platform.startswith("linux"):
        return "processes are found through /proc"
    return "a driver and two executors need 4 GB of free memory" if _available() < _NEEDED else ""


needs_a_cluster = pytest.mark.skipif(bool(_why_no_cluster()), reason=_why_no_cluster() or "there is one")
