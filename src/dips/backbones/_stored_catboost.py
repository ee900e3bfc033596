"""Checks a stored CatBoost model before CatBoost reads it: it verifies the layout of the file, but not what is in it.

The file is the letters CBM1, a length, a flatbuffer, and tables of categories where there are any. The numbers below
are the places of the fields that CatBoost's published schema gives them.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from dips._tools.arrays import Array
from dips.backbones._stored import require, within
from dips.exceptions import DamagedFileError

_CORE = {"trees": 1, "part_names": 3}
_TREES = {
    "n_outputs": 0, "splits": 1, "sizes": 2, "starts": 3, "cat_features": 4, "float_features": 5, "one_hot": 6,
    "ctrs": 7, "leaf_values": 8, "leaf_weights": 9, "steps": 10, "leaf_of_node": 11, "texts": 12, "estimated": 13,
    "bias": 16, "repacked": 17, "embeddings": 18,
}  # fmt: skip
_BORDERS = {"float_features": 3, "one_hot": 1, "ctrs": 1, "estimated": 3}  # where each kind lists its borders or values
_FLAT_INDEX = {"float_features": 2, "cat_features": 1, "texts": 1, "embeddings": 1}
_DEEPEST, _PER_BUCKET = 16, 254
_INNER = 2**32 - 1


def check_catboost(path: Path, n_features: int | None, n_classes: int) -> None:
    """Refuse, with a DamagedFileError, a file whose trees, columns or classes do not fit each other."""
    content = path.read_bytes()
    try:
        _check(content, n_features, n_classes)
    except (struct.error, IndexError, OverflowError) as error:
        raise DamagedFileError("it is cut off, or points outside of itself") from error


def _check(content: bytes, n_features: int | None, n_classes: int) -> None:
    size = struct.unpack_from("<I", content, 4)[0]
    require(content[:4] == b"CBM1" and size <= len(content) - 8, "it is cut off, or no model of CatBoost")
    buffer = _Buffer(content[8 : 8 + size])
    core = buffer.table(buffer.at(0))
    require(len(content) == 8 + size or core.length(_CORE["part_names"]) > 0, "something follows its end")
    trees = core.child(_CORE["trees"])
    n_outputs = trees.whole(_TREES["n_outputs"])
    require(n_outputs in ((1, 2) if n_classes == 2 else (n_classes,)), f"it has {n_outputs} scores, not {n_classes}")
    require(trees.array(_TREES["bias"], "<f8").size in (0, n_outputs), "its bias")
    n_columns = _check_columns(trees)
    require(n_features is None or n_features == n_columns, f"it has {n_columns} columns, not {n_features}")
    sizes, starts = (trees.array(_TREES[name], "<i4").astype(np.int64) for name in ("sizes", "starts"))
    splits, n_trees = trees.array(_TREES["splits"], "<i4"), sizes.size
    require(n_trees > 0 and bool((sizes >= 0).all()), "it has no trees")
    require(np.array_equal(starts, np.cumsum(sizes) - sizes) and sizes.sum() == splits.size, "its trees do not add up")
    n_borders = [n for kind in _BORDERS for n in _lengths(trees, kind)]
    require(within(splits, max(1, sum(n_borders))), "a split asks for a border that is not there")
    repacked = trees.array(_TREES["repacked"], [("bucket", "<u2"), ("mask", "u1"), ("border", "u1")])
    n_buckets = sum(-(-n // _PER_BUCKET) for n in n_borders)
    require(repacked.size in (0, splits.size) and within(repacked["bucket"], max(1, n_buckets)), "a split's bucket")
    values = trees.array(_TREES["leaf_values"], "<f8")
    require(bool(np.isfinite(values).all()), "a leaf is not finite")
    if trees.length(_TREES["steps"]):
        _check_steps(trees, sizes, starts, values.size - n_outputs)
    else:
        require(bool((sizes <= _DEEPEST).all()), "a tree is too deep")
        require(values.size == n_outputs * int((1 << sizes).sum()), "its leaves do not add up")
    require(trees.length(_TREES["leaf_weights"]) in (0, values.size // n_outputs), "its weights of leaves")


def _check_columns(trees: _Table) -> int:
    """Return the number of columns, which are numbered without gaps."""
    places = [feature.whole(field) for kind, field in _FLAT_INDEX.items() for feature in trees.children(_TREES[kind])]
    require(sorted(places) == list(range(len(places))), "its columns are not numbered one after another")
    return len(places)


def _lengths(trees: _Table, kind: str) -> list[int]:
    return [feature.length(_BORDERS[kind]) for feature in trees.children(_TREES[kind])]


def _check_steps(trees: _Table, sizes: Array, starts: Array, last_leaf: int) -> None:
    """In trees that are not symmetric a row steps forward to its leaf; a step of 0 ends there."""
    steps = trees.array(_TREES["steps"], [("left", "<u2"), ("right", "<u2")])
    leaves = trees.array(_TREES["leaf_of_node"], "<u4")
    require(steps.size == leaves.size == int(sizes.sum()) and bool((sizes > 0).all()), "its nodes do not add up")
    node, end = np.arange(steps.size), np.repeat(starts + sizes, sizes)
    for side in ("left", "right"):
        require(bool((node + steps[side] < end).all()), "a child is not a node of its tree")
    ends_here = (steps["left"] == 0) | (steps["right"] == 0)
    require(bool((leaves[ends_here] <= max(last_leaf, -1)).all()) and last_leaf >= 0, "a leaf is not there")


class _Buffer:
    """The bytes of a flatbuffer; whatever lies outside raises."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def at(self, place: int) -> int:
        """Follow the offset that is stored at a place."""
        return place + struct.unpack_from("<I", self.content, place)[0]

    def table(self, place: int) -> _Table:
        """Open the table at a place."""
        return _Table(self, place)


class _Table:
    """A table of a flatbuffer, whose fields are found by their number."""

    def __init__(self, buffer: _Buffer, place: int) -> None:
        self.buffer, self.place = buffer, place
        self._fields = place - struct.unpack_from("<i", buffer.content, place)[0]
        require(self._fields >= 0, "it points outside of itself")
        self._n_fields = (struct.unpack_from("<H", buffer.content, self._fields)[0] - 4) // 2

    def _field(self, number: int) -> int | None:
        if number >= self._n_fields:
            return None
        offset = struct.unpack_from("<H", self.buffer.content, self._fields + 4 + 2 * number)[0]
        return self.place + offset if offset else None

    def whole(self, number: int) -> int:
        """Return a whole number; one that is not stored has its default."""
        place = self._field(number)
        return -1 if place is None else struct.unpack_from("<i", self.buffer.content, place)[0]

    def child(self, number: int) -> _Table:
        """Open a table that a field refers to."""
        place = self._field(number)
        require(place is not None, "it holds no trees")
        return self.buffer.table(self.buffer.at(place or 0))

    def length(self, number: int) -> int:
        """Return how many entries a list has."""
        place = self._field(number)
        return 0 if place is None else struct.unpack_from("<I", self.buffer.content, self.buffer.at(place))[0]

    def array(self, number: int, dtype: object) -> Array:
        """Return a list of numbers."""
        place = self._field(number)
        if place is None:
            return np.empty(0, dtype)  # type: ignore[call-overload]
        return np.frombuffer(self.buffer.content, dtype, self.length(number), self.buffer.at(place) + 4)  # type: ignore[call-overload]

    def children(self, number: int) -> list[_Table]:
        """Open the tables of a list."""
        place, n = self._field(number), self.length(number)
        if place is None or n == 0:
            return []
        first = self.buffer.at(place) + 4
        require(n <= len(self.buffer.content) // 4, "it is cut off")
        return [self.buffer.table(self.buffer.at(first + 4 * k)) for k in range(n)]
