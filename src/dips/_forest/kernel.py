"""The compiled watch pass, if this installation has it: without a compiler at hand the package works, only slower."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from functools import cache
from typing import Any

import numpy as np

from dips._tools.arrays import Array

STATISTICS = ("confidence", "aleatoric", "variance", "correctness", "loss", "fluctuation", "entropy")  # as in kernel.c


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled functions, or None where there are none or ``DIPS_KERNEL=0`` forbids them."""
    found = importlib.util.find_spec("dips._forest._kernel")
    if found is None or found.origin is None or os.environ.get("DIPS_KERNEL") == "0":
        return None
    return ctypes.CDLL(found.origin)


def call(name: str, *arguments: Any) -> int:
    """Call a compiled function; arrays go as pointers, whole numbers as 64 bits.

    The interpreter's lock is released meanwhile, so that other threads go on.
    """
    compiled = library()
    assert compiled is not None
    return int(getattr(compiled, name)(*(_as_c(a) for a in arguments)))


def pointers(arrays: dict[str, Array]) -> Any:
    """Where the kernel writes each of its statistics; nowhere for those not among `arrays`."""
    addresses = [arrays[s].ctypes.data if s in arrays else None for s in STATISTICS]
    return (ctypes.c_void_p * len(addresses))(*addresses)


def _as_c(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        assert argument.flags.c_contiguous
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_int64(int(argument)) if isinstance(argument, int | np.integer) else argument
