"""The Markdown pages show only what is there for everybody: files that git tracks, headings that exist."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)[^)]*\)")
_ATTRIBUTE = re.compile(r"""(?:src|href)=["']([^"']+)["']""")


@cache
def tracked_files() -> frozenset[Path]:
    """Every file of the repository; the test is skipped where there is no repository, as in an unpacked sdist."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("the files are not in a git repository")
    return frozenset((ROOT / name).resolve() for name in listed.stdout.split("\0") if name)


def links_of(page: Path) -> list[str]:
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    return [*_LINK.findall(text), *_ATTRIBUTE.findall(text)]


def headings_of(page: Path) -> set[str]:
    """The anchors that a Git host makes of the headings."""
    lines = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL).splitlines()
    titles = [line.lstrip("#").strip().lower() for line in lines if re.match(r"#+ ", line)]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def pages() -> list[Path]:
    return sorted(p for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if "_build" not in p.parts)


@pytest.mark.parametrize("page", pages(), ids=lambda p: str(p.relative_to(ROOT)))
def test_every_file_a_page_shows_is_tracked_and_every_heading_it_links_to_exists(page):
    wrong = []
    for link in links_of(page):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        is_there = target in tracked_files() or any(target in file.parents for file in tracked_files())
        if not is_there or (anchor and target.suffix == ".md" and anchor not in headings_of(target)):
            wrong.append(link)
    assert not wrong, f"{page.relative_to(ROOT)} links to what is not in the repository: {wrong}"


def test_there_are_pages_with_links():
    assert any(link.endswith(".png") for link in links_of(ROOT / "README.md"))
