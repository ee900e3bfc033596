"""The commands on the pages run as they are, on the tables that ``dips demo --tables`` writes."""

import re
import shlex
from pathlib import Path

from dips._cli.app import run as dips
from dips._demo_tables import make_tables
from tests.effort import quick_studies

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/start.md", "docs/howto/corrections.md")
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_WAITS = ("review",)  # for somebody who reviews


def commands_of(page):
    """What a reader would type of the page's blocks, without the remarks."""
    blocks = _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    lines = [line for language, block in blocks if not language for line in block.splitlines()]
    commands = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("dips ")]
    return [words for words in commands if words[0] not in _WAITS]


def test_the_commands_of_the_pages_run_on_the_tables_of_the_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert dips(["demo", "--tables"]) == 0
    commands = {page: commands_of(page) for page in PAGES}
    assert all(commands.values())
    with quick_studies():
        for command in dict.fromkeys(tuple(c) for of_page in commands.values() for c in of_page):
            assert dips(list(command)) == 0, capsys.readouterr().err


def test_the_tables_are_not_written_over_files_that_are_there(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.csv").write_text("mine")
    assert dips(["demo", "--tables"]) == 4
    assert "new.csv exists already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]


def test_the_corrections_are_of_labels_that_are_wrong():
    tables = make_tables()
    given = tables["patients.csv"].set_index("patient")["outcome"]
    corrected = tables["corrections.csv"].set_index("patient")["label"]
    assert set(corrected) == {"keep", "ill", "well"}
    assert (given[corrected.index] != corrected).all()
    assert given.isna().sum() == 300
