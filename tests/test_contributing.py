"""The examples in CONTRIBUTING.md, pasted as a stranger would paste them: they keep our style, and they work."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dips

ROOT = Path(__file__).parents[1]
_EXAMPLE = re.compile(r"[Ss]ave this[^`]*`([\w/]+\.py)`:\n\n```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = dict(_EXAMPLE.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
LABELER, CURATOR = "src/dips/labelers/_margin.py", "src/dips/curators/_steady.py"
BACKBONE = "logistic_backbone.py"

USE = """
import dips, dips.labelers, dips.curators
from dips.datasets import flip_labels, make_quadrants
X, truth = make_quadrants(200, random_state=0)
y, flipped = flip_labels(truth, 0.1, random_state=0)
y[100:] = -1
"""


@pytest.fixture(scope="module")
def pasted(tmp_path_factory):
    """A copy of the package with the examples in it, and the tests beside it."""
    root = tmp_path_factory.mktemp("checkout")
    shutil.copytree(Path(dips.__file__).parent, root / "src/dips", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests", root / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    (root / "benchmarks").mkdir()
    for name, code in EXAMPLES.items():
        (root / name).write_text(code, encoding="utf-8")
    return root


def run(root, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    done = subprocess.run([sys.executable, *arguments], cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_there_is_an_example_of_each_kind():
    assert set(EXAMPLES) == {LABELER, CURATOR, BACKBONE}


def test_they_keep_our_style(pasted):
    pytest.importorskip("ruff", reason="ruff is not installed")
    run(pasted, "-m", "ruff", "check", "--no-cache", *EXAMPLES)
    run(pasted, "-m", "ruff", "format", "--no-cache", "--check", *EXAMPLES)


USES = """
import logistic_backbone
from sklearn.linear_model import LogisticRegression
from dips.testing import check_backbone, check_curator, check_labeler

for named in ({"labeler": "margin"}, {"curator": "steady"}):
    model = dips.PseudoLabelClassifier(**named, random_state=0).fit(X, y)
    print(next(iter(named)), model.score(X, truth))
audit = dips.characterize(LogisticRegression(), X[:100], y[:100], track=[0], random_state=0)
print("checkpoints", audit.trajectories.shape[1])
print("backbone", flipped[audit.suspects().index].mean())
check_labeler(dips.labelers.Margin())
check_curator(dips.curators.Steady())
check_backbone(LogisticRegression())
print("checked", 3)
"""


@pytest.fixture(scope="module")
def used(pasted):
    """What a script prints that uses all three; one process, since importing takes longest."""
    return {name: float(value) for name, value in map(str.split, run(pasted, "-c", USE + USES).splitlines())}


@pytest.mark.parametrize("named", ["labeler", "curator"])
def test_one_file_is_found_by_its_name_and_used(used, named):
    assert used[named] > 0.9


def test_a_backbone_from_outside_the_package_is_watched(used):
    assert used["checkpoints"] == 20
    assert used["backbone"] > 0.5


def test_each_passes_the_checks_that_are_shipped(used):
    assert used["checked"] == 3


def test_one_file_passes_the_common_tests_and_breaks_no_other(pasted):
    tests = ["tests/labelers/test_common.py", "tests/curators/test_common.py", "tests/tools/test_registry.py"]
    only = ["-k", "margin or steady or registry"]
    assert "passed" in run(pasted, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rN", *only, *tests)
