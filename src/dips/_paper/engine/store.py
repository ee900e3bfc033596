"""Stores records: one JSON file per job, complete or absent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dips._tools.files import make_folder, write_json

_RESULT = {"done": "outcome", "failed": "error"}  # what a record has, by its status


@dataclass(frozen=True)
class Store:
    """A folder of records, each named by the key of its job.

    A record is written by the process that did the work, when it has finished, and put in place in one move. So
    finished work survives whatever kills a run.
    """

    folder: Path

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the record, or None if there is none that can be read; the job is then run again."""
        try:
            found = json.loads(self._path(key).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return found if _is_record(found) else None

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Store a record."""
        path = self._path(key)
        make_folder(path.parent)
        write_json(path, record, indent=None)

    def _path(self, key: str) -> Path:
        return self.folder / "records" / key[:2] / f"{key}.json"


def _is_record(found: Any) -> bool:
    """Whether it is a complete record."""
    if not isinstance(found, dict) or "settings" not in found:
        return False
    return found.get(_RESULT.get(str(found.get("status")))) is not None
