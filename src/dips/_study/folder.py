"""The run folder: written beside its place and moved there whole, so that it is there in full or not at all.

While a study runs, its finished parts lie in the hidden folder beside it; the same command finds them and goes on.
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
from dips._tools.files import write_whole
from dips.exceptions import OutputError

MARK = "config.json"  # a folder that has it is one of ours
_STATE = "state"


class RunFolder:
    """Where a run goes to.

    Parameters
    ----------
    path : the folder to make
    force : replace a run that is there already; anything else that is there is never replaced

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
        said = self.staging / _STATE / "fingerprint"
        continues = said.exists() and said.read_text(encoding="utf-8") == fingerprint
        if not continues:
            shutil.rmtree(self.staging, ignore_errors=True)
            try:
                (self.staging / _STATE).mkdir(parents=True)
            except OSError as error:
                raise OutputError(f"{self.path} cannot be written: {error.strerror}.") from error
            write_whole(said, fingerprint.encode())
        return continues

    def remembered(self, name: str, compute: Callable[[], dict[str, Array]]) -> dict[str, Array]:
        """Arrays computed before under this name, or computed now and kept."""
        path = self.staging / _STATE / f"{name}.npz"
        if path.exists():
            try:
                with np.load(path, allow_pickle=False) as stored:
                    return {key: stored[key] for key in stored.files}
            except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
                path.unlink()  # cut off while it was written
        arrays = compute()
        partial = path.with_suffix(".part.npz")
        np.savez(partial, **arrays)  # type: ignore[arg-type]
        os.replace(partial, path)
        return arrays

    def knows(self, name: str) -> bool:
        """Whether a part of this name is finished."""
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
    """Refuse an output that is there, unless it is to be replaced and is one of ours."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not force:
        raise OutputError(f"{path} is there already; choose another name with -o, or replace it with --force.")
    if path.is_dir() and not (path / MARK).exists():
        raise OutputError(
            f"{path} holds other things than a run of dips, and --force replaces a whole folder; choose another name."
        )


def fingerprint(record: Any) -> str:
    """Return what tells two studies apart."""
    return hashlib.sha256(json.dumps(record, sort_keys=True, default=str).encode()).hexdigest()
