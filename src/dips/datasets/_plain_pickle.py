"""Reads arrays from the pickles of CIFAR and CIFAR-N without building anything but numbers, texts and lists of them.

The names that such a file asks for are answered with stand-ins, which only note what they are given. NumPy itself sees
bytes, a type from a short list and a shape that fits both; so a forged file can be wrong, but reach no memory.
"""

from __future__ import annotations

import math
import pickle
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dips._tools.arrays import Array

_TYPES = {"b1", "i1", "u1", "i2", "i4", "i8", "u2", "u4", "u8", "f4", "f8"}
_MOST_BYTES = 1 << 28
_MAGIC = 0x1950A86A20F9469CFC6C  # a file of PyTorch before its zip format: this, a version, facts on the machine


def read_pickle(stream: BinaryIO) -> Any:
    """Return the dictionary, list, text or array that a pickle holds."""
    try:
        return _plain(_Reader(stream, encoding="latin1").load())
    except (AttributeError, TypeError, LookupError, OverflowError, RecursionError, MemoryError) as error:
        raise pickle.UnpicklingError(f"The file is not a pickle of arrays ({type(error).__name__}).") from error


def read_torch_file(path: Path) -> Any:
    """Return what ``torch.save`` wrote, if that holds NumPy arrays and no tensors."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            (member,) = [info for info in archive.infolist() if info.filename.endswith("/data.pkl")]
            if member.file_size > _MOST_BYTES:
                raise pickle.UnpicklingError(f"{member.filename} has {member.file_size:,} bytes")
            with archive.open(member) as stream:
                return read_pickle(stream)  # type: ignore[arg-type]
    with path.open("rb") as stream:
        first = read_pickle(stream)
        if first != _MAGIC:
            return first
        _version, _machine, content = (read_pickle(stream) for _ in range(3))
        return content


class _Type:
    """Stands in for a data type."""

    def __init__(self, name: Any = "", *_: Any) -> None:
        self.name, self.order = str(name), "|"

    def __setstate__(self, state: Any) -> None:
        self.order = str(state[1])


class _Array:
    """Stands in for an array."""

    def __setstate__(self, state: Any) -> None:
        _version, self.shape, self.type, self.is_fortran, self.content = state

    def read(self) -> Array:
        """Return the array, if type, shape and bytes fit each other."""
        content = self.content.encode("latin1") if isinstance(self.content, str) else self.content
        if not (isinstance(self.type, _Type) and self.type.name in _TYPES and isinstance(content, bytes)):
            raise pickle.UnpicklingError("An array in the file is not one of numbers.")
        dtype = np.dtype(self.type.name).newbyteorder(">" if self.type.order == ">" else "<")
        shape = [int(n) for n in self.shape]
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(content):
            raise pickle.UnpicklingError(f"An array in the file has {len(content)} bytes for the shape {shape}.")
        return np.frombuffer(content, dtype).reshape(shape, order="F" if self.is_fortran else "C")


def _encoded(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"The file asks for the encoding {encoding!r}.")
    return text.encode("latin1")


_STAND_INS: dict[tuple[str, str], Any] = {
    ("numpy", "_reconstruct"): lambda *_: _Array(),
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
    ("_codecs", "encode"): _encoded,
}


class _Reader(pickle._Unpickler):
    """The unpickler in Python: its memory grows with the file, while the one in C believes the file's own figures."""

    def find_class(self, module: str, name: str) -> Any:
        """Answer with a stand-in, or refuse."""
        try:
            return _STAND_INS[module.split(".")[0], name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"The file asks for {module}.{name}, which a file of arrays does not need."
            ) from None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_plain(key): _plain(content) for key, content in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(content) for content in value]
    if isinstance(value, _Array):
        return value.read()
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    raise pickle.UnpicklingError(f"The file holds a {type(value).__name__}, which a file of arrays does not need.")
