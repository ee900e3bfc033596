"""One kind of bar for every long task: counts, fractions and speeds."""

import io

import pytest
from rich.console import Console

from dips._tools.progress import ProgressBars


@pytest.fixture
def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=120, color_system=None)


def shown(terminal):
    return terminal.file.getvalue()


def test_steps_are_counted_under_their_title(terminal):
    with ProgressBars(title="training", unit="images", units_per_step=64, console=terminal) as bars:
        bars.on_step(1, 20)
        bars.title = "training, 1 failed"
        bars.on_step(12, 20)
    assert "training, 1 failed" in shown(terminal)
    assert "12/20" in shown(terminal)
    assert "images/s" in shown(terminal)


def test_a_bar_that_begins_again_forgets_the_time_of_the_first_pass(terminal):
    with ProgressBars(console=terminal) as bars:
        for n_done in (0, 10, 3):
            bars.on_step(n_done, 10)
        task = bars._progress.tasks[0]
        assert not task.finished
        assert task.time_remaining is None  # not yet known


def test_a_stage_shows_the_fraction_done(terminal):
    with ProgressBars(console=terminal) as bars:
        bars.message("[reading]", 0.25)
    assert "[reading]" in shown(terminal)
    assert "25 %" in shown(terminal)


def test_the_bar_of_files_goes_when_all_are_read(terminal):
    with ProgressBars(console=terminal) as bars:
        bars.on_files(1, 2)
        bars._progress.refresh()
        assert "files" in shown(terminal)
        assert "1/2" in shown(terminal)
        bars.on_files(2, 2)
        assert not bars._progress.tasks[0].visible


@pytest.mark.parametrize("enabled", [True, False])
def test_nothing_is_drawn_where_nobody_watches(enabled, terminal):
    console = Console(file=io.StringIO()) if enabled else terminal
    with ProgressBars(enabled, console=console) as bars:
        bars.on_step(1, 2)
    assert console.file.getvalue().strip() == ""
