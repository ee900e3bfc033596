"""What a job is."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Protocol


class Job(Protocol):
    """A small piece of work whose outcome depends on nothing but what its key is made of."""

    def key(self) -> str:
        """A hash of everything the outcome depends on."""
        ...

    def settings(self) -> dict[str, Any]:
        """What it is, for a reader of the record."""
        ...

    def run(self) -> dict[str, Any]:
        """Do the work; return plain data."""
        ...


def hashed(record: Any) -> str:
    """A hash of plain data, the same in every process and on every machine.

    Examples
    --------
    >>> hashed({"a": 1, "b": 2}) == hashed({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(record, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:32]
