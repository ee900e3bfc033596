"""The command ``dips paper``."""

import json

import pytest

from dips._cli.app import run
from dips._paper import find
from dips._paper.engine import Store
from dips._paper.experiment import Plan
from dips._paper.show import save_plan
from dips._tools.locks import only_writer

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.usefixtures("tables")


def test_experiments_and_data_sets_are_listed(paper):
    assert "battery" in paper("list")[1]
    assert json.loads(paper("list", "--json")[1])[0]["name"] == "quadrants"
    code, printed, _ = paper("data")
    assert code == 0
    assert "in the folder" in printed
    assert "your own copy" in printed


def test_a_run_can_be_repeated_and_shown(paper, tmp_path):
    code, printed, _ = paper("run", "clean-labels", "--seeds", "1")
    assert (code, "4 trials done" in printed) == (0, True)
    assert "0 trials done in 0 s, 4 were there already, 0 failed" in paper("run", "clean-labels", "--seeds", "1")[1]
    code, printed, _ = paper("show", "clean-labels", "--out", str(tmp_path / "out"))
    assert code == 0
    assert "82.36 ± 1.46" in printed
    assert {p.suffix for p in (tmp_path / "out").iterdir()} == {".png", ".svg", ".md", ".csv"}
    shown = json.loads(paper("show", "clean-labels", "--json")[1])
    assert shown["failures"] == []
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    assert paper("page", str(page))[0] == 0
    assert "## Two moons without label noise" in page.read_text()


def test_the_page_leaves_out_what_has_no_finished_trial(paper, tmp_path):
    assert "No trial" in paper("page", str(tmp_path / "page.md"))[2]
    paper("run", "clean-labels", "--seeds", "1")
    save_plan(find("quadrants"), Plan(1), Store(tmp_path / "results"))
    code, _, said = paper("page", str(tmp_path / "page.md"))
    assert (code, said) == (0, "")
    left_out = (tmp_path / "page.md").read_text().partition("Not run for this page: ")[2]
    assert "quadrants" in left_out
    assert "clean-labels" not in left_out


def test_failures_are_shown_and_end_with_another_code(paper, monkeypatch):
    from dips._paper.tables import methods

    monkeypatch.setitem(methods._FITS, "supervised", None)
    code, printed, _ = paper("run", "clean-labels", "--seeds", "1")
    assert code == 1
    assert "1 failed" in printed
    assert "TypeError" in printed
    assert "--retry" in printed
    monkeypatch.undo()
    code, printed, _ = paper("run", "clean-labels", "--seeds", "1", "--retry")
    assert (code, "1 trials done" in printed) == (0, True)


def test_what_cannot_be_done_is_said_in_a_sentence(paper, monkeypatch):
    assert paper("run", "nothing")[2].startswith("dips: No experiment is called 'nothing'")
    assert "is not a folder" in paper("run", "quadrants", "--data-folder", "/nowhere/at/all")[2]
    assert '--members is a number from 2, or "checkpoints"' in paper("run", "battery", "--members", "1")[2]
    assert "seer may not be redistributed" in paper("run", "battery", "--data", "seer")[2]
    assert "has not been run yet" in paper("show", "battery")[2]


def test_a_place_that_cannot_be_written_to_is_refused_in_a_sentence(paper, tmp_path):
    file = tmp_path / "file"
    file.write_text("in the way")
    assert paper("run", "clean-labels", "--seeds", "1")[0] == 0
    for arguments in (("show", "clean-labels", "--out", str(file)), ("page", str(file / "page.md"))):
        code, _, said = paper(*arguments)
        assert code == 4
        assert "cannot be made" in said
    assert run(["paper", "run", "clean-labels", "--seeds", "1", "--results", str(file)]) == 4
    assert file.read_text() == "in the way"


def test_a_data_set_that_cannot_be_read_is_left_out_and_said_so(paper, tmp_path, tables, monkeypatch):
    import shutil

    folder = tmp_path / "some"
    shutil.copytree(tables, folder)
    (folder / "covid.csv").write_text("a,b\n1,2\n")
    code, printed, remarks = paper(
        *("run", "aleatoric", "--seeds", "1", "--max-labeled", "20", "--max-unlabeled", "30"),
        *("--data-folder", str(folder)),
    )
    monkeypatch.setenv("DIPS_DATA", str(tables))
    assert (code, "3 trials done" in printed) == (0, True)
    assert "covid is left out: The table of covid lacks the columns" in remarks


def test_an_experiment_is_run_by_one_process_at_a_time(paper, tmp_path):
    (tmp_path / "results").mkdir()
    with only_writer(tmp_path / "results" / "clean-labels"):
        code, _, said = paper("run", "clean-labels", "--seeds", "1")
    assert code == 4
    assert "is being written by process" in said
