"""What executors must have, compared with the driver before any work."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pyarrow as pa

from dips._forest import kernel
from dips._spark.errors import in_one_sentence
from dips._spark.worker import Batches
from dips._tools.warnings import warn
from dips._version import __version__
from dips.exceptions import DataError

_LIBRARIES = ("numpy", "scikit-learn")  # what is sent is made of their objects
_N_PROBES = 8  # tasks; a cluster's nodes are mostly alike


def check_executors(session: Any, libraries: Sequence[str]) -> None:
    """Refuse executors that would read the model differently; say so where they have no compiled kernel."""
    libraries = (*_LIBRARIES, *libraries)
    here = installed(libraries)
    look = partial(_probe, tuple(libraries))
    with in_one_sentence("looking at what is installed on the executors"):
        answers = session.range(0, _N_PROBES, 1, _N_PROBES).mapInArrow(look, "installed string").distinct().collect()
    compare(here, [json.loads(row[0]) for row in answers])


def task_cpus(session: Any) -> int:
    """How many cores each task has for itself."""
    return int(session.conf.get("spark.task.cpus", "1"))


def compare(here: dict[str, str], there: list[dict[str, str]]) -> None:
    """Refuse other versions than the driver's; warn of a missing kernel."""
    for answer in there:
        differing = [name for name in here if answer[name] != here[name]]
        other = [f"{name} {answer[name]} instead of {here[name]}" for name in differing if name != "kernel"]
        if other:
            raise DataError(
                f"The executors have {', '.join(other)}; install the driver's versions on every node, else results "
                "would differ."
            )
        if differing and here["kernel"] == "yes":
            warn(
                "The executors have no compiled kernel, so watching the training there is many times slower; install "
                "the wheel of dips-ssl on every node instead of shipping its sources with --py-files."
            )
            return


def installed(libraries: Sequence[str]) -> dict[str, str]:
    """Return what this process runs on."""
    return {
        "Python": platform.python_version().rpartition(".")[0],
        "dips-ssl": __version__,
        "kernel": "no" if kernel.library() is None else "yes",
        **{name: _version(name) for name in libraries},
    }


def _probe(libraries: tuple[str, ...], batches: Batches) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        answer = json.dumps(installed(libraries), sort_keys=True)
        yield pa.RecordBatch.from_arrays([pa.array([answer] * batch.num_rows)], names=["installed"])


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "(none)"
