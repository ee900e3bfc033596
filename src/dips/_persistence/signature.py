"""A seal on a folder: a checksum of every file in it, under a key that only you and whom you trust have.

HMAC with SHA-256, of the standard library. Whoever can check the seal can also make one: the key is one and the same.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from pathlib import Path
from typing import Any

from dips._tools.files import sha256, write_json, writing
from dips._tools.wording import some_of
from dips.exceptions import ModelError, OutputError, UserError

SEAL = "signature.json"
_LATER = ("review", "compare.html")  # written into a run after it was made
_KEY_BYTES, _LONGEST_KEY = 32, 1_000


def make_key(path: Path) -> None:
    """Write a new key, which nobody else on this machine can read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise OutputError(
            f"{path} exists already, and a key that is overwritten is lost; choose another name."
        ) from None
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}.") from error
    with writing(path), os.fdopen(handle, "w") as stream:
        stream.write(os.urandom(_KEY_BYTES).hex() + "\n")


def sign(folder: Path, key: Path) -> int:
    """Seal a folder; return how many files the seal covers."""
    files = _checksums(folder)
    write_json(folder / SEAL, {"files": files, "hmac_sha256": _seal(files, _key(key))})
    return len(files)


def verify(folder: Path, key: Path) -> int:
    """Return how many files the seal covers; refuse the seal of another key, and a folder that has changed since."""
    path = folder / SEAL
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        files, seal = record["files"], str(record["hmac_sha256"])
    except FileNotFoundError:
        raise ModelError(f"{folder} is not signed: it holds no {SEAL}.") from None
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ModelError(f"{path} is not a signature made by dips: {error}.") from error
    if not isinstance(files, dict) or not hmac.compare_digest(seal.encode(), _seal(files, _key(key)).encode()):
        raise ModelError(f"{path} was not made with the key {key}; do not use the folder.")
    present = _checksums(folder)
    changed = sorted(name for name in {*files, *present} if files.get(name) != present.get(name))
    if changed:
        raise ModelError(f"{folder} has changed since it was signed: {some_of(changed, 3)}; do not use it.")
    return len(files)


def _key(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            key = bytes.fromhex(stream.read(_LONGEST_KEY).decode("ascii").strip())
    except FileNotFoundError:
        raise UserError(f"There is no key {path}; dips sign --new-key makes one.") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read as a key: {error}.") from error
    if len(key) < _KEY_BYTES:
        raise UserError(
            f"{path} holds a key of {len(key)} bytes, and {_KEY_BYTES} are needed; make one with --new-key."
        )
    return key


def _seal(files: dict[str, Any], key: bytes) -> str:
    text = json.dumps(files, sort_keys=True, ensure_ascii=True)
    return hmac.new(key, f"dips folder 1\n{text}".encode(), hashlib.sha256).hexdigest()


def _checksums(folder: Path) -> dict[str, str]:
    """Checksums of all files by their names; a link could point anywhere, so there may be none."""
    if not folder.is_dir():
        raise ModelError(f"There is no folder {folder}.")
    files = {}
    for place, folders, names in os.walk(folder):
        for name in sorted([*folders, *names]):
            path = Path(place) / name
            inside = path.relative_to(folder)
            if inside.parts[0] in (SEAL, *_LATER):
                continue
            if path.is_symlink():
                raise ModelError(f"{path} is a link; a signed folder holds plain files only.")
            if path.is_file():
                files[inside.as_posix()] = sha256(path)
    return files
