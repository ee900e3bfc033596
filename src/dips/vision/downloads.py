"""Files from their official places: fetched once, checked, kept in the user's cache."""

from __future__ import annotations

import hashlib
import os
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

_CHUNK = 1 << 20
_TIMEOUT_S = 60


@dataclass(frozen=True)
class Remote:
    """A file, where it is fetched from and, where its publisher gives one, its MD5 checksum."""

    name: str
    url: str
    md5: str | None = None


def find(remote: Remote, folder: str | Path | None = None) -> Path:
    """Return the file: from the given folder, ``$DIPS_DATA`` or the cache, else fetch it into the cache."""
    cached = cache_folder() / remote.name
    named = [Path(f) / remote.name for f in (folder, os.environ.get("DIPS_DATA")) if f]
    for path in [*named, cached]:
        if path.exists():
            return path
    return _fetch(remote, cached)


def cache_folder() -> Path:
    """Where fetched files are kept: ``$DIPS_CACHE``, or the system's place for such things."""
    if chosen := os.environ.get("DIPS_CACHE"):
        return Path(chosen)
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "dips"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "dips"
    return Path(os.environ.get("XDG_CACHE_HOME", home / ".cache")) / "dips"


def _fetch(remote: Remote, path: Path) -> Path:
    """Write beside the file, check, then put it in its place in one move."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside, digest = path.with_name(path.name + ".part"), hashlib.md5(usedforsecurity=False)
    try:
        with urllib.request.urlopen(remote.url, timeout=_TIMEOUT_S) as source, beside.open("wb") as target:
            while chunk := source.read(_CHUNK):
                target.write(chunk)
                digest.update(chunk)
    except (urllib.error.URLError, OSError) as error:
        beside.unlink(missing_ok=True)
        raise OSError(
            f"{remote.name} could not be fetched from {remote.url} ({error}); fetch it elsewhere and put it into "
            f"{path.parent}, or name the folder that holds it in $DIPS_DATA."
        ) from error
    if remote.md5 is not None and digest.hexdigest() != remote.md5:
        beside.unlink()
        raise OSError(
            f"What came from {remote.url} is not {remote.name}: its checksum is {digest.hexdigest()}, and {remote.md5} "
            "was wanted; try again, for the transfer may have broken off."
        )
    os.replace(beside, path)
    return path
