"""Files from their public address: downloaded once, checked, and kept in the user's cache folder.

This is a page of the standard library rather than pooch: pooch would bring requests, cannot read ``file://`` addresses,
on which the tests run, and knows nothing of the hint to put the file into a folder by hand.
"""

from __future__ import annotations

import hashlib
import os
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
    """A file to download.

    Attributes
    ----------
    url : where it is
    sha256, md5 : its checksum, if we know the file or the publisher gives one
    member : the file to take from a zip archive
    adds : columns whose value is in the name of the file and not in its rows, such as the site
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
    """Where downloaded files are kept: ``$DIPS_CACHE``, or the user's cache folder of the operating system."""
    from platformdirs import user_cache_dir  # only who downloads a file needs it

    return Path(os.environ.get("DIPS_CACHE") or user_cache_dir("dips", appauthor=False, opinion=False))


def fetch(remote: Remote, folder: Path) -> Path:
    """Return the file in `folder`; download it if it is not there. A broken download leaves nothing behind."""
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
            f"{remote.file_name} could not be downloaded from {remote.url} ({error}); go online, or put the file into "
            f"{folder}, or set DIPS_DATA to a folder that holds it."
        ) from error
    return path


def _digest(remote: Remote) -> Any:
    return hashlib.md5(usedforsecurity=False) if remote.md5 else hashlib.sha256()


def _check(remote: Remote, checksum: str) -> None:
    wanted = remote.md5 or remote.sha256
    if wanted is not None and checksum != wanted:
        raise DataError(
            f"The file downloaded from {remote.url} is not the one we know: its checksum is {checksum} instead of "
            f"{wanted}. Try again; the download may have been cut short."
        )
