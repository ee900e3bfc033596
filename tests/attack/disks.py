"""Full disks: one line, code 4, and what was there before is untouched.

On a tiny file system where one can be mounted; else with a limit on the size of files, which fails writes as well.
"""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.attack.harness import ROOT
from tests.attack.outcomes import CLEAN, CRASH, DIFFERENT, REFUSED, TRACEBACK
from tests.attack.study import arguments, digest

_FULL = 4


def attack(place: Path, seed: int) -> str:
    """Fit onto a disk with room for a random part of the run."""
    rng = random.Random(seed)
    wanted, old = _undisturbed(place)
    backbone = rng.choice(("xgboost", "lightgbm", "catboost"))
    if seed % 2 and _can_mount():
        with _tiny(place / "disk", rng.randrange(8, 700)) as disk:
            return _fitted(place, disk / "run", wanted, backbone, None)
    disk = place / "limited"
    shutil.rmtree(disk, ignore_errors=True)
    shutil.copytree(old, disk / "run")
    return _fitted(place, disk / "run", wanted, backbone, rng.randrange(100, 200_000))


def _fitted(place: Path, out: Path, wanted: str, backbone: str, most_bytes: int | None) -> str:
    existed = out.exists()

    def limit() -> None:
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    command = arguments(place, out, "--force", "--backbone", backbone)
    process = subprocess.run(command, cwd=ROOT, capture_output=True, preexec_fn=limit, timeout=300, check=False)
    if b"Traceback" in process.stderr or b"This is a bug" in process.stderr:
        return TRACEBACK
    if process.returncode == 0:
        is_right = (out / "report.html").exists() and (backbone != "xgboost" or digest(out) == wanted)
        return CLEAN if is_right else DIFFERENT
    if process.returncode != _FULL or process.stderr.count(b"dips: ") != 1:
        return CRASH
    return REFUSED if not existed or digest(out) == wanted else DIFFERENT


@cache
def _undisturbed(place: Path) -> tuple[str, Path]:
    out = place / "undisturbed"
    subprocess.run(arguments(place, out), cwd=ROOT, check=True, capture_output=True)
    return digest(out), out


@cache
def _can_mount() -> bool:
    try:
        with _tiny(Path("/tmp") / f"dips-disk-{id(_can_mount)}", 64):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


@contextmanager
def _tiny(folder: Path, kilobytes: int) -> Iterator[Path]:
    folder.mkdir(exist_ok=True)
    option = f"size={kilobytes}k"
    subprocess.run(["mount", "-t", "tmpfs", "-o", option, "tmpfs", str(folder)], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True, capture_output=True)
        folder.rmdir()
