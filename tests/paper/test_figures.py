from __future__ import annotations

import pandas as pd
import pytest

from dips._paper.engine.figures import bars

figure = pytest.importorskip("matplotlib.figure")


def drawn(values):
    axis = figure.Figure().subplots()
    bars(axis, pd.DataFrame({"table": list("ab"), "method": "PL", "accuracy": values}), "table")
    return axis.get_ylim()


def test_bars_of_accuracies_begin_a_little_under_the_lowest():
    assert drawn([0.7, 0.8])[0] == pytest.approx(65)


def test_bars_of_losses_are_seen_whole():
    low, high = drawn([-0.006, -0.002])
    assert low < -0.6
    assert high >= 0
