"""Reads UBJSON, the binary JSON of XGBoost's models; typed arrays become NumPy arrays.

Each value costs one call that passes the position on: a model of a thousand trees has tens of thousands of values.
"""

from __future__ import annotations

import struct
from struct import Struct
from typing import Any

import numpy as np

_NUMBERS = {
    ord(marker): (np.dtype(dtype), Struct(code))
    for marker, dtype, code in (
        ("i", ">i1", ">b"),
        ("U", ">u1", ">B"),
        ("I", ">i2", ">h"),
        ("l", ">i4", ">i"),
        ("L", ">i8", ">q"),
        ("d", ">f4", ">f"),
        ("D", ">f8", ">d"),
    )
}
_CONSTANTS = {ord("Z"): None, ord("T"): True, ord("F"): False}
_TEXT, _ARRAY, _OBJECT, _TYPE, _COUNT, _END_ARRAY, _END_OBJECT = b"S[{$#]}"


def loads(data: bytes | bytearray) -> Any:
    """Return the document as dictionaries, lists, strings, numbers and arrays.

    Examples
    --------
    >>> loads(b"{i\\x01aU\\x05}")
    {'a': 5}
    """
    try:
        value, end = _value(data, data[0], 1)
    except (IndexError, KeyError, ValueError, struct.error, RecursionError) as problem:
        raise ValueError("This is not a complete UBJSON document.") from problem
    if end != len(data):
        raise ValueError(f"{len(data) - end} bytes follow the end of the UBJSON document.")
    return value


def _value(data: bytes | bytearray, marker: int, at: int) -> tuple[Any, int]:
    """Return the value whose marker was read, and the position after it."""
    if marker == _ARRAY:
        return _array(data, at)
    if marker == _OBJECT:
        return _object(data, at)
    if marker == _TEXT:
        return _text(data, at)
    if marker in _CONSTANTS:
        return _CONSTANTS[marker], at
    return _number(data, marker, at)


def _number(data: bytes | bytearray, marker: int, at: int) -> tuple[Any, int]:
    _, code = _NUMBERS[marker]
    return code.unpack_from(data, at)[0], at + code.size


def _size(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """Return a length, which is never negative and never more than what is left: else reading might not end."""
    size, at = _number(data, data[at], at + 1)
    if not 0 <= size <= len(data) - at:
        raise ValueError(f"a length of {size} at byte {at}")
    return int(size), at


def _text(data: bytes | bytearray, at: int) -> tuple[str, int]:
    size, at = _size(data, at)
    return data[at : at + size].decode(), at + size


def _header(data: bytes | bytearray, at: int) -> tuple[int | None, int | None, int]:
    """Return the type and length of a container, if they are given."""
    kind = size = None
    if data[at] == _TYPE:
        kind, at = data[at + 1], at + 2
    if data[at] == _COUNT:
        size, at = _size(data, at + 1)
    return kind, size, at


def _array(data: bytes | bytearray, at: int) -> tuple[Any, int]:
    kind, size, at = _header(data, at)
    if kind in _NUMBERS and size is not None:
        dtype, _ = _NUMBERS[kind]
        return np.frombuffer(data, dtype, size, at), at + size * dtype.itemsize
    items: list[Any] = []
    while len(items) != size if size is not None else data[at] != _END_ARRAY:
        item, at = _value(data, data[at], at + 1) if kind is None else _value(data, kind, at)
        items.append(item)
    return items, at + (size is None)


def _object(data: bytes | bytearray, at: int) -> tuple[dict[str, Any], int]:
    kind, size, at = _header(data, at)
    members: dict[str, Any] = {}
    while len(members) != size if size is not None else data[at] != _END_OBJECT:
        key, at = _text(data, at)
        if key in members:
            raise ValueError(f"{key} twice")
        members[key], at = _value(data, data[at], at + 1) if kind is None else _value(data, kind, at)
    return members, at + (size is None)
