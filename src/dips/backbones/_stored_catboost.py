"""Checks a stored CatBoost model before CatBoost reads it: it verifies the layout of the trees, not what is in them.

The file is the letters CBM1, a length, a flatbuffer, and tables of categories where there are any. The numbers below
are the places of the fields that CatBoost's published schema gives them.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from dips._tools.arrays import Array
from dips.backbones._flatbuffer import Buffer, BufferTable
from dips.backbones._stored import require, within
from dips.backbones._stored_catboost_tables import check_tables
from dips.exceptions import DamagedFileError

_CORE = {"trees": 1, "part_names": 3}
_TREES = {
    "n_outputs": 0, "splits": 1, "sizes": 2, "starts": 3, "cat_features": 4, "float_features": 5, "one_hot": 6,
    "ctrs": 7, "leaf_values": 8, "leaf_weights": 9, "steps": 10, "leaf_of_node": 11, "texts": 12, "estimated": 13,
    "bias": 16, "repacked": 17, "embeddings": 18,
}  # fmt: skip
_BORDERS = {"float_features": 3, "one_hot": 1, "ctrs": 1}  # where each kind lists its borders or values
_INDEX = {"float_features": 1, "cat_features": 0}  # among the columns of its kind; the next field is that among all
_TABLES = b"static_provider_v1"
_DEEPEST, _PER_BUCKET = 16, 254


def check_catboost(path: Path, n_features: int | None, n_classes: int) -> None:
    """Refuse, with a DamagedFileError, a file whose trees, columns, categories or classes do not fit each other."""
    content = path.read_bytes()
    try:
        _check(content, n_features, n_classes)
    except DamagedFileError:
        raise
    except (struct.error, IndexError, OverflowError, ValueError) as error:
        raise DamagedFileError("it is cut off, or points outside of itself") from error


def _check(content: bytes, n_features: int | None, n_classes: int) -> None:
    size = struct.unpack_from("<I", content, 4)[0]
    require(content[:4] == b"CBM1" and size <= len(content) - 8, "it is cut off, or no model of CatBoost")
    core = Buffer(content[8 : 8 + size]).root()
    trees = core.child(_CORE["trees"], "trees")
    n_outputs = trees.number(_TREES["n_outputs"], "i", 0)
    require(n_outputs in ((1, 2) if n_classes == 2 else (n_classes,)), f"it has {n_outputs} scores, not {n_classes}")
    require(trees.array(_TREES["bias"], "<f8").size in (0, n_outputs), "its bias")
    n_columns = _check_columns(trees)
    require(n_features is None or n_features == n_columns, f"it has {n_columns} columns, not {n_features}")
    _check_trees(trees, n_outputs)
    kinds = {kind: trees.children(_TREES[kind]) for kind in ("cat_features", "float_features", "one_hot", "ctrs")}
    parts = [name.rstrip(b"\0") for name in core.texts(_CORE["part_names"])]
    require(parts in ([], [_TABLES]), "it holds tables that dips cannot check")
    check_tables(kinds, content[8 + size :] if parts else None)
    require(parts or len(content) == 8 + size, "something follows its end")


def _check_columns(trees: BufferTable) -> int:
    """Return the number of columns, which are numbered without gaps, among all and among those of their kind."""
    is_plain = not any(trees.length(_TREES[kind]) for kind in ("texts", "embeddings", "estimated"))
    require(is_plain, "it reads texts or embeddings, whose tables dips cannot check")
    places = []
    for kind, field in _INDEX.items():
        features = trees.children(_TREES[kind])
        numbers = [feature.number(field, "i", -1) for feature in features]
        require(sorted(numbers) == list(range(len(numbers))), "its columns are not numbered one after another")
        places += [feature.number(field + 1, "i", -1) for feature in features]
    require(sorted(places) == list(range(len(places))), "its columns are not numbered one after another")
    return len(places)


def _check_trees(trees: BufferTable, n_outputs: int) -> None:
    sizes, starts = (trees.array(_TREES[name], "<i4").astype(np.int64) for name in ("sizes", "starts"))
    splits, n_trees = trees.array(_TREES["splits"], "<i4"), sizes.size
    require(n_trees > 0 and bool((sizes >= 0).all()), "it has no trees")
    require(np.array_equal(starts, np.cumsum(sizes) - sizes) and sizes.sum() == splits.size, "its trees do not add up")
    n_borders = [feature.length(field) for kind, field in _BORDERS.items() for feature in trees.children(_TREES[kind])]
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


def _check_steps(trees: BufferTable, sizes: Array, starts: Array, last_leaf: int) -> None:
    """In trees that are not symmetric a row steps forward to its leaf; a step of 0 ends there."""
    steps = trees.array(_TREES["steps"], [("left", "<u2"), ("right", "<u2")])
    leaves = trees.array(_TREES["leaf_of_node"], "<u4")
    require(steps.size == leaves.size == int(sizes.sum()) and bool((sizes > 0).all()), "its nodes do not add up")
    node, end = np.arange(steps.size), np.repeat(starts + sizes, sizes)
    for side in ("left", "right"):
        require(bool((node + steps[side] < end).all()), "a child is not a node of its tree")
    ends_here = (steps["left"] == 0) | (steps["right"] == 0)
    require(bool((leaves[ends_here] <= max(last_leaf, -1)).all()) and last_leaf >= 0, "a leaf is not there")
