"""Hints: each regression against a naive one, no row judged by its own label, and NumPy equal to PyTorch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dips.network import _hints
from dips.network._hints import SHRINKAGE, Hints, fit_hints, symmetric_inverse
from dips.network._settings import ModelSettings

MODEL = ModelSettings()


def table(seed=0, rows=40, columns=4, classes=3):
    """Cells (1, n, F, numbers) and one-hot labels (1, n, C)."""
    rng = np.random.default_rng(seed)
    cells = rng.normal(size=(1, rows, columns, MODEL.cell_width))
    label = (cells[0, :, 0, 0] > 0) + rng.integers(0, classes - 1, rows)
    return cells, np.eye(classes)[label][None]


def naive_answer(rows, target, left_out, penalty):
    """What a ridge regression with a free mean says of a row (n, d) that it was fitted without."""
    kept = np.delete(np.arange(len(rows)), left_out)
    mean, share = rows[kept].mean(0), target[kept].mean(0)
    X, y = rows[kept] - mean, target[kept] - share
    return (rows[left_out] - mean) @ np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ y)


def test_leaving_a_row_out_equals_a_fit_without_it():
    cells, named = table()
    rows = cells.reshape(40, -1)
    centered = rows - rows.mean(0)
    size = np.trace(centered @ centered.T) / 40
    answers = np.array(
        [[naive_answer(rows, named[0], row, 40 * share * size) for row in range(40)] for share in SHRINKAGE]
    )
    others = (named[0].sum(0) - named[0]) / 39
    errors = ((answers + others - named[0]) ** 2).mean((1, 2))
    weights = np.exp(-0.5 * 40 * (errors / errors.min() - 1))
    fit = _hints._ridge(np, (rows @ rows.T)[None], named - named.mean(1, keepdims=True))
    assert np.allclose(fit.own[0], np.tensordot(weights / weights.sum(), answers, 1))
    variance = ((named[0] - named[0].mean(0)) ** 2).mean()
    assert np.isclose(fit.explained[0], max(0, 1 - errors.min() / variance))


def test_other_rows_are_answered_by_a_fit_to_all_labeled_ones(monkeypatch):
    monkeypatch.setattr(_hints, "SHRINKAGE", (0.1,))
    cells, named = table(rows=30)
    hints = fit_hints(np, cells[:, :29], named[:, :29], MODEL)
    without = fit_hints(np, cells, named, MODEL)  # whose last row is left out
    asked = hints.of_others(cells[:, 29:])[0, 0, :, 0]
    assert np.allclose(asked, without.of_labeled()[0, 29, :, 0], rtol=0.2, atol=0.02)  # 29 rows have another penalty


@pytest.mark.parametrize("row", [0, 7])
def test_no_row_is_judged_by_its_own_label(row, monkeypatch):
    monkeypatch.setattr(_hints, "SHRINKAGE", (0.1,))
    cells, named = table()
    other = named.copy()
    other[0, row] = np.roll(named[0, row], 1)
    one, two = (fit_hints(np, cells, labels, MODEL).of_labeled()[0, row, :, :2] for labels in (named, other))
    assert np.allclose(one, two)


def test_symmetric_inverses_are_those_of_numpy():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(2, 30, 30))
    matrices = half @ half.swapaxes(1, 2) + np.eye(30)
    assert np.allclose(symmetric_inverse(matrices), np.linalg.inv(matrices), rtol=1e-8)
    single = symmetric_inverse(matrices.astype(np.float32))
    assert single.dtype == np.float32
    assert np.allclose(single, np.linalg.inv(matrices), atol=1e-3)
    with pytest.raises(np.linalg.LinAlgError):
        symmetric_inverse(-matrices)


def test_answers_for_a_row_do_not_depend_on_the_others_asked():
    cells, named = table()
    hints = fit_hints(np, cells, named, MODEL)
    asked = table(1)[0]
    whole = hints.of_others(asked)
    assert whole.shape == (1, 40, 3, MODEL.mark_width - 2)
    assert np.allclose(whole[:, 5:9], hints.of_others(asked[:, 5:9]))
    assert hints.of_others(asked[:, :0]).shape == (1, 0, 3, MODEL.mark_width - 2)


def test_a_copy_of_a_labeled_row_is_told_its_neighbors_label():
    rng = np.random.default_rng(0)
    cells, named = table(rows=60, classes=2)
    cells[0, :, 0, 0] = np.where(named[0, :, 0] > 0, -1.5, 1.5) + 0.1 * rng.normal(size=60)
    hints = fit_hints(np, cells, named, MODEL)
    own = hints.of_labeled()[0]
    assert ((own[:, 0, :3] > 0).mean(1) > 0.5)[named[0, :, 0] > 0].mean() > 0.95
    assert (own[..., 3:6] > 0.2).all()


def test_columns_that_matter_weigh_more():
    cells, named = table(rows=200, classes=2)
    weight = fit_hints(np, cells, named, MODEL).weight.ravel()
    assert weight.argmax() == 0
    assert np.isclose((weight**2).mean(), 1)
    assert (weight > 0).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 30), st.integers(1, 5), st.integers(1, 4), st.sampled_from(["random", "constant", "zero"]))
def test_hints_are_finite_and_of_both_libraries_alike(rows, columns, classes, kind):
    torch = pytest.importorskip("torch")
    cells, named = table(rows, rows, columns, max(2, classes))
    cells *= {"random": 1, "constant": 0, "zero": 0}[kind]
    cells += kind == "constant"
    named = named if classes > 1 else np.eye(2)[np.zeros(rows, int)][None]
    ours = fit_hints(np, cells, named, MODEL)
    theirs = fit_hints(torch, torch.as_tensor(cells), torch.as_tensor(named), MODEL)
    for hints in (ours, theirs):
        assert isinstance(hints, Hints)
    for one, other in (
        (ours.of_labeled(), theirs.of_labeled()),
        (ours.of_others(cells), theirs.of_others(torch.as_tensor(cells))),
    ):
        assert np.isfinite(one).all()
        assert np.allclose(one, other.numpy(), atol=1e-8)


def test_inverses_by_products_alone_are_the_inverses():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    for rank in (1, 20, 80):
        rows = rng.normal(size=(2, 60, rank)).astype(np.float32)
        kernel = rows @ rows.swapaxes(1, 2)
        kernel /= kernel.diagonal(0, -2, -1).mean(-1)[:, None, None]
        fast = _hints.newton_inverses(torch.as_tensor(kernel))
        for share, inverse in zip(SHRINKAGE, fast, strict=True):
            exact = np.linalg.inv(kernel.astype(np.float64) + 60 * share * np.eye(60))
            assert np.abs(inverse.numpy() - exact).max() < 1e-4 * np.abs(exact).max()
