"""What a study keeps while it runs, and what must be the same for it to continue.

An audit has no run folder, so its file is in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dips._image_study.album import Album
from dips._study.folder import fingerprint
from dips._tools.files import make_folder
from dips._tools.observer import Observer
from dips.datasets._download import cache_folder
from dips.exceptions import OutputError
from dips.vision._image_files import state_of_files


@contextmanager
def kept_until_done(album: Album, config: dict[str, Any], observer: Observer) -> Iterator[Path | None]:
    """The checkpoint of this very audit, which goes when the block ends well; None where none can be written."""
    folder = cache_folder() / "audits"
    with suppress(OutputError):
        make_folder(folder)
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        message = f"{folder} cannot be written to, so an audit that is stopped begins anew; set DIPS_CACHE to a folder."
        observer.on_record({"event": "warning", "message": message})
        yield None
        return
    path = folder / f"{mark_of(album, config)}.pt"
    yield path
    path.unlink(missing_ok=True)


def mark_of(album: Album, config: dict[str, Any]) -> str:
    """A text that changes with the settings, the labels and the files of a study."""
    decides = [fingerprint(config), state_of_files(album.folder, album.read.names, album.images.shape[1:])]
    return hashlib.sha256(repr(decides).encode()).hexdigest()[:32]
