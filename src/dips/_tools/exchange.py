"""Two folders change places in one step, where the system can do that."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_HERE = -100  # AT_FDCWD: relative to the working folder
_SWAP = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS


def exchanged(one: Path, other: Path) -> bool:
    """Let two paths change places; return False where the system, or the file system, cannot."""
    names = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "linux":
            return library.renameat2(_HERE, names[0], _HERE, names[1], _SWAP) == 0
        if sys.platform == "darwin":
            return library.renamex_np(*names, _SWAP) == 0
    except (OSError, AttributeError, TypeError):  # no such library, or no such function in it
        pass
    return False
