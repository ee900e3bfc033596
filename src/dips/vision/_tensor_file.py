"""Tensors in a file that runs no code: the format of safetensors, written and read here in one page.

Eight bytes with the length of a JSON header, the header (type, shape and place of each tensor, and texts), then the
numbers. Other programs can read such a file. Ours also holds a checksum of its content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dips._tools.files import whole_file, writing
from dips.exceptions import DamagedFileError

_METADATA, _CHECKSUM, _LENGTH = "__metadata__", "sha256", 8
_TYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}


def write_tensors(path: Path, tensors: dict[str, Tensor], about: dict[str, str]) -> None:
    """Write a file that is complete or absent; `about` holds texts."""
    header: dict[str, Any] = {}
    contents, end = [], 0
    for name, tensor in tensors.items():
        content = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        place = [end, end := end + len(content)]
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": place}
        contents.append(content)
    header[_METADATA] = about | {_CHECKSUM: _checksum(header, about, contents)}
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % _LENGTH)
    with writing(path), whole_file(path) as stream:
        stream.writelines([len(encoded).to_bytes(_LENGTH, "little"), encoded, *contents])


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors and the texts of a file; a DamagedFileError says what is wrong with it."""
    stored = path.read_bytes()
    end_of_header = _LENGTH + int.from_bytes(stored[:_LENGTH], "little")
    if len(stored) < _LENGTH or end_of_header > len(stored):
        raise DamagedFileError("it was cut off, or is of another format")
    try:
        header = json.loads(stored[_LENGTH:end_of_header])
        about = header.pop(_METADATA)
        checksum = about.pop(_CHECKSUM)
        tensors = dict(_tensors(header, stored[end_of_header:]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedFileError(f"its header is damaged ({type(error).__name__}: {error})") from error
    if checksum != _checksum(header, about, [stored[end_of_header:]]):
        raise DamagedFileError("it has changed since it was written: its checksum differs")
    return tensors, about


def _tensors(header: dict[str, Any], content: bytes) -> Iterator[tuple[str, Tensor]]:
    """The tensors, which lie one after the other and fill the content."""
    expected = 0
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        dtype, shape = _TYPES[entry["dtype"]], entry["shape"]
        n_bytes = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if start != expected or end - start != n_bytes or end > len(content) or min(shape, default=0) < 0:
            raise DamagedFileError(f"the tensor {name!r} is not where its header says")
        yield (
            name,
            torch.frombuffer(bytearray(content[start:end]) or bytearray(1), dtype=torch.uint8)[: end - start]
            .view(dtype)
            .reshape(shape),
        )
        expected = end
    if expected != len(content):
        raise DamagedFileError("it has bytes that belong to no tensor")


def _checksum(header: dict[str, Any], about: dict[str, str], contents: list[bytes]) -> str:
    digest = hashlib.sha256(json.dumps([header, about], sort_keys=True).encode())
    for content in contents:
        digest.update(content)
    return digest.hexdigest()
