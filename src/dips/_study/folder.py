"""The run folder: written beside its place and moved there in one step, so that it is complete or absent.

While a study runs, its finished parts are cached in a hidden folder beside it; the same command continues from there.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dips._tools.arrays import Array
from dips._tools.files import whole_file, write_whole
from dips.exceptions import OutputError

MARK = "config.json"  # a folder that holds it is one of ours
REVIEW = "review"  # the folder in it with what people decided
_STATE = "state"


class RunFolder:
    """The folder that a study writes to.

    Parameters
    ----------
    path : the folder to make
    force : replace a run that exists already; nothing else is ever replaced

    Attributes
    ----------
    staging : the hidden folder beside it, which becomes the run folder in the end
    """

    def __init__(self, path: Path | str, force: bool = False) -> None:
        self.path = Path(path).expanduser().resolve()
        self.force = force
        self.staging = self.path.parent / f".{self.path.name}.unfinished"
        refuse_to_overwrite(self.path, force)

    def begin(self, fingerprint: str) -> bool:
        """Open the hidden folder; return whether the same study was begun there before."""
        kept = self.staging / _STATE / "fingerprint"
        continues = kept.exists() and kept.read_text(encoding="utf-8") == fingerprint
        if not continues:
            shutil.rmtree(self.staging, ignore_errors=True)
            try:
                (self.staging / _STATE).mkdir(parents=True)
            except OSError as error:
                raise OutputError(f"{self.path} cannot be written: {error.strerror}.") from error
            write_whole(kept, fingerprint.encode())
        return continues

    def cached(self, name: str, compute: Callable[[], dict[str, Array]]) -> dict[str, Array]:
        """Return the arrays of this name; compute them if they are not in the cache."""
        path = self.staging / _STATE / f"{name}.npz"
        if path.exists():
            try:
                with np.load(path, allow_pickle=False) as stored:
                    return {key: stored[key] for key in stored.files}
            except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
                path.unlink()  # cut off while it was written
        arrays = compute()
        try:
            with whole_file(path) as stream:
                np.savez(stream, **arrays)  # type: ignore[arg-type]
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error.strerror}.") from error
        return arrays

    def is_cached(self, name: str) -> bool:
        """Whether the arrays of this name are in the cache."""
        return (self.staging / _STATE / f"{name}.npz").exists()

    def finish(self) -> None:
        """Move the folder to its place, in one step."""
        shutil.rmtree(self.staging / _STATE, ignore_errors=True)
        if not self.path.exists():
            os.replace(self.staging, self.path)
            return
        refuse_to_overwrite(self.path, self.force)
        previous = self.path.parent / f".{self.path.name}.previous"
        shutil.rmtree(previous, ignore_errors=True)
        os.replace(self.path, previous)
        os.replace(self.staging, self.path)
        shutil.rmtree(previous, ignore_errors=True)


def refuse_to_overwrite(path: Path, force: bool) -> None:
    """Refuse an output that exists, unless it may be replaced and is one of ours."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not force:
        raise OutputError(f"{path} exists already; choose another name with -o, or replace it with --force.")
    if path.is_dir() and not (path / MARK).exists():
        raise OutputError(
            f"{path} is not a run folder of dips, and --force replaces a whole folder; choose another name."
        )
    if (path / REVIEW).exists():
        raise OutputError(
            f"{path} holds the decisions of a review, which nothing can bring back; choose another name with -o."
        )


def fingerprint(record: Any) -> str:
    """Return a checksum that differs between two studies."""
    return hashlib.sha256(json.dumps(record, sort_keys=True, default=str).encode()).hexdigest()
