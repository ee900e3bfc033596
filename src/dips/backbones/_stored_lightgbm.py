"""Checks a stored LightGBM model before LightGBM reads it: its own reader trusts every count in the text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from dips._forest.forest import tree_problem
from dips._tools.arrays import Array
from dips.backbones._stored import require, within
from dips.exceptions import DamagedFileError

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?|[+-]?(inf|nan)", re.ASCII)
_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
_TAIL = re.compile(
    r"\n*end of trees\n\nfeature_importances:\n([^\n]*=[0-9.e+-]+\n)*\n"
    r"(parameters:\n(\[[a-z_0-9]+: [^\n]*\]\n)+\n?end of parameters\n+)?(pandas_categorical:([^\n]*)\n?)?"
)
_BY_LEAF = ("leaf_weight", "leaf_count")
_BY_NODE = ("split_gain", "internal_value", "internal_weight", "internal_count")


def check_lightgbm(path: Path, n_features: int | None, n_classes: int) -> None:
    """Refuse, with a DamagedFileError, a text whose trees, columns or classes do not fit each other."""
    content = path.read_bytes()
    text = content.decode("utf-8")
    require("\0" not in text and "\r" not in text, "it holds characters that LightGBM does not write")
    head, trees = _parts(content)
    version, n_columns = head.get("version", ""), _one(head, "max_feature_idx") + 1
    require(version in ("v3", "v4"), f"its version is {version!r}")
    require(n_features in (None, n_columns), f"it has {n_columns} columns, and {n_features} are prepared for it")
    n_groups = _one(head, "num_tree_per_iteration")
    require(n_groups == _one(head, "num_class"), "its classes and its trees per round differ")
    require(n_groups == n_classes or (n_groups, n_classes) == (1, 2), f"it has {n_groups} classes, not {n_classes}")
    _check_objective(head.get("objective", ""), n_groups)
    for name in ("feature_names", "feature_infos"):
        require(len(head[name].split(" ")) == n_columns, f"{name} does not list {n_columns} columns")
    require(len(trees) > 0 and len(trees) % n_groups == 0, "it has no trees, or a round lacks some")
    for number, tree in enumerate(trees):
        require(tree.get("Tree") == str(number), f"tree {number} is called {tree.get('Tree', '')[:20]!r}")
        try:
            _check_tree(tree, n_columns)
        except KeyError as error:
            raise DamagedFileError(f"tree {number} lacks {error.args[0]}") from None
        except ValueError as error:
            raise DamagedFileError(f"tree {number}: {error}") from None


def _parts(content: bytes) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return head and trees, where the sizes in the head say they are."""
    head_end = content.index(b"\n\n") + 2
    head = _fields(content[:head_end].decode(), first="tree")
    at, trees = head_end, []
    for size in _whole(head, "tree_sizes"):
        require(0 < size <= len(content) - at, "a tree is larger than the file")
        require(content.startswith(b"Tree=", at), "a tree does not begin where the sizes say")
        trees.append(_fields(content[at : at + size].decode()))
        at += size
    tail = _TAIL.fullmatch(content[at:].decode())
    require(tail, "what follows its trees is not what LightGBM writes")
    _check_pandas_categories(json.loads(tail.group(5) or "null") if tail else None)
    return head, trees


def _check_pandas_categories(columns: Any) -> None:
    """LightGBM's Python side hands them to pandas."""
    is_list = columns is None or (isinstance(columns, list) and all(isinstance(c, list) for c in columns))
    require(is_list, "its pandas categories are not lists")
    for column in columns or []:
        require(all(isinstance(value, str | int | float) for value in column), "a pandas category is not a value")
        require(len(set(column)) == len(column), "a pandas category occurs twice")


def _fields(text: str, first: str = "") -> dict[str, str]:
    lines = [line for line in text.split("\n") if line]
    if first:
        require(lines[:1] == [first], f"it does not begin with {first!r}")
        lines = lines[1:]
    fields: dict[str, str] = {}
    for line in lines:
        name, equals, value = line.partition("=")
        require(equals and name not in fields, f"the line {line[:30]!r} is out of place")
        fields[name] = value
    return fields


def _check_objective(objective: str, n_groups: int) -> None:
    name, *settings = objective.split(" ")
    if name in ("multiclass", "multiclassova"):
        require(f"num_class:{n_groups}" in settings, "its objective has another number of classes")
    else:
        require(n_groups == 1, f"its objective {name[:30]!r} has one score")


def _check_tree(tree: dict[str, str], n_columns: int) -> None:
    n_leaves, n_sets = _one(tree, "num_leaves"), _one(tree, "num_cat")
    require(n_leaves > 0 and n_sets >= 0, "its number of leaves")
    n_inner = n_leaves - 1
    require(bool(np.isfinite(_floats(tree, "leaf_value", n_leaves)).all()), "a leaf is not finite")
    if n_inner:
        left, right = _whole(tree, "left_child", n_inner), _whole(tree, "right_child", n_inner)
        _check_children(left, right, n_leaves)
        features, kinds = _whole(tree, "split_feature", n_inner), _whole(tree, "decision_type", n_inner)
        require(within(features, n_columns), "a split asks for a column that does not exist")
        require(within(kinds, 16), "a split is of an unknown kind")
        thresholds = _floats(tree, "threshold", n_inner)
        _check_sets(tree, n_sets, thresholds[(kinds & 1) == 1])
    lengths = dict.fromkeys(_BY_LEAF, n_leaves) | dict.fromkeys(_BY_NODE, n_inner)
    for name, n in lengths.items():
        if n_inner or tree[name]:  # LightGBM names no weight of a tree's only leaf
            _floats(tree, name, n)
    _floats(tree, "shrinkage", 1)
    if tree.get("is_linear", "0") != "0":
        n_terms = _whole(tree, "num_features", n_leaves)
        _floats(tree, "leaf_const", n_leaves)
        require(bool((n_terms >= 0).all()), "a linear leaf")
        _floats(tree, "leaf_coeff", int(n_terms.sum()))
        require(within(_whole(tree, "leaf_features", int(n_terms.sum())), n_columns), "a linear leaf")


def _check_children(left: Array, right: Array, n_leaves: int) -> None:
    """Number leaves after inner nodes, as in one array, and look for cycles."""
    n_inner = n_leaves - 1
    children = np.concatenate([left, right])
    require(bool((children < n_inner).all() and (~children < n_leaves).all()), "a child is not a node of its tree")
    lefts, rights = (np.append(np.where(c < 0, n_inner + ~c, c), np.full(n_leaves, -1)) for c in (left, right))
    problem = tree_problem(lefts, rights, np.array([0, n_inner + n_leaves]))
    require(problem is None, problem or "")


def _check_sets(tree: dict[str, str], n_sets: int, chosen: Array) -> None:
    """A split by category names a set, and a set is a stretch of the bits in cat_threshold."""
    require(bool((chosen == np.round(chosen)).all()) and within(chosen, n_sets), "a split names a set of categories")
    if n_sets:
        bounds = _whole(tree, "cat_boundaries", n_sets + 1)
        words = _whole(tree, "cat_threshold")
        require(bounds[0] == 0 and bool((np.diff(bounds) >= 0).all()) and bounds[-1] == words.size, "its categories")
        require(within(words, 2**32), "its categories")


def _one(fields: dict[str, str], name: str) -> int:
    return int(_whole(fields, name, 1)[0])


def _whole(fields: dict[str, str], name: str, n: int | None = None) -> Array:
    words = fields[name].split(" ")
    require(all(map(_WHOLE.fullmatch, words)) and n in (None, len(words)), f"{name} holds invalid numbers")
    return np.array(words, dtype=np.int64)


def _floats(fields: dict[str, str], name: str, n: int) -> Array:
    words = fields[name].split(" ") if fields[name].strip() else []
    words = [word for word in words if word]
    require(all(map(_NUMBER.fullmatch, words)) and n == len(words), f"{name} holds invalid numbers")
    return np.array(words, dtype=np.float64)
