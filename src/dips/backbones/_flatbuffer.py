"""Reads a flatbuffer, the layout of CatBoost's files, and refuses every offset and length that leads out of it."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from dips._tools.arrays import Array
from dips.backbones._stored import require


class Buffer:
    """The bytes of a flatbuffer; whatever lies outside raises a ``struct.error`` or a ``ValueError``."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def root(self) -> BufferTable:
        """Open the table that holds all others."""
        return self.table(self.at(0))

    def at(self, place: int) -> int:
        """Follow the offset that is stored at a place."""
        return place + struct.unpack_from("<I", self.content, place)[0]

    def table(self, place: int) -> BufferTable:
        """Open the table at a place."""
        return BufferTable(self, place)


class BufferTable:
    """A table of a flatbuffer, whose fields are found by their number."""

    def __init__(self, buffer: Buffer, place: int) -> None:
        self.buffer, self.place = buffer, place
        self._fields = place - struct.unpack_from("<i", buffer.content, place)[0]
        require(self._fields >= 0, "it points outside of itself")
        size = struct.unpack_from("<H", buffer.content, self._fields)[0]
        is_whole = size >= 4 and size % 2 == 0 and self._fields + size <= len(buffer.content)
        require(is_whole, "the fields of a table lie outside of it")
        self._n_fields = (size - 4) // 2

    def _field(self, number: int) -> int | None:
        if number >= self._n_fields:
            return None
        offset = struct.unpack_from("<H", self.buffer.content, self._fields + 4 + 2 * number)[0]
        return self.place + offset if offset else None

    def number(self, number: int, kind: str, default: int) -> int:
        """Return a whole number of the kind that ``struct`` knows it by; one that is not stored has its default."""
        place = self._field(number)
        return default if place is None else int(struct.unpack_from(f"<{kind}", self.buffer.content, place)[0])

    def child(self, number: int, what: str) -> BufferTable:
        """Open a table that a field refers to."""
        place = self._field(number)
        require(place is not None, f"it lacks {what}")
        return self.buffer.table(self.buffer.at(place or 0))

    def length(self, number: int) -> int:
        """Return how many entries a list has."""
        place = self._field(number)
        return 0 if place is None else int(struct.unpack_from("<I", self.buffer.content, self.buffer.at(place))[0])

    def has(self, number: int) -> bool:
        """Whether a field is stored."""
        return self._field(number) is not None

    def array(self, number: int, dtype: Any) -> Array:
        """Return a list of numbers."""
        place = self._field(number)
        if place is None:
            return np.empty(0, dtype)
        return np.frombuffer(self.buffer.content, dtype, self.length(number), self.buffer.at(place) + 4)

    def children(self, number: int) -> list[BufferTable]:
        """Open the tables of a list."""
        return [self.buffer.table(place) for place in self._places(number)]

    def texts(self, number: int) -> list[bytes]:
        """Return a list of texts."""
        content, texts = self.buffer.content, []
        for place in self._places(number):
            size = struct.unpack_from("<I", content, place)[0]
            require(size <= len(content) - place - 4, "a text is longer than the file")
            texts.append(content[place + 4 : place + 4 + size])
        return texts

    def _places(self, number: int) -> list[int]:
        place, n = self._field(number), self.length(number)
        if place is None or n == 0:
            return []
        first = self.buffer.at(place) + 4
        require(n <= len(self.buffer.content) // 4, "it is cut off")
        return [self.buffer.at(first + 4 * k) for k in range(n)]
