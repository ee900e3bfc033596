import pytest

from dips import _demo as demo


def test_the_demo_prints_its_table_and_draws_its_picture(monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(demo, "N_SEEDS", 2)
    monkeypatch.setattr(demo, "PICTURE", tmp_path / "demo.png")
    demo.main()
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("supervised", "plain", "default", "breast cancer", "two quadrants"))
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
