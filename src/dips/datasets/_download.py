"""Files from their public address: fetched once, checked, kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dips._tools.files import whole_file
from dips.exceptions import DataError

_CHUNK = 1 << 20
_TIMEOUT_S = 60


@dataclass(frozen=True)
class Remote:
    """A file on the net.

    Attributes
    ----------
    url : where it is fetched from
    sha256, md5 : its checksum, where the bytes are known or the publisher gives one
    member : the file wanted from a zip archive
    adds : columns that the name of the file says and its rows do not, such as the site
    """

    url: str
    sha256: str | None = None
    member: str | None = None
    adds: Mapping[str, str] = field(default_factory=dict)
    md5: str | None = None

    @property
    def file_name(self) -> str:
        """The last part of the address."""
        return unquote(self.url.rsplit("/", 1)[-1])


def cache_folder() -> Path:
    """Where fetched files are kept: ``$DIPS_CACHE``, or the system's place for such things."""
    if chosen := os.environ.get("DIPS_CACHE"):
        return Path(chosen)
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "dips"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "dips"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "dips"


def fetch(remote: Remote, folder: Path) -> Path:
    """Return the file in `folder`, fetched if it is not there yet; a broken transfer leaves nothing behind."""
    path = folder / remote.file_name
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    digest = _digest(remote)
    try:
        with whole_file(path) as target:
            with urllib.request.urlopen(remote.url, timeout=_TIMEOUT_S) as source:
                while chunk := source.read(_CHUNK):
                    target.write(chunk)
                    digest.update(chunk)
            _check(remote, digest.hexdigest())
    except OSError as error:
        raise DataError(
            f"{remote.file_name} could not be fetched from {remote.url} ({error}); go online, or put the file into "
            f"{folder}, or name a folder that holds it in DIPS_DATA."
        ) from error
    return path


def _digest(remote: Remote) -> Any:
    return hashlib.md5(usedforsecurity=False) if remote.md5 else hashlib.sha256()


def _check(remote: Remote, found: str) -> None:
    wanted = remote.md5 or remote.sha256
    if wanted is not None and found != wanted:
        raise DataError(
            f"What came from {remote.url} is not the file that is known: its checksum is {found}, and {wanted} was "
            "wanted; try again, for the transfer may have broken off."
        )
