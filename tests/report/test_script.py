"""The page's script has tests of its own, in its own language."""

import shutil
import subprocess
from pathlib import Path

import pytest


def test_the_script_of_the_page():
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed; it runs tests/report/logic.test.js")
    file = Path(__file__).with_name("logic.test.js")
    done = subprocess.run([node, "--test", str(file)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
