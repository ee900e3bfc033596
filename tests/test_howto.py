"""The Python blocks of the how-to pages and of the start run, from top to bottom of each page."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*sorted((ROOT / "docs/howto").glob("*.md")), ROOT / "docs/start.md"]
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
WITH_CODE = {page.stem: "\n".join(_BLOCK.findall(page.read_text(encoding="utf-8"))) for page in PAGES}


@pytest.mark.parametrize("page", [name for name, code in WITH_CODE.items() if code])
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    if "dips.vision" in WITH_CODE[page]:
        pytest.importorskip("torch", reason="PyTorch is not installed, and dips.vision needs it")
    monkeypatch.chdir(tmp_path)
    exec(compile(WITH_CODE[page], f"{page}.md", "exec"), {"__name__": page})


@pytest.mark.parametrize("page", [name for name, code in WITH_CODE.items() if code])
def test_the_code_of_a_page_keeps_our_style(page):
    pytest.importorskip("ruff", reason="ruff is not installed")
    settings = ["--config", str(ROOT / "pyproject.toml"), "--no-cache", "--ignore", "D1,B018,I001,E402", "-"]
    ruff = [sys.executable, "-m", "ruff", "check"]
    done = subprocess.run([*ruff, *settings], input=WITH_CODE[page], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
