"""Checks a stored XGBoost model before XGBoost reads it: its own reader follows the file's indices blindly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from dips._forest import ubjson
from dips._forest.forest import tree_problem
from dips._tools.arrays import Array
from dips.backbones._stored import numbers, require, whole_numbers, within
from dips.backbones._stored_xgboost_categories import check_categories

_NO_PARENT = 2**31 - 1
_MOST_CATEGORIES = 2**24
_BY_NODE = ("left_children", "right_children", "parents", "split_indices", "split_type", "default_left")
_FLOATS_BY_NODE = ("split_conditions", "base_weights", "loss_changes", "sum_hessian")
_OF_CATEGORIES = ("categories_nodes", "categories_segments", "categories_sizes", "categories")


def check_xgboost(path: Path, n_features: int | None, n_classes: int) -> None:
    """Refuse, with a DamagedFileError, a file whose trees, columns or classes do not fit each other."""
    learner = ubjson.loads(path.read_bytes())["learner"]
    param = learner["learner_model_param"]
    n_columns, n_groups = int(param["num_feature"]), max(1, int(param["num_class"]))
    require(n_features in (None, n_columns), f"it has {n_columns} columns, and {n_features} are prepared for it")
    require(n_groups == n_classes or (n_groups, n_classes) == (1, 2), f"it has {n_groups} classes, not {n_classes}")
    require(int(param.get("num_target", 1)) == 1, "it has several targets")
    _check_objective(learner["objective"], n_groups)
    base = json.loads(param["base_score"])
    base = base if isinstance(base, list) else [base]
    require(len(base) in (1, n_groups) and bool(np.isfinite(np.array(base, dtype=float)).all()), "its base score")
    for name in ("feature_names", "feature_types"):
        names = learner.get(name, [])
        require(len(names) in (0, n_columns) and all(isinstance(n, str) for n in names), f"its {name}")
    require(all(isinstance(v, str) for v in learner["attributes"].values()), "its attributes")
    _check_booster(learner["gradient_booster"], n_columns, n_groups)


def _check_objective(objective: dict[str, Any], n_groups: int) -> None:
    is_multi = objective["name"].startswith("multi:")
    require(is_multi == (n_groups > 1), f"its objective {objective['name']!r} does not fit {n_groups} scores")
    if is_multi:
        require(int(objective["softmax_multiclass_param"]["num_class"]) == n_groups, "its objective's classes")


def _check_booster(booster: dict[str, Any], n_columns: int, n_groups: int) -> None:
    if booster["name"] == "gblinear":
        weights = _floats(booster["model"]["weights"], "its weights")
        require(weights.size == (n_columns + 1) * n_groups, "its number of weights")
        return
    require(booster["name"] in ("gbtree", "dart"), f"the booster {booster['name']!r}")
    model = booster["gbtree"]["model"] if booster["name"] == "dart" else booster["model"]
    trees, param = model["trees"], model["gbtree_model_param"]
    require(int(param["num_trees"]) == len(trees) > 0, "its number of trees")
    require(0 < int(param["num_parallel_tree"]) <= len(trees), "its number of parallel trees")
    check_categories(model.get("cats", {"enc": [], "feature_segments": [], "sorted_idx": []}), n_columns)
    groups = whole_numbers(model["tree_info"], "its classes of trees")
    require(groups.size == len(trees) and within(groups, n_groups), "its classes of trees")
    if "iteration_indptr" in model:
        rounds = whole_numbers(model["iteration_indptr"], "its rounds")
        is_ordered = rounds.size and rounds[0] == 0 and rounds[-1] == len(trees) and (np.diff(rounds) >= 0).all()
        require(bool(is_ordered), "its rounds do not follow each other")
    if booster["name"] == "dart":
        require(_floats(booster["weight_drop"], "its weights of trees").size == len(trees), "its weights of trees")
    for number, tree in enumerate(trees):
        _check_tree(tree, number, n_columns)
    _check_structure(trees, n_columns)


def _check_tree(tree: dict[str, Any], number: int, n_columns: int) -> None:
    param, where = tree["tree_param"], f"tree {number}"
    n, n_values = int(param["num_nodes"]), max(1, int(param["size_leaf_vector"]))
    require(int(param["num_feature"]) == n_columns and n > 0, f"{where}: its columns")
    require(0 <= int(param["num_deleted"]) < n and int(tree["id"]) == number, f"{where}: its number")
    for name in _BY_NODE:
        require(whole_numbers(tree[name], f"{where}: {name}").size == n, f"{where}: {name}")
    for name in _FLOATS_BY_NODE:
        size = numbers(tree[name], f"{where}: {name}").size
        require(size == n or (n_values > 1 and size % n_values == 0), f"{where}: {name}")
    is_leaf = tree["left_children"] == -1
    if n_values == 1:
        _floats(tree["split_conditions"][is_leaf], f"{where}: a leaf")
    nodes, starts, sizes, values = (whole_numbers(tree[name], f"{where}: {name}") for name in _OF_CATEGORIES)
    is_split = np.flatnonzero((tree["split_type"] != 0) & ~is_leaf)
    require(np.array_equal(nodes, is_split) and nodes.size == starts.size == sizes.size, f"{where}: its categories")
    if nodes.size:
        ends = starts.astype(np.int64) + sizes
        is_inside = within(starts, values.size + 1) and (sizes >= 0).all() and ends.max() <= values.size
        require(is_inside, f"{where}: its sets of categories")
        require(within(values, _MOST_CATEGORIES), f"{where}: a category")


def _check_structure(trees: list[dict[str, Any]], n_columns: int) -> None:
    """Look at the nodes of all trees at once."""
    sizes = [tree["left_children"].size for tree in trees]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def column(name: str) -> Array:
        return np.concatenate([tree[name] for tree in trees]).astype(np.int64)

    left, right, parents = column("left_children"), column("right_children"), column("parents")
    require(bool((left >= -1).all() and (right >= -1).all()), "a child is negative")
    problem = tree_problem(left, right, offsets)
    require(problem is None, problem or "")
    inner = np.flatnonzero(left >= 0)
    require(within(column("split_indices")[inner], n_columns), "a split asks for a column that does not exist")
    root = np.repeat(offsets[:-1], sizes)
    expected = np.full(left.size, _NO_PARENT)
    for children in (left, right):
        expected[children[inner] + root[inner]] = inner - root[inner]
    is_known = (expected != _NO_PARENT) | (np.arange(left.size) == root)  # a pruned node has no place in the tree
    require(np.array_equal(parents[is_known], expected[is_known]), "a node names another parent")
    stray = parents[~is_known]
    is_inside = (stray >= -1) & (stray < np.repeat(sizes, sizes)[~is_known])
    require(((stray == _NO_PARENT) | is_inside).all(), "a pruned node names a parent that does not exist")
    for name in ("default_left", "split_type"):
        require(within(column(name), 2), f"its {name}")


def _floats(values: Any, what: str) -> Array:
    array = numbers(values, what)
    require(bool(np.isfinite(array).all()), f"{what} is not finite")
    return array
