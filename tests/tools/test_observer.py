import inspect

import numpy as np
import pandas as pd
import pytest

from dips import ParquetPool
from dips._tools.observer import Observer
from dips._tools.progress import ProgressBars

from ..round_examples import noisy_table, run_rounds

HOOKS = [name for name, _ in inspect.getmembers(Observer, inspect.isfunction)]


class Recorder(Observer):
    def __init__(self):
        self.rounds, self.rows = [], []

    def on_round(self, record, n_rounds):
        self.rounds.append((record["round"], n_rounds))

    def on_rows(self, n_done, n_rows):
        self.rows.append((n_done, n_rows))


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_does_nothing_by_default(hook):
    method = getattr(Observer(), hook)
    assert method(*[None] * len(inspect.signature(method).parameters)) is None


def test_an_observer_sees_every_round_and_changes_nothing():
    X, given = noisy_table(2)
    recorder = Recorder()
    watched, _ = run_rounds(X, given, observer=recorder)
    assert recorder.rounds == [(record["round"], 4) for record in watched.history]
    unwatched, _ = run_rounds(X, given)
    assert (watched.labels == unwatched.labels).all()


def test_an_observer_sees_how_many_rows_of_a_pass_are_done(tmp_path):
    pd.DataFrame({"a": np.arange(10.0)}).to_parquet(tmp_path / "rows.parquet", row_group_size=4)
    recorder = Recorder()
    pool = ParquetPool(tmp_path).observed(recorder)
    list(pool.batches())
    assert recorder.rows == [(4, 10), (8, 10), (10, 10)]
    recorder.rows.clear()
    pool.take(np.array([1, 9]))
    assert recorder.rows == [(1, 2), (2, 2)]


def test_bars_take_every_hook_and_print_nothing_without_a_terminal(capsys):
    with ProgressBars() as bars:
        bars.on_round({"round": 1}, 5)
        bars.on_rows(10, 20)
    assert capsys.readouterr().err == ""
