"""Checks the tables in which a stored CatBoost model counts its categories; CatBoost follows them unchecked.

A *counter* is what a split asks for: statistics of one combination of columns. Its *table* leads from the hash of a
combination to a row of counts. A search goes on to the next bucket until it finds an empty one.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dips._tools.arrays import Array
from dips.backbones._flatbuffer import Buffer, BufferTable
from dips.backbones._stored import require, within

_BORDERS, _BUCKETS, _MEANS, _COUNTS = (0,), (1,), (2, 3), (4, 5)  # types of counters
_BUCKET = np.dtype([("hash", "<u8"), ("row", "<u4")])
_EMPTY = 2**64 - 1
_FLOAT_SPLIT, _ONE_HOT_SPLIT = [("column", "<i4"), ("border", "<f4")], [("column", "<i4"), ("value", "<i4")]


class _Base(NamedTuple):
    """What a counter and its table have in common, as bytes that can be compared."""

    columns: bytes
    float_splits: bytes
    one_hot_splits: bytes
    kind: int
    target: int


def check_tables(features: Mapping[str, Sequence[BufferTable]], content: bytes | None) -> None:
    """Refuse counters of columns that are not there, and tables that lead out of themselves or do not fit."""
    used = {f.number(0, "i", -1) for f in features["cat_features"] if f.number(3, "B", 1)}
    require(all(f.number(0, "i", -1) in used for f in features["one_hot"]), "a category's column is not there")
    borders = {f.number(1, "i", -1): f.array(3, "<f4") for f in features["float_features"]}
    values = {f.number(0, "i", -1): f.array(1, "<i4") for f in features["one_hot"]}
    counters = []
    for feature in features["ctrs"]:
        counter = feature.child(0, "a counter")
        base = _read_base(counter.child(0, "a counter's columns"))
        _check_combination(base, used, borders, values)
        counters.append((base, counter.number(1, "i", 0)))
    n_classes = {} if content is None else _tables(content)
    for base, target_border in counters:
        require(base in n_classes, "a counter has no table")
        is_class = base.kind not in (*_BORDERS, *_BUCKETS) or 0 <= target_border < n_classes[base]
        require(is_class, "a counter asks for a class that its table lacks")


def _check_combination(base: _Base, used: set[int], borders: dict[int, Array], values: dict[int, Array]) -> None:
    columns = np.frombuffer(base.columns, "<i4")
    require(set(columns.tolist()) <= used, "a counter asks for a column that is not there")
    for split in np.frombuffer(base.float_splits, _FLOAT_SPLIT):
        is_there = split["border"] in borders.get(int(split["column"]), np.empty(0))
        require(is_there, "a counter asks for a border that is not there")
    for split in np.frombuffer(base.one_hot_splits, _ONE_HOT_SPLIT):
        is_there = split["value"] in values.get(int(split["column"]), np.empty(0))
        require(is_there, "a counter asks for a category that is not there")


def _read_base(table: BufferTable) -> _Base:
    combination = table.child(0, "a counter's columns")
    lists = [combination.array(k, kind) for k, kind in enumerate(("<i4", _FLOAT_SPLIT, _ONE_HOT_SPLIT))]
    kind, target = table.number(1, "b", 0), table.number(2, "i", 0)
    require(kind in (*_BORDERS, *_BUCKETS, *_MEANS, *_COUNTS), "a counter is of an unknown type")
    columns, float_splits, one_hot_splits = (part.tobytes() for part in lists)
    return _Base(columns, float_splits, one_hot_splits, kind, target)


def _tables(content: bytes) -> dict[_Base, int]:
    """Return how many classes each table counts, after looking at all of its buckets."""
    n_tables, at = struct.unpack_from("<I", content)[0], 4
    tables: dict[_Base, int] = {}
    for _ in range(n_tables):
        size, at = struct.unpack_from("<I", content, at)[0], at + 4
        require(size <= len(content) - at, "a table is longer than the file")
        table = Buffer(content[at : at + size]).root()
        base, n_classes = _read_base(table.child(0, "a table's columns")), table.number(4, "i", 0)
        require(base not in tables, "a table is there twice")
        _check_buckets(table, _bytes_of_a_row(base.kind, n_classes))
        tables[base] = n_classes
        at += size
    require(at == len(content), "something follows its tables")
    return tables


def _bytes_of_a_row(kind: int, n_classes: int) -> int:
    if kind in _MEANS:
        return 8
    if kind in _COUNTS:
        return 4
    require(0 < n_classes < 2**24, "a table has no classes")
    return 4 * max(2 if kind in _BORDERS else 1, n_classes)


def _check_buckets(table: BufferTable, bytes_of_a_row: int) -> None:
    require(table.has(1) and table.has(2), "a table lacks its buckets or its counts")
    raw, counts = table.array(1, "u1"), table.array(2, "u1")
    n = raw.size // _BUCKET.itemsize
    require(n * _BUCKET.itemsize == raw.size and n > 0 and n & (n - 1) == 0, "a table's number of buckets")
    buckets = raw.view(_BUCKET)
    is_empty = buckets["hash"] == _EMPTY
    require(bool(is_empty.any()), "a table is full, so that a search in it does not end")
    require(within(buckets["row"][~is_empty], counts.size // bytes_of_a_row), "a table leads out of itself")
