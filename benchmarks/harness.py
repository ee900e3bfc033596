"""How time and memory are measured, and how a result is kept: contenders in turn, memory in a fresh process.

Times are compared inside one run only, and the best of the repeats counts: whatever else a machine does can only add.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import multiprocessing
import os
import platform
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS
from rich.console import Console
from threadpoolctl import threadpool_limits

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "xgboost", "lightgbm", "catboost", "cleanlab", "pyarrow")
MB = 2**20


@dataclass(frozen=True)
class Times:
    """Seconds of one contender over its repeats."""

    wall_s: float  # the best
    cpu_s: float  # the best, all threads together
    repeats: int


def in_turn(
    contenders: Mapping[str, Callable[[], Any]], at_least: int = 3, at_most: int = 30, seconds: float = 4.0
) -> dict[str, Times]:
    """Time the contenders one after another, again and again, so that a slow moment hits all of them alike."""
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    began = time.perf_counter()
    for repeat in range(at_most):
        if repeat >= at_least and time.perf_counter() - began > seconds:
            break
        for name, act in contenders.items():
            spent[name].append(timed(act)[:2])
    return {name: _summary(np.array(pairs)) for name, pairs in spent.items()}


def timed(act: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall and CPU seconds of one act, and what it returned."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = act()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def _summary(pairs: np.ndarray) -> Times:
    wall, cpu = pairs.T
    return Times(float(wall.min()), float(cpu.min()), len(pairs))


@dataclass(frozen=True)
class Usage:
    """What one act cost in a process of its own."""

    wall_s: float
    cpu_s: float
    before_mb: float  # resident when the act began: the interpreter, the libraries and the input
    peak_mb: float  # the most that was resident during the act
    figures: dict[str, Any]  # what the act itself reported

    @property
    def added_mb(self) -> float:
        """What the act itself took at its peak."""
        return self.peak_mb - self.before_mb


def in_child(prepare: Callable[..., Callable[[], Any]], *arguments: Any) -> Usage:
    """Measure the act that `prepare(*arguments)` returns, in a fresh process; a dict it returns is kept."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as child:
        return child.submit(_measured, prepare, arguments).result()


def _measured(prepare: Callable[..., Callable[[], Any]], arguments: tuple[Any, ...]) -> Usage:
    act = prepare(*arguments)
    _give_back_memory()
    before = _resident_mb("VmRSS")
    wall, cpu, result = timed(act)
    peak, figures = _resident_mb("VmHWM"), result if isinstance(result, dict) else {}
    if wall < _TOO_SHORT_S:  # memory is as it was the first time, time is not
        again = in_turn({"act": act}, seconds=_TOO_SHORT_S)["act"]
        wall, cpu = min(wall, again.wall_s), min(cpu, again.cpu_s)
    return Usage(wall, cpu, before, peak, figures)


_TOO_SHORT_S = 2.0
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _resident_mb(field: str) -> float:
    """Resident memory now or at its peak; getrusage would count the parent's too, which is inherited over exec."""
    if not _STATUS.exists():
        return float("nan")  # only Linux tells
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


def _give_back_memory() -> None:
    """Return what preparing left over to the system, or an act would live on it unseen; then forget the peak so far."""
    gc.collect()
    if _CLEAR.exists():
        with suppress(OSError, AttributeError):  # not every C library has it
            ctypes.CDLL(None).malloc_trim(0)
        _CLEAR.write_text("5")


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep to one thread, here and in the processes started from here, whatever a library takes by default."""
    before = os.environ.get(_WORKERS)
    os.environ[_WORKERS] = "1"
    with threadpool_limits(1):
        yield
    os.environ.pop(_WORKERS) if before is None else os.environ.update({_WORKERS: before})


_WORKERS = "LOKY_MAX_CPU_COUNT"  # what joblib goes by


def machine() -> dict[str, Any]:
    """Where the figures come from."""
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gb": round(pages / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": {name: number for name in LIBRARIES if (number := _version(name))},
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return f"{names[0]} ({platform.machine()})" if names else platform.processor()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def options(description: str | None, parts: Collection[str] = ()) -> argparse.Namespace:
    """Read the command line that all benchmarks share; of one that has `parts`, some can be chosen."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, a few minutes in all")
    if parts:
        parser.add_argument("--only", nargs="+", choices=sorted(parts), default=list(parts), help="these alone")
    return parser.parse_args()


def keep(name: str, tables: Mapping[str, list[dict[str, Any]]]) -> None:
    """Write the records with the machine they were measured on to results/NAME.json, and say so."""
    RESULTS.mkdir(exist_ok=True)
    record = {"command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]), "machine": machine()}
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(record | {"tables": dict(tables)}, indent=1))
    described = record["machine"]
    Console(width=200).print(
        f"{described['cpu']}, {described['cores']} cores, {described['memory_gb']} GB, {described['system']}, "
        f"Python {described['python']}, {', '.join(f'{k} {v}' for k, v in described['versions'].items())}",
        f"\nwritten to {path.relative_to(RESULTS.parent)}\n",
        highlight=False,
    )


def against(value: float, bar: float | None, at_most: bool = True) -> str:
    """Put a figure beside its bar, as a true statement; a missed one ends in an exclamation mark."""
    if bar is None or np.isnan(value):
        return "" if np.isnan(value) else f"{value:.2f}"
    met = value <= bar if at_most else value >= bar
    sign = {(True, True): "≤", (True, False): "≥", (False, True): ">", (False, False): "<"}[met, at_most]
    return f"{value:.2f} {sign} {bar:g}" + ("" if met else " !")


def exponent(costs: Mapping[int, float]) -> float:
    """Fit the slope of log cost over log size: 1 is linear."""
    return float(np.polyfit(np.log(list(costs)), np.log(list(costs.values())), 1)[0])
