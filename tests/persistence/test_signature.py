"""A sealed run: every change is seen by whoever has the key, and nobody else can make a seal."""

import json
import stat
import sys

import pytest

from dips._cli.app import run as dips
from dips._persistence.signature import SEAL, make_key, sign, verify
from dips.exceptions import ModelError, OutputError, UserError


@pytest.fixture
def key(tmp_path):
    make_key(tmp_path / "key")
    return tmp_path / "key"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run" / "model").mkdir(parents=True)
    (tmp_path / "run" / "config.json").write_text("{}")
    (tmp_path / "run" / "model" / "backbone.ubj").write_bytes(b"trees")
    return tmp_path / "run"


def test_a_folder_that_nobody_touched_is_as_it_was_signed(folder, key):
    assert sign(folder, key) == verify(folder, key) == 2
    (folder / "review").mkdir()
    (folder / "review" / "decisions.sqlite").write_text("later")
    (folder / "compare.html").write_text("later")
    assert verify(folder, key) == 2


@pytest.mark.parametrize("what", ["changed", "gone", "new", "swapped"])
def test_every_change_is_seen(folder, key, what):
    (folder / "other").write_bytes(b"more")
    sign(folder, key)
    backbone = folder / "model" / "backbone.ubj"
    if what == "gone":
        backbone.unlink()
    elif what == "swapped":
        other = (folder / "other").read_bytes()
        (folder / "other").write_bytes(backbone.read_bytes())
        backbone.write_bytes(other)
    else:
        (backbone if what == "changed" else folder / "model" / "sitecustomize.py").write_bytes(b"mine")
    with pytest.raises(ModelError, match=r"has changed since it was signed: model/.*; do not use it"):
        verify(folder, key)


def test_a_seal_cannot_be_made_without_the_key(folder, key, tmp_path):
    sign(folder, key)
    (folder / "config.json").write_text('{"evil": 1}')
    make_key(tmp_path / "mine")
    sign(folder, tmp_path / "mine")
    with pytest.raises(ModelError, match="was not made with the key"):
        verify(folder, key)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"files": [], "hmac_sha256": ""}', "{" * 50_000])
def test_what_is_no_seal_is_refused_in_a_sentence(folder, key, content):
    (folder / SEAL).write_text(content)
    with pytest.raises(ModelError, match=r"is not a signature made by dips|was not made with the key"):
        verify(folder, key)
    (folder / SEAL).unlink()
    with pytest.raises(ModelError, match=f"is not signed: it holds no {SEAL}"):
        verify(folder, key)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_are_not_signed_since_they_can_point_elsewhere_later(folder, key):
    (folder / "link").symlink_to("/etc/hostname")
    with pytest.raises(ModelError, match="is a link; a signed folder holds plain files only"):
        sign(folder, key)


def test_a_key_is_ones_own_and_never_overwritten(key):
    assert sys.platform == "win32" or stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(OutputError, match="a key that is overwritten is lost"):
        make_key(key)


def test_a_key_that_is_not_there_can_be_made(folder, tmp_path):
    with pytest.raises(UserError, match=r"There is no key .*nowhere; dips sign --new-key makes one"):
        sign(folder, tmp_path / "nowhere")


@pytest.mark.parametrize("content", ["", "not a key", "00ff", "\0" * 5_000])
def test_what_is_no_key_is_refused(folder, key, content):
    key.write_text(content)
    with pytest.raises(UserError, match=r"cannot be read as a key|holds a key of \d bytes, and 32 are needed"):
        sign(folder, key)
    assert not (folder / SEAL).exists()


def test_the_commands_sign_and_verify(folder, tmp_path, capsys):
    key = str(tmp_path / "new")
    assert dips(["sign", str(folder), "--key", key, "--new-key"]) == 0
    assert "2 files" in capsys.readouterr().out
    assert dips(["verify", str(folder), "--key", key]) == 0
    record = json.loads((folder / SEAL).read_text())
    (folder / SEAL).write_text(json.dumps(record | {"hmac_sha256": "0" * 64}))
    assert dips(["verify", str(folder), "--key", key]) == 5
    assert "was not made with the key" in capsys.readouterr().err
