"""Stores records: one JSON file per job, complete or absent."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dips._tools.files import make_folder, without_nan, write_json

_RESULT = {"done": "outcome", "failed": "error"}  # what a record has, by its status
_SHARES = {"accuracy", "auc", "balanced_accuracy", "calibration_error", "rarest_recall", "share_wrong", "top5"}


@dataclass(frozen=True)
class Store:
    """A folder of records, each named by the key of its job.

    A record is written by the process that did the work, when it has finished, and put in place in one move. So
    finished work survives whatever kills a run.
    """

    folder: Path

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the record, or None if there is none, or it was changed since; the job is then run again."""
        try:
            record = json.loads(self._path(key).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        return record if _is_record(record) else None

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Store a record."""
        path = self._path(key)
        make_folder(path.parent)
        plain = without_nan(record)
        write_json(path, plain | {"sha256": _checksum(plain)}, indent=None)

    def _path(self, key: str) -> Path:
        return self.folder / "records" / key[:2] / f"{key}.json"


def _is_record(content: Any) -> bool:
    """Whether it is a complete record, as it was written; those of 0.1.0 have no checksum."""
    if not isinstance(content, dict) or "settings" not in content:
        return False
    checksum = content.pop("sha256", None)
    if checksum is not None and checksum != _checksum(content):
        return False
    result = content.get(_RESULT.get(str(content.get("status"))))
    return result is not None and _is_possible(result)


def _is_possible(result: Any, name: str = "") -> bool:
    """Whether every number in a result that is a share is one."""
    if isinstance(result, dict):
        return all(_is_possible(value, key) for key, value in result.items())
    if isinstance(result, list):
        return all(_is_possible(value, name) for value in result)
    if name not in _SHARES or result is None:
        return True
    return isinstance(result, int | float) and -1e-9 <= result <= 1 + 1e-9


def _checksum(record: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
