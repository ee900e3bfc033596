"""The run folder: written beside its place and moved there in one step, so that it is complete or absent.

While a study runs, its finished parts are cached in a hidden folder beside it; the same command continues from there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from dips._persistence.model import versions
from dips._tools.arrays import Array
from dips._tools.exchange import exchanged
from dips._tools.files import expanded, make_folder, sync, sync_tree, whole_file, write_whole, writing
from dips._tools.interrupts import raise_if_stopped
from dips._tools.locks import only_writer
from dips._tools.wording import option
from dips.exceptions import OutputError

MARK = "config.json"  # a folder that holds it is one of ours
REVIEW = "review"  # the folder in it with what people decided
CURVES = "curves.parquet"  # learning curves that the page has no room for
_DECIDES = ("settings", "sources", "corrections", "versions", "cache_format")


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
        self.path = expanded(path).resolve()
        self.force = force
        refuse_unprintable(self.path)
        self.staging = _beside(self.path, "unfinished")
        refuse_to_overwrite(self.path, force)

    @property
    def state(self) -> Path:
        """The folder in the hidden one with the parts that are finished; it does not become part of the run."""
        return self.staging / "state"

    @contextlib.contextmanager
    def held(self) -> Iterator[RunFolder]:
        """Be the only one who writes here, until the block ends; another process is refused at once."""
        make_folder(self.path.parent)
        with only_writer(self.path):
            _recover(self.path)
            refuse_to_overwrite(self.path, self.force)  # it may have been finished a moment ago
            yield self

    def begin(self, fingerprint: str) -> bool:
        """Open the hidden folder; return whether the same study was begun there before."""
        kept = self.state / "fingerprint"
        if _text(kept) == fingerprint:
            for left_over in self.staging.rglob(".*.part"):  # of a process that was killed while it wrote
                _remove(left_over)
            return True
        _remove(self.staging)
        with writing(self.path):
            self.state.mkdir(parents=True)
        write_whole(kept, fingerprint.encode())
        return False

    def cached(self, name: str, compute: Callable[[], dict[str, Array]]) -> dict[str, Array]:
        """Return the arrays of this name; compute them if they are not in the cache."""
        path = self.state / f"{name}.npz"
        if path.exists():
            try:
                with np.load(path, allow_pickle=False) as stored:
                    return {key: stored[key] for key in stored.files}
            except Exception:  # damaged, in any of the ways in which NumPy and zipfile say so
                _remove(path)
        arrays = compute()
        with writing(path), whole_file(path) as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]
        return arrays

    def is_cached(self, name: str) -> bool:
        """Whether the arrays of this name are in the cache."""
        return (self.state / f"{name}.npz").exists()

    def finish(self) -> None:
        """Move the folder to its place, in one step; a run that is replaced is there until then."""
        shutil.rmtree(self.state, ignore_errors=True)
        refuse_to_overwrite(self.path, self.force)
        with writing(self.path):
            sync_tree(self.staging)
            raise_if_stopped()
            if not self.path.exists():
                os.replace(self.staging, self.path)
            elif exchanged(self.staging, self.path):
                _remove(self.staging)
            else:  # two steps; a process that is killed between them leaves what _recover finds
                previous = _beside(self.path, "previous")
                _remove(previous)
                os.replace(self.path, previous)
                os.replace(self.staging, self.path)
                _remove(previous)
        sync(self.path.parent)


def recover(path: Path) -> None:
    """Put back the run that was about to be replaced when the process was killed, unless one is writing now."""
    if not path.exists() and _beside(path, "previous").exists():
        with contextlib.suppress(OutputError), only_writer(path):
            _recover(path)


def _recover(path: Path) -> None:
    previous = _beside(path, "previous")
    if previous.exists() and not path.exists():
        with writing(path):
            os.replace(previous, path)


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f".{path.name}.{what}")


def _remove(path: Path) -> None:
    """Remove a folder or a file, whichever is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def refuse_unprintable(path: Path) -> None:
    """Refuse a name that cannot be written down in a record of the run."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise OutputError(f"The name {str(path)!r} is not valid UTF-8; choose another name.") from None


def refuse_to_overwrite(path: Path, force: bool, is_folder: bool = True) -> None:
    """Refuse an output that exists, unless it may be replaced and is one of ours; and a file that has no place."""
    if not is_folder and not path.parent.is_dir():
        raise OutputError(f"There is no folder {path.parent} to write {path.name} into; make it first.")
    if not is_folder and not os.access(path.parent, os.W_OK):
        raise OutputError(f"{path} cannot be written: its folder is not writable; choose another one.")
    with writing(path):  # a name can be too long to ask
        if not path.exists() or (is_folder and path.is_dir() and not any(path.iterdir())):
            return
    if path.is_dir() != is_folder:
        is_, makes = ("a folder", "a file") if path.is_dir() else ("a file", "a folder")
        raise OutputError(f"{path} is {is_}, and this command makes {makes}; choose another name.")
    if not force:
        replace = option("force", True)
        raise OutputError(f"{path} exists already; choose another name, or replace it with {replace}.")
    if is_folder and not (path / MARK).is_file():
        raise OutputError(
            f"{path} is not a run folder of dips, and {option('force', True)} replaces a whole folder; choose another "
            "name."
        )
    if (path / REVIEW).exists():
        raise OutputError(
            f"{path} holds the decisions of a review, which nothing can bring back; choose another name with -o."
        )


def how_made(command: str | None) -> dict[str, Any]:
    """What config.json says of every run: the command, the time and the versions of the libraries."""
    return {
        "made_by": "dips fit",
        "command": (command or " ".join(["python", *sys.argv[:1]])).encode("utf-8", "replace").decode(),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
    }


def fingerprint(config: dict[str, Any]) -> str:
    """Return a checksum of what decides a study's result; the same one means that a stopped study can continue."""
    record = {k: v for k, v in config.items() if k in _DECIDES}
    return hashlib.sha256(json.dumps(record, sort_keys=True, default=str).encode()).hexdigest()
