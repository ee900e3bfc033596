"""What the user names: one table or several, files by a pattern, tables of a database."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dips._files.sqlite import is_address
from dips.exceptions import DataError


def named_sources(data: Any) -> list[Any]:
    """Return every table that was named, a pattern such as ``ward_*.csv`` as the files that match it, in order."""
    several = list(data) if isinstance(data, Sequence) and not isinstance(data, str) else [data]
    return [source for one in several for source in _matching(one)]


def _matching(one: Any) -> list[Any]:
    if not isinstance(one, str | Path) or is_address(one):
        return [one]
    path = os.path.expanduser(one)
    if not glob.has_magic(path) or os.path.exists(path):
        return [one]
    paths = sorted(glob.glob(path, recursive=True))
    if not paths:
        raise DataError(f"No file matches {one}.")
    return paths
