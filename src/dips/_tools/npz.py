"""Arrays of numbers from an .npz file: no pickle, no compression, and nothing taken on trust."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path

import numpy as np

from dips._tools.arrays import Array
from dips.exceptions import DamagedFileError

_LONGEST_HEADER = 10_000
_READ_HEADER = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_arrays(path: Path) -> dict[str, Array]:
    """Return the arrays by name; a DamagedFileError says what is wrong with the file.

    A file says how large its arrays are; that is believed only if the bytes are there.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if any(m.compress_type != zipfile.ZIP_STORED or not m.filename.endswith(".npy") for m in members):
                raise DamagedFileError("it holds something other than plain arrays")
            return {m.filename.removesuffix(".npy"): _array(archive.read(m)) for m in members}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, KeyError, SyntaxError) as error:
        raise DamagedFileError(f"it is not a whole file of arrays ({error})") from error


def _array(content: bytes) -> Array:
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version not in _READ_HEADER:
        raise DamagedFileError(f"an array of the version {version}")
    shape, is_fortran, dtype = _READ_HEADER[version](stream, _LONGEST_HEADER)
    if dtype.kind not in "biufU":
        raise DamagedFileError(f"an array of {dtype}")
    if math.prod(shape) * dtype.itemsize != len(content) - stream.tell() or min(shape, default=0) < 0:
        raise DamagedFileError(f"an array of the shape {shape} with {len(content) - stream.tell()} bytes")
    values = np.frombuffer(content, dtype, offset=stream.tell()) if dtype.itemsize else np.empty(0, dtype)
    return values.reshape(shape, order="F" if is_fortran else "C").copy()
