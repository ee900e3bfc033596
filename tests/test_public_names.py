"""What ``dir`` shows of a public package: its public names, and nothing that it happens to import."""

from __future__ import annotations

import importlib
import importlib.util

import pytest

import dips

PACKAGES = [name for name in dir(dips) if importlib.util.find_spec(f"dips.{name}")]


def test_dips_shows_its_eight_public_packages() -> None:
    wanted = ["backbones", "curators", "datasets", "exceptions", "labelers", "network", "testing", "vision"]
    assert wanted == PACKAGES


@pytest.mark.parametrize("package", PACKAGES)
def test_dir_of_a_public_package_shows_its_public_names_alone(package: str) -> None:
    if package == "vision":
        pytest.importorskip("torch")
    module = importlib.import_module(f"dips.{package}")

    assert dir(module) == sorted(module.__all__)
    assert not [name for name in dir(module) if name.startswith("_")]
    assert all(hasattr(module, name) for name in dir(module))


@pytest.mark.parametrize(
    ("package", "imported"), [("labelers", "Registry"), ("curators", "Any"), ("backbones", "pkgutil")]
)
def test_dir_does_not_show_what_a_package_imports(package: str, imported: str) -> None:
    assert imported not in dir(importlib.import_module(f"dips.{package}"))
