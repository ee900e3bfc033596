"""The compiled watch pass, if this installation has it: without a compiler the package works, only slower."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from dips._tools.arrays import Array
from dips._tools.warnings import warn

_INTERFACE = 2  # that of the functions below; counted up here and in kernel.c when their arguments change


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled functions, or None if there are none or ``DIPS_KERNEL=0`` forbids them."""
    module = importlib.util.find_spec("dips._forest._kernel")
    if module is None or module.origin is None or os.environ.get("DIPS_KERNEL") == "0":
        return None
    compiled = ctypes.CDLL(module.origin)
    if not hasattr(compiled, "dips_interface") or _number(compiled, "dips_interface") != _INTERFACE:
        warn(f"{module.origin} was compiled from different sources; build it again: pip install -e .")
        return None
    return compiled


@cache
def _statistics() -> tuple[str, ...]:
    """Return the names of the statistics that the kernel computes, in the order of its outputs."""
    names = ctypes.c_char.in_dll(library(), "dips_statistics")  # type: ignore[arg-type]
    return tuple(ctypes.string_at(ctypes.addressof(names)).decode().split())


def computes(statistics: Iterable[str]) -> bool:
    """Whether there is a kernel that computes all of these statistics."""
    return library() is not None and set(statistics) <= set(_statistics())


def call(name: str, *arguments: Any) -> int:
    """Call a compiled function; arrays go as pointers, whole numbers as 64 bits.

    The interpreter's lock is released meanwhile, so that other threads can run.
    """
    compiled = library()
    assert compiled is not None
    return int(getattr(compiled, name)(*(_as_c(a) for a in arguments)))


def matrix(values: Array) -> tuple[Any, ...]:
    """Return what the kernel reads a matrix by: address, shape, and how many values apart its rows and columns are."""
    if any(step % values.itemsize for step in values.strides):
        values = np.ascontiguousarray(values)
    steps = (step // values.itemsize for step in values.strides)
    return values.ctypes.data_as(ctypes.c_void_p), *values.shape, *steps


def pointers(arrays: dict[str, Array]) -> Any:
    """Return where the kernel writes each of its statistics; nowhere for those not among `arrays`."""
    assert computes(arrays)
    addresses = [arrays[s].ctypes.data if s in arrays else None for s in _statistics()]
    return (ctypes.c_void_p * len(addresses))(*addresses)


def _number(compiled: ctypes.CDLL, name: str) -> int:
    return ctypes.c_int32.in_dll(compiled, name).value


def _as_c(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        assert argument.flags.c_contiguous
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_int64(int(argument)) if isinstance(argument, int | np.integer) else argument
