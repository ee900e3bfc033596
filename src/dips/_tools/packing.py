"""The state of a run as bytes without pickle: JSON for its shape, arrays for its numbers, a checksum over both.

What is read can only be None, booleans, numbers, texts, lists, tuples, dictionaries, NumPy arrays, and what a caller
knows to make of arrays.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from dips._tools.arrays import Array
from dips.exceptions import DamagedFileError, InputError

_MARK = b"dips-checkpoint-1\n"
_SHAPE = "shape"  # the member that holds the JSON

ToArray: TypeAlias = Callable[[Any], tuple[str, Array] | None]
"""From a value to the word for its kind and an array; None for other values."""
FromArray: TypeAlias = Callable[[str, Array], Any]


def packed(state: Any, to_array: ToArray = lambda value: None) -> bytes:
    """Return the state as bytes; `to_array` is asked for values of no known kind."""
    arrays: dict[str, Array] = {}
    shape = json.dumps(_described(state, arrays, to_array))
    stream = io.BytesIO()
    np.savez(stream, **{_SHAPE: np.frombuffer(shape.encode(), np.uint8)}, **arrays)  # type: ignore[arg-type]
    content = stream.getvalue()
    return _MARK + hashlib.sha256(content).digest() + content


def unpacked(stored: bytes, from_array: FromArray | None = None) -> Any:
    """Return the state that :func:`packed` wrote; a DamagedFileError says what is wrong with the bytes."""
    if not stored.startswith(_MARK):
        raise DamagedFileError("it was written by an earlier version of dips, or by another program")
    digest, content = stored[len(_MARK) : len(_MARK) + 32], stored[len(_MARK) + 32 :]
    if hashlib.sha256(content).digest() != digest:
        raise DamagedFileError("it is damaged: its checksum differs")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return _rebuilt(json.loads(arrays[_SHAPE].tobytes()), arrays, from_array or _refuse)


def _described(value: Any, arrays: dict[str, Array], to_array: ToArray) -> Any:
    """Put arrays aside, and return the rest as plain data."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {"dict": [[_described(k, arrays, to_array), _described(v, arrays, to_array)] for k, v in value.items()]}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_described(v, arrays, to_array) for v in value]}
    name = f"array_{len(arrays)}"
    if isinstance(value, np.ndarray) and value.dtype != object:
        arrays[name] = value
        return {"array": name}
    if (other := to_array(value)) is not None:
        kind, arrays[name] = other
        return {kind: name}
    raise InputError(
        f"A {type(value).__name__} cannot be kept in a checkpoint: only numbers, texts, arrays and tensors can; "
        "keep such values out of a curator's attributes."
    )


def _rebuilt(shape: Any, arrays: Any, from_array: FromArray) -> Any:
    if not isinstance(shape, dict):
        return shape
    ((kind, content),) = shape.items()
    if kind == "dict":
        return {_rebuilt(k, arrays, from_array): _rebuilt(v, arrays, from_array) for k, v in content}
    if kind in ("list", "tuple"):
        values = [_rebuilt(v, arrays, from_array) for v in content]
        return values if kind == "list" else tuple(values)
    return arrays[content] if kind == "array" else from_array(kind, arrays[content])


def _refuse(kind: str, array: Array) -> Any:
    raise DamagedFileError(f"it holds a value of the kind {kind[:20]!r}")
