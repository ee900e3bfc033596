"""Help and version come at once: no library that computes is imported for them."""

import re
import subprocess
import sys

import pytest

from dips._cli.app import run as dips
from dips._study.metrics import METRIC_NAMES
from dips.backbones._registry import default_names
from dips.labelers import LABELERS

HEAVY = ("numpy", "scipy", "pandas", "pyarrow", "sklearn", "narwhals", "joblib", "xgboost", "jinja2", "torch")
ASK = """
import sys
from dips._cli.app import run
assert run(sys.argv[1:]) == 0
print("imported:", *(name for name in {heavy} if name in sys.modules))
"""


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["predict", "--help"], ["paper", "--help"]])
def test_no_library_that_computes_is_imported(arguments):
    asked = [sys.executable, "-c", ASK.format(heavy=HEAVY), *arguments]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[-1] == "imported:"


def test_the_list_of_commands_says_each_in_a_whole_sentence(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert dips(["--help"]) == 0
    listed = capsys.readouterr().out.partition("Commands:")[2].partition("Exit codes")[0].strip().splitlines()
    assert len(listed) >= 12
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []


def test_the_help_of_a_command_names_what_it_takes(capsys):
    assert dips(["fit", "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert f"The metric that decides: {', '.join(METRIC_NAMES)}." in words
    assert f"The classifier: {', '.join(default_names())}." in words
    assert f"What proposes pseudo-labels: auto, {', '.join(LABELERS.by_name())}." in words
    judges = re.search("What judges labels: auto, (.*?); for images: auto, (.*?)\\.", words)
    assert judges is not None
    assert ("fine" in judges[1], "fine" in judges[2], "percentile" in judges[2]) == (True, False, True)


@pytest.mark.parametrize(
    "command", ["inspect", "fit", "audit", "review", "compare", "predict", "report", "sign", "paper run"]
)
def test_an_option_says_what_it_takes_in_a_word_not_in_a_type(command, capsys):
    assert dips([*command.split(), "--help"]) == 0
    options = capsys.readouterr().out.partition("Options:")[2]
    assert re.findall(r"--\S+ (?:<(?:list|str|path).*?>|TEXT|PATH)", options) == []
