"""The interface of a job."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Generator
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol, runtime_checkable


class Job(Protocol):
    """A small piece of work whose outcome depends only on what its key is made of."""

    def key(self) -> str:
        """A hash of everything the outcome depends on."""
        ...

    def settings(self) -> dict[str, Any]:
        """What it is, for a reader of the record."""
        ...

    def run(self) -> dict[str, Any]:
        """Do the work; return plain data."""
        ...


@runtime_checkable
class SharingJob(Job, Protocol):
    """A job that can share a device with others in the same process."""

    def proceed(self) -> Generator[None, None, dict[str, Any]]:
        """Do what :meth:`run` does, yielding now and then, so that another can proceed."""
        ...


def hashed(record: Any) -> str:
    """A hash of plain data, the same in every process and on every machine.

    Examples
    --------
    >>> hashed({"a": 1, "b": 2}) == hashed({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(record, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:32]


def beyond_defaults(job: Any) -> dict[str, Any]:
    """Fields of a dataclass that differ from their defaults; so adding a field does not change old keys."""
    values = dataclasses.asdict(job)
    return {f.name: values[f.name] for f in dataclasses.fields(job) if values[f.name] != _default(f)}


def _default(f: dataclasses.Field[Any]) -> Any:
    return f.default if f.default_factory is dataclasses.MISSING else f.default_factory()


def version_of(library: str) -> str:
    """The installed version of a library."""
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"
