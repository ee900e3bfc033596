"""Hints of trees: each answer against a naive walk, no row judged by its own label, and NumPy equal to PyTorch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dips.network import _grove
from dips.network._grove import DEPTH, LEFT_OUT, N_TREES, PRIOR_WEIGHT, fit_grove
from dips.network._settings import ModelSettings

MODEL = ModelSettings()


def table(seed=0, rows=40, columns=4, classes=2, categorical=False):
    """Cells (1, n, F, numbers) and one-hot labels (1, n, C) that the first column decides."""
    rng = np.random.default_rng(seed)
    cells = np.zeros((1, rows, columns, MODEL.cell_width))
    if categorical:
        levels = rng.integers(0, classes, (rows, columns))
        cells[0, ..., -MODEL.code_width :] = rng.normal(size=(columns, classes, MODEL.code_width))[
            np.arange(columns), levels
        ]
        label = levels[:, 0]
    else:
        cells[0, ..., 1] = rng.uniform(-1, 1, (rows, columns))
        label = ((cells[0, :, 0, 1] + 1) / 2 * classes).astype(int)
    return cells, np.eye(classes)[label][None]


def naive_leaf(grove, looks, tree):
    """Walk one row down a tree, question by question."""
    leaf = 0
    for level in range(DEPTH):
        leaf = 2 * leaf + int(looks[grove.column[0, tree, level]] > grove.cut[0, tree, level] + 1e-5)
    return leaf


def naive_answer(grove, looks, named, kept, tree, row):
    """Shares of the classes from the root to a row's leaf, each drawn to the one above, less those at the root."""
    leaves = [naive_leaf(grove, each, tree) for each in looks]
    rows = [other for other in range(len(looks)) if kept[tree, other]]
    root = answer = named[rows].mean(0)
    for level in range(1, DEPTH + 1):
        path = leaves[row] >> (DEPTH - level)
        here = named[[other for other in rows if leaves[other] >> (DEPTH - level) == path]]
        answer = (here.sum(0) + PRIOR_WEIGHT * answer) / (len(here) + PRIOR_WEIGHT)
    return answer - root


def test_a_labeled_row_is_answered_by_the_trees_grown_without_it():
    cells, named = table(rows=30, classes=3)
    grove = fit_grove(np, cells, named, MODEL)
    looks, kept = _grove._looks(np, cells, MODEL)[0], _grove._kept(30)
    for row in (0, 11, 29):
        trees = np.flatnonzero(kept[:, row] == 0)
        assert len(trees) == LEFT_OUT
        naive = np.mean([naive_answer(grove, looks, named[0], kept, tree, row) for tree in trees], axis=0)
        assert np.allclose(grove.own[0, row], naive, atol=1e-3)


def test_other_rows_are_answered_by_all_trees():
    cells, named = table(rows=30)
    grove = fit_grove(np, cells, named, MODEL)
    looks, kept = _grove._looks(np, cells, MODEL)[0], _grove._kept(30)
    naive = np.mean([naive_answer(grove, looks, named[0], kept, tree, 4) for tree in range(N_TREES)], axis=0)
    assert np.allclose(grove.of_others(cells)[0, 4], naive, atol=1e-3)


def test_the_best_question_parts_the_classes_most():
    cells, named = table(rows=60)
    looks, kept = _grove._looks(np, cells, MODEL), _grove._kept(60)
    column, cut = _grove._questions(np, looks, 0)
    answers = _grove._yes(np, looks, column, cut)
    counted = kept[:, :, None] * named[:, None]
    best = _grove._best(np, answers, np.zeros((1, N_TREES, 60), int), counted, 1)[0]
    for tree in (0, 7):
        gini = []
        for question in answers[0, tree]:
            parts = [named[0][(kept[tree] > 0) & (question == side)] for side in (True, False)]
            gini.append(sum(len(part) * (1 - (part.mean(0) ** 2).sum()) for part in parts if len(part)))
        assert np.isclose(gini[best[tree]], min(gini), atol=1e-3)


@pytest.mark.parametrize("row", [0, 7])
def test_no_row_is_judged_by_its_own_label(row):
    cells, named = table(classes=3)
    other = named.copy()
    other[0, row] = np.roll(named[0, row], 1)
    one, two = (fit_grove(np, cells, labels, MODEL).own[0, row] for labels in (named, other))
    assert np.allclose(one, two)


@pytest.mark.parametrize("categorical", [False, True])
def test_a_column_that_decides_the_class_is_found_among_others(categorical):
    cells, named = table(rows=200, columns=6, classes=3, categorical=categorical)
    grove = fit_grove(np, cells[:, :120], named[:, :120], MODEL)
    asked = grove.of_others(cells[:, 120:])[0] + named[0, :120].mean(0)
    assert (asked.argmax(1) == named[0, 120:].argmax(1)).mean() > 0.9
    assert grove.explained[0] > 0.3


def test_missing_cells_can_be_told_from_others():
    cells, named = table(rows=200, columns=3)
    missing = named[0, :, 1] > 0
    cells[0, :, :, 1] = 0.0
    cells[0, missing, 1, -MODEL.code_width - 2] = 1.0
    assert fit_grove(np, cells, named, MODEL).explained[0] > 0.5


def test_useless_columns_explain_nothing():
    cells, named = table(rows=80)
    named = named[:, np.random.default_rng(1).permutation(80)]
    assert fit_grove(np, cells, named, MODEL).explained[0] < 0.1


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 30), st.integers(1, 5), st.integers(1, 4), st.booleans())
def test_trees_are_finite_and_of_both_libraries_alike(rows, columns, classes, constant):
    torch = pytest.importorskip("torch")
    cells, named = table(rows, rows, columns, classes)
    cells = (cells * (not constant)).astype(np.float32)
    named = named.astype(np.float32)
    ours = fit_grove(np, cells, named, MODEL)
    theirs = fit_grove(torch, torch.as_tensor(cells), torch.as_tensor(named), MODEL)
    for one, other in (
        (ours.own, theirs.own),
        (ours.explained, theirs.explained),
        (ours.of_others(cells), theirs.of_others(torch.as_tensor(cells))),
    ):
        assert np.isfinite(one).all()
        assert np.allclose(one, other.numpy(), atol=1e-5)
