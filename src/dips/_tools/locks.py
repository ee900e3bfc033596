"""One writer at a time: the operating system's own locks, which end with the process that holds them.

Written with the standard library instead of the package filelock: a process that is refused must be able to read who
holds the lock, and filelock empties the file before it knows.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from dips.exceptions import OutputError

_NO_LOCKS_HERE = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # some network folders
_FAR = 1 << 30  # Windows locks bytes, and locked ones cannot be read; the words are before


@contextlib.contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Hold the lock of an output while the block runs; refuse at once if another process holds it.

    The lock is a hidden file beside the output. One that a killed process left behind is taken over.
    """
    place = path.with_name(f".{path.name}.lock")
    stream = _acquired(place, path)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # gone with its folder; and Windows removes no file that another has open
            place.unlink()
        stream.close()


def _acquired(place: Path, path: Path) -> BinaryIO:
    while True:
        try:
            stream = os.fdopen(os.open(place, os.O_RDWR | os.O_CREAT, 0o644), "r+b", buffering=0)
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error.strerror}.") from error
        if not _lock(stream):
            holder = stream.read(500).decode("utf-8", "replace").strip() or "another process"
            stream.close()
            raise OutputError(f"{path} is being written by {holder}; wait for it to end, or choose another name.")
        if _is_still(stream, place):
            with contextlib.suppress(OSError):  # who holds it is only a courtesy: a full disk is found by others
                stream.truncate(0)
                stream.write(f"process {os.getpid()} on {socket.gethostname()} since {_now()}\n".encode())
            return stream
        stream.close()  # its holder ended and removed it between our two steps


def _lock(stream: BinaryIO) -> bool:
    """Whether the lock is ours now."""
    try:
        if os.name == "nt":
            import msvcrt

            stream.seek(_FAR)
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            stream.seek(0)
        else:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS_HERE:
            return True
        stream.seek(0)
        return False
    return True


def _is_still(stream: BinaryIO, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), place.stat())
    except FileNotFoundError:
        return False


def _now() -> str:
    return datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
