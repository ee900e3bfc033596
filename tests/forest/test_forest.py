"""A forest that is damaged is refused before compiled code walks it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dips._dynamics import Dynamics
from dips._forest import Forest, kernel
from dips.backbones import find_backbone
from tests.backbones.families import lightgbm, table, xgboost


def stumps(**changed):
    """Two trees of three nodes over two columns."""
    parts = {
        "left": np.array([1, -1, -1] * 2),
        "right": np.array([2, -1, -1] * 2),
        "feature": np.array([0, 0, 0, 1, 0, 0]),
        "threshold": np.zeros(6),
        "value": np.array([0.0, -1.0, 1.0] * 2),
        "missing_left": np.zeros(6),
        "sizes": [3, 3],
        "outputs": [0, 0],
        "rounds": [0, 1, 2],
        "n_outputs": 1,
    }
    return Forest.of(**parts | changed)


def test_a_sound_forest_is_accepted():
    assert stumps().n_checkpoints == 2
    assert stumps(left=np.full(2, -1), right=np.full(2, -1), **_leaves(2)).n_checkpoints == 2


def _leaves(n):
    return {k: np.zeros(n) for k in ("feature", "threshold", "value", "missing_left")} | {"sizes": [1] * n}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"left": np.array([1, -1, -1, 3, -1, -1])}, "a child is not a node of its tree"),
        ({"right": np.array([2, -1, -1, -2, -1, -1])}, "a node has one child"),
        ({"right": np.array([2, -1, -1, -1, -1, -1])}, "a node has one child"),
        ({"right": np.array([1, -1, -1, 2, -1, -1])}, "a node has two parents"),
        ({"right": np.array([0, -1, -1, 2, -1, -1])}, "a node has two parents or is the child of itself"),
        ({"feature": np.array([-1, 0, 0, 1, 0, 0])}, "a column is negative"),
        ({"value": np.zeros(5)}, "its columns differ in length"),
        ({"sizes": [3, 2]}, "its trees do not add up to its nodes"),
        ({"sizes": [6, 0]}, "its trees do not add up to its nodes"),
        ({"outputs": [0, 1]}, "a tree adds to a score that does not exist"),
        ({"outputs": [0]}, "its trees do not add up to its nodes"),
        ({"rounds": [0, 2, 1]}, "its rounds do not follow each other"),
        ({"rounds": [0, 1, 3]}, "its rounds do not follow each other"),
    ],
)
def test_a_forest_that_does_not_hold_together_is_refused(changed, problem):
    with pytest.raises(ValueError, match=f"The trees were misread: .*{problem}"):
        stumps(**changed)


needs_kernel = pytest.mark.skipif(kernel.library() is None, reason="this installation has no compiled kernel")


@needs_kernel
def test_a_table_with_too_few_columns_is_not_walked():
    with pytest.raises(ValueError, match="The trees ask for 2 columns; the table has 1"):
        stumps().watch(np.zeros((4, 1)), Dynamics(4, 2))
    with pytest.raises(ValueError, match="The trees ask for 2 columns; the table has 1"):
        stumps().margins(np.zeros((4, 1)))


@needs_kernel
def test_another_number_of_classes_is_not_written():
    with pytest.raises(ValueError, match="The model has 2 classes; 3 were asked for"):
        stumps().watch(np.zeros((4, 2)), Dynamics(4, 3))


@needs_kernel
@pytest.mark.parametrize("make", [xgboost, lightgbm])
def test_a_model_that_is_misread_is_replayed_by_its_own_library(make, monkeypatch):
    pytest.importorskip(make.__name__)
    X, y, X_watch = table(2)
    estimator = make().fit(X, y)
    backbone = find_backbone(estimator)
    sound = Forest.of

    def broken(**parts):
        return sound(**parts | {"left": parts["left"] + 1000 * (parts["left"] > 0)})

    monkeypatch.setattr(Forest, "of", broken)
    assert backbone.forest(estimator, X_watch) is None
    assert backbone.replayed(estimator, X_watch, 2).n_checkpoints == 6


def test_a_forest_that_was_changed_is_checked_again():
    with pytest.raises(ValueError, match="The trees were misread"):
        replace(stumps(), base=np.zeros(2))


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("left", np.array([1, -1, -1, 1, -1, -1], dtype=np.int64)),
        ("threshold", np.zeros(6, dtype=np.float16)),
        ("feature", np.zeros(12, dtype=np.int32)[::2]),
        ("offsets", np.array([0, 3, 6], dtype=np.int32)),
        ("base", [0.0]),
    ],
)
def test_an_array_that_compiled_code_would_misread_is_refused(name, array):
    with pytest.raises(ValueError, match=f"{name} is not an array that the compiled code can read"):
        replace(stumps(), **{name: array})
