"""The pictures of docs/network.md can be drawn from the prior as it is."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "network_pictures.py"


def test_every_picture_is_drawn(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    pytest.importorskip("torch")
    if not SCRIPT.exists():
        pytest.skip("the documentation is not beside the tests")
    spec = importlib.util.spec_from_file_location("network_pictures", SCRIPT)
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    pictures.draw_functions()
    pictures.draw_noise()
    pictures.draw_tables()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["functions.png", "noise.png", "tables.png"]
