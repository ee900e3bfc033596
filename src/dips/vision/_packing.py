"""The state of a training as bytes without pickle: JSON for its shape, arrays for its numbers, a checksum over both.

What is read can only be None, booleans, numbers, texts, lists, tuples, dictionaries, NumPy arrays and tensors.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dips._tools.arrays import Array
from dips.exceptions import DamagedFileError, InputError

_MARK = b"dips-checkpoint-1\n"
_SHAPE = "shape"  # the member that holds the JSON


def packed(state: Any) -> bytes:
    """Return the state as bytes."""
    arrays: dict[str, Array] = {}
    shape = json.dumps(_described(state, arrays))
    stream = io.BytesIO()
    np.savez(stream, **{_SHAPE: np.frombuffer(shape.encode(), np.uint8)}, **arrays)  # type: ignore[arg-type]
    content = stream.getvalue()
    return _MARK + hashlib.sha256(content).digest() + content


def unpacked(stored: bytes, device: torch.device) -> Any:
    """Return the state that :func:`packed` wrote; a DamagedFileError says what is wrong with the bytes."""
    if not stored.startswith(_MARK):
        raise DamagedFileError("it was written by an earlier version of dips, or by another program")
    digest, content = stored[len(_MARK) : len(_MARK) + 32], stored[len(_MARK) + 32 :]
    if hashlib.sha256(content).digest() != digest:
        raise DamagedFileError("it is damaged: its checksum differs")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return _rebuilt(json.loads(arrays[_SHAPE].tobytes()), arrays, device)


def _described(value: Any, arrays: dict[str, Array]) -> Any:
    """Put arrays and tensors aside, and return the rest as plain data."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {"dict": [[_described(k, arrays), _described(v, arrays)] for k, v in value.items()]}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_described(v, arrays) for v in value]}
    name = f"array_{len(arrays)}"
    if isinstance(value, np.ndarray) and value.dtype != object:
        arrays[name] = value
        return {"array": name}
    if isinstance(value, Tensor):
        tensor = value.detach().cpu()
        is_half = tensor.dtype == torch.bfloat16  # NumPy has no such type
        arrays[name] = (tensor.view(torch.int16) if is_half else tensor).numpy()
        return {"bfloat16" if is_half else "tensor": name}
    raise InputError(
        f"A {type(value).__name__} cannot be kept in a checkpoint: only numbers, texts, arrays and tensors can; "
        "keep such values out of a curator's attributes."
    )


def _rebuilt(shape: Any, arrays: Any, device: torch.device) -> Any:
    if not isinstance(shape, dict):
        return shape
    ((kind, content),) = shape.items()
    if kind == "dict":
        return {_rebuilt(k, arrays, device): _rebuilt(v, arrays, device) for k, v in content}
    if kind in ("list", "tuple"):
        values = [_rebuilt(v, arrays, device) for v in content]
        return values if kind == "list" else tuple(values)
    array = arrays[content]
    if kind == "array":
        return array
    tensor = torch.as_tensor(array)
    return (tensor.view(torch.bfloat16) if kind == "bfloat16" else tensor).to(device)
