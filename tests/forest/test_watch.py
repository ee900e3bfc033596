"""The compiled watch pass sees what the portable one sees, whatever grew the trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from dips._data.pool import StackedPool, TablePool
from dips._dynamics import STATISTICS, Dynamics, Watch
from dips._forest import Leaves, kernel
from dips.backbones import find_backbone
from tests.backbones.families import catboost, hist_gradient_boosting, lightgbm, table, xgboost

pytestmark = pytest.mark.skipif(kernel.library() is None, reason="this installation has no compiled kernel")

GROWN = {make.__name__: make for make in (xgboost, lightgbm, catboost, hist_gradient_boosting)}


@pytest.fixture(params=GROWN)
def make(request):
    if request.param != "hist_gradient_boosting":
        pytest.importorskip(request.param)
    return GROWN[request.param]


def fitted(make, n_classes=2, n=90, holes=False, **settings):
    X, y, _ = table(n_classes, n)
    if holes:
        X = np.where(np.random.RandomState(0).uniform(size=X.shape) < 0.3, np.nan, X)
    estimator = make(**settings)
    estimator.set_params(**find_backbone(estimator).quiet_parameters(estimator))
    return estimator.fit(X, y), X


def replayed(estimator, X, n_classes=2, statistics=STATISTICS, window=(0.0, 1.0)):
    dynamics = Dynamics(X.shape[0], n_classes, statistics, window)
    find_backbone(estimator).replay(estimator, Watch(X, dynamics))
    return dynamics


def assert_the_portable_way_sees_the_same(monkeypatch, estimator, X, n_classes=2, **asked):
    assert find_backbone(estimator).forest(estimator, X) is not None
    compiled = replayed(estimator, X, n_classes, **asked)
    with monkeypatch.context() as patched:
        patched.setattr(kernel, "library", lambda: None)
        portable = replayed(estimator, X, n_classes, **asked)
    assert compiled.n_checkpoints == portable.n_checkpoints
    assert_allclose(compiled.probabilities, portable.probabilities, atol=1e-6)
    for statistic in portable.statistics:
        assert_allclose(compiled[statistic], portable[statistic], atol=2e-6, rtol=1e-5, err_msg=statistic)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("holes", [False, True], ids=["whole", "with holes"])
def test_every_statistic_is_the_same(monkeypatch, make, n_classes, holes):
    estimator, X = fitted(make, n_classes, n=300, holes=holes)
    assert_the_portable_way_sees_the_same(monkeypatch, estimator, X, n_classes)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_statistic_asked_for_alone_is_the_same(monkeypatch, make, statistic):
    estimator, X = fitted(make)
    assert_the_portable_way_sees_the_same(monkeypatch, estimator, X, statistics=[statistic])


@pytest.mark.parametrize("window", [(0.0, 0.5), (0.5, 1.0), (0.2, 0.7), (0.99, 1.0)], ids=str)
def test_only_the_window_counts_and_the_last_probabilities_are_those_of_the_end(monkeypatch, make, window):
    estimator, X = fitted(make, 3)
    assert_the_portable_way_sees_the_same(monkeypatch, estimator, X, 3, window=window)


def in_records(X):
    """Rows that are no whole number of values apart."""
    records = np.zeros(X.shape[0], dtype=[("x", X.dtype, X.shape[1:]), ("more", "u1")])
    records["x"] = X
    return records["x"]


LAYOUTS = {
    "columns": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: np.array(X[::-1, ::-1])[::-1, ::-1],
    "records": in_records,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_table_in_any_layout_is_read_as_it_stands(layout, dtype):
    pytest.importorskip("xgboost")
    estimator, X = fitted(xgboost, holes=True, max_depth=4)
    X = X.astype(dtype)
    forest = find_backbone(estimator).forest(estimator, X)
    assert_array_equal(forest.predict_proba(LAYOUTS[layout](X)), forest.predict_proba(X))


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("holes", [False, True], ids=["whole", "with holes"])
def test_trees_of_any_depth_are_the_same(monkeypatch, depth, holes):
    pytest.importorskip("xgboost")
    estimator, X = fitted(xgboost, n=300, holes=holes, max_depth=depth)
    assert_the_portable_way_sees_the_same(monkeypatch, estimator, X)


@pytest.mark.parametrize("n", [1, 127, 128, 129, 8192, 8193, 20_000])
def test_any_number_of_rows_is_watched(monkeypatch, make, n):
    estimator, _ = fitted(make)
    X = np.random.RandomState(0).normal(size=(n, 6))
    assert_the_portable_way_sees_the_same(monkeypatch, estimator, X)


@pytest.mark.parametrize("n_threads", [2, 5])
def test_threads_see_the_same_rows(make, n_threads):
    estimator, _ = fitted(make)
    X = np.random.RandomState(0).normal(size=(30_000, 6))
    forest = find_backbone(estimator).forest(estimator, X)
    alone, together = Dynamics(30_000, 2), Dynamics(30_000, 2)
    forest.watch(X, alone)
    forest.watch(X, together, n_threads=n_threads)
    for statistic in alone.statistics:
        assert_array_equal(alone[statistic], together[statistic])


def test_a_part_of_the_rows_can_be_filled_in(make):
    estimator, X = fitted(make)
    part = Dynamics(X.shape[0], 2)
    whole = replayed(estimator, X, statistics=part.statistics)
    find_backbone(estimator).forest(estimator, X).watch(X[10:40], part, slice(10, 40))
    assert_array_equal(part["confidence"][10:40], whole["confidence"][10:40])
    assert not part["confidence"][:10].any()


@pytest.mark.parametrize("encode", [np.float32, np.float64, np.int64, np.asfortranarray], ids=lambda e: e.__name__)
def test_any_numbers_will_do(monkeypatch, make, encode):
    estimator, X = fitted(make)
    X = (10 * X).astype(encode) if isinstance(encode, type) else encode(X)
    assert_the_portable_way_sees_the_same(monkeypatch, estimator, X)


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (xgboost, {"max_depth": 14, "min_child_weight": 0, "gamma": 0}),
        (xgboost, {"num_parallel_tree": 3}),
        (xgboost, {"booster": "dart", "rate_drop": 0.5}),
        (xgboost, {"tree_method": "exact"}),
        (xgboost, {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": 40}),
        (xgboost, {"learning_rate": 1e-9}),
        (lightgbm, {"num_leaves": 500, "min_child_samples": 1}),
        (lightgbm, {"min_child_samples": 10_000}),  # no split at all
        (lightgbm, {"use_missing": False}),
        (catboost, {"depth": 9}),
        (catboost, {"grow_policy": "Lossguide"}),
        (hist_gradient_boosting, {"max_leaf_nodes": 500, "min_samples_leaf": 1}),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_of_any_size_and_shape_are_understood(monkeypatch, make, settings, n_classes):
    if make is not hist_gradient_boosting:
        pytest.importorskip(make.__name__)
    estimator, X = fitted(make, n_classes, n=1500, holes=True, **settings)
    assert_the_portable_way_sees_the_same(monkeypatch, estimator, X, n_classes)


@pytest.mark.parametrize("make", [xgboost, lightgbm, hist_gradient_boosting])
def test_trees_that_were_misread_are_not_used(make):
    if make is not hist_gradient_boosting:
        pytest.importorskip(make.__name__)
    estimator, X = fitted(make)
    backbone = find_backbone(estimator)
    forest = backbone.forest(estimator, X)
    margin = forest.margins(X)
    assert replace(forest, base=np.zeros_like(forest.base)).calibrated(X, lambda probes: margin[: len(probes)])
    moved = replace(forest, threshold=forest.threshold + np.float32(0.3))
    assert moved.calibrated(X, lambda probes: margin[: len(probes)]) is None


def test_leaves_that_were_misread_are_not_used():
    pytest.importorskip("catboost")
    estimator, X = fitted(catboost)
    counts = np.asarray(estimator.get_tree_leaf_counts())

    def read(values):
        return Leaves.calibrated(
            estimator.calc_leaf_indexes, values, counts, X, lambda p: estimator.predict(p, "RawFormulaVal")
        )

    values = estimator.get_leaf_values()
    assert read(values) is not None
    assert read(values[::-1]) is None


@pytest.mark.parametrize("make", [xgboost, lightgbm])
def test_a_pool_may_be_dense_in_one_part_and_sparse_in_another(make):
    pytest.importorskip(make.__name__)
    estimator, X = fitted(make)
    X = np.where(np.isnan(X), 0.1, X)  # no zero, which a sparse matrix would leave out
    mixed, whole = Dynamics(X.shape[0], 2), Dynamics(X.shape[0], 2)
    find_backbone(estimator).replay(
        estimator, Watch(StackedPool([TablePool(X[:50]), TablePool(sp.csr_matrix(X[50:]))]), mixed)
    )
    find_backbone(estimator).replay(estimator, Watch(X, whole))
    assert_allclose(mixed["confidence"], whole["confidence"], atol=2e-6)


def test_what_cannot_be_read_is_replayed_stage_by_stage():
    X, y, X_watch = table(2)
    estimator = xgboost(missing=-999.0).fit(X, y)
    assert find_backbone(estimator).forest(estimator, X_watch) is None
    seen = replayed(estimator, X_watch)
    assert_allclose(seen.probabilities, estimator.predict_proba(X_watch), atol=1e-6)


class Highest(Dynamics):
    """Keeps a statistic of which the kernel knows nothing: the highest probability along the training."""

    def __init__(self, n_rows, n_classes):
        super().__init__(n_rows, n_classes)
        self.averages["highest"] = np.zeros((n_rows, n_classes), dtype=np.float32)

    def update(self, p, checkpoint=None, rows=slice(None)):
        super().update(p, checkpoint, rows)
        self.averages["highest"][rows] = np.maximum(self.averages["highest"][rows], p)


def test_a_statistic_that_the_kernel_lacks_is_taken_on_the_portable_path(make):
    estimator, X = fitted(make)
    backbone = find_backbone(estimator)
    assert backbone.forest(estimator, X) is not None
    highest, known = Highest(X.shape[0], 2), Dynamics(X.shape[0], 2)
    backbone.replay(estimator, Watch(X, highest, known))
    expected = np.max(list(backbone.stages(estimator, X)), axis=0)
    assert_allclose(highest.averages["highest"], expected, atol=1e-6)
    assert_allclose(highest["confidence"], known["confidence"], atol=2e-6)
