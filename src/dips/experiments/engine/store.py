"""Where records are kept: one JSON file a job, there in full or not at all."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dips.persistence.files import write_json
from dips.tabular.errors import OutputError


@dataclass(frozen=True)
class Store:
    """A folder of records, each named by the key of its job.

    A record is written by the process that did the work, as its last act, and put in place in one move. So whatever
    kills a run, what was finished stays finished.
    """

    folder: Path

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the record, or None where there is none that can be read."""
        try:
            return json.loads(self._path(key).read_bytes())
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Keep a record."""
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{path.parent} cannot be made: {error.strerror}.") from error
        write_json(path, record, indent=None)

    def _path(self, key: str) -> Path:
        return self.folder / "records" / key[:2] / f"{key}.json"
