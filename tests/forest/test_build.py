"""What is compiled, and from which files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import dips
from dips._dynamics import STATISTICS, Dynamics
from dips._forest import kernel

SOURCES = Path(dips.__file__).parent / "_forest"
SETUP = Path(__file__).parents[2] / "setup.py"


def included(source):
    """Headers of our own that a C file includes, directly or through another."""
    headers = {SOURCES / name for name in re.findall(r'^#include "(.+)"', source.read_text(), re.MULTILINE)}
    return headers.union(*(included(header) for header in headers))


@pytest.mark.skipif(not SETUP.exists(), reason="there is no setup.py beside an installed package")
def test_a_changed_header_is_compiled_again():
    extension = next(
        node
        for node in ast.walk(ast.parse(SETUP.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Extension"
    )
    depends = next(ast.literal_eval(k.value) for k in extension.keywords if k.arg == "depends")
    assert {Path(name).name for name in depends} == {h.name for h in included(SOURCES / "kernel.c")}
    assert all((SETUP.parent / name).exists() for name in depends)


@pytest.mark.skipif(kernel.library() is None, reason="this installation has no compiled kernel")
def test_the_kernel_computes_every_statistic_that_can_be_asked_for():
    assert kernel.computes(Dynamics(1, 2, STATISTICS).averages)
    assert not kernel.computes(["confidence", "no such statistic"])


@pytest.mark.skipif(kernel.library() is None, reason="this installation has no compiled kernel")
def test_a_kernel_built_from_older_sources_is_not_used(monkeypatch):
    kernel.library.cache_clear()
    monkeypatch.setattr(kernel, "_INTERFACE", 1)
    try:
        with pytest.warns(UserWarning, match=r"was compiled from different sources; build it again"):
            assert kernel.library() is None
    finally:
        kernel.library.cache_clear()
