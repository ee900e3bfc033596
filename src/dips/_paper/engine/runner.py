"""Runs the jobs that have no record yet: one after the other, in several processes, or in turn on one device."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError
from threadpoolctl import threadpool_limits

from dips._paper.engine.job import Job, SharingJob
from dips._paper.engine.store import Store
from dips._tools.progress import ProgressBars
from dips.exceptions import UserError

_MAX_WARNINGS = 5


@dataclass(frozen=True)
class Tally:
    """How many jobs had a record already, how many were done now, and how many failed (now or before)."""

    already_there: int
    done: int
    failed: int
    elapsed_s: float


def run(jobs: Iterable[Job], store: Store, n_jobs: int = 1, retry: bool = False, title: str = "") -> Tally:
    """Run every job that has no record; with `retry`, also those whose record is a failure.

    A job that fails leaves a record with its error and its traceback, and the others continue.
    """
    began = time.perf_counter()
    unique = {job.key(): job for job in jobs}
    before = {key: store.get(key) for key in unique}
    todo = [job for key, job in unique.items() if _is_due(before[key], retry)]
    failed_before = sum(_failed(before[key]) and not retry for key in unique)
    with ProgressBars(bool(todo), title=title) as bars:
        statuses: list[str] = []
        for status in _performed(todo, store, n_jobs):
            statuses.append(status)
            n_failed = statuses.count("failed")
            bars.title = f"{title}, {n_failed} failed" if n_failed else title
            bars.on_step(len(statuses), len(todo))
    failed = statuses.count("failed")
    return Tally(
        already_there=len(unique) - len(todo),
        done=len(todo) - failed,
        failed=failed + failed_before,
        elapsed_s=time.perf_counter() - began,
    )


def _is_due(record: dict[str, Any] | None, retry: bool) -> bool:
    return record is None or (retry and _failed(record))


def _failed(record: dict[str, Any] | None) -> bool:
    return record is not None and record["status"] == "failed"


def _performed(todo: Sequence[Job], store: Store, n_jobs: int) -> Iterator[str]:
    """Yield the status of each job as it ends."""
    if n_jobs == 1 or len(todo) < 2:
        yield from (perform(job, store) for job in todo)
        return
    sharing = [job for job in todo if isinstance(job, SharingJob)]
    if len(sharing) == len(todo):
        yield from _in_turn(sharing, store, n_jobs)
        return
    try:
        with parallel_config(backend="loky", inner_max_num_threads=1):
            yield from Parallel(n_jobs, return_as="generator_unordered")(delayed(perform)(job, store) for job in todo)
    except TerminatedWorkerError as error:
        raise UserError(
            "A worker process was killed, perhaps because memory ran out. Finished trials are kept: run the same "
            "command again to continue, with fewer --jobs."
        ) from error


def _in_turn(todo: Sequence[SharingJob], store: Store, n_jobs: int) -> Iterator[str]:
    """Advance so many jobs in turn; where one ends, the next begins."""
    waiting = (_Performance(job, job.proceed()) for job in todo)
    with threadpool_limits(1):
        under_way = list(islice(waiting, n_jobs))
        while under_way:
            for performance in list(under_way):
                if performance.advance():
                    continue
                under_way.remove(performance)
                under_way.extend(islice(waiting, 1))
                yield performance.keep(store)


def perform(job: Job, store: Store) -> str:
    """Run one job with one thread, store its record, and return its status."""
    performance = _Performance(job, _in_one_go(job))
    with threadpool_limits(1):
        performance.advance()
    return performance.keep(store)


def _in_one_go(job: Job) -> Generator[None, None, dict[str, Any]]:
    return job.run()
    yield


class _Performance:
    """A job under way, and the record of it: its outcome or its error, what it warned of, and the time of its turns."""

    def __init__(self, job: Job, work: Generator[None, None, dict[str, Any]]) -> None:
        self.job, self._work = job, work
        self._elapsed_s = self._cpu_s = 0.0
        self._result: dict[str, Any] = {}
        self._warned: set[str] = set()

    def advance(self) -> bool:
        """Go on until the work yields or ends; whether it has not ended."""
        began, cpu_before = time.perf_counter(), time.process_time()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            self._result = self._advanced()
        self._warned |= {str(w.message)[:200] for w in caught}
        self._elapsed_s += time.perf_counter() - began
        self._cpu_s += time.process_time() - cpu_before
        return not self._result

    def _advanced(self) -> dict[str, Any]:
        """The outcome or the error that the work ended with, if it has."""
        try:
            next(self._work)
        except StopIteration as end:
            return {"status": "done", "outcome": end.value}
        except Exception as error:
            trace = traceback.format_exc()
            return {"status": "failed", "error": f"{type(error).__name__}: {error}", "traceback": trace}
        return {}

    def keep(self, store: Store) -> str:
        """Store the record, and return the status."""
        record = {"settings": self.job.settings(), **self._result}
        record["warnings"] = sorted(self._warned)[:_MAX_WARNINGS]
        record["elapsed_s"] = round(self._elapsed_s, 3)
        record["cpu_s"] = round(self._cpu_s, 3)
        store.put(self.job.key(), record)
        return record["status"]
