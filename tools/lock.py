"""Writes requirements-dev.txt: everything that development needs, at one version, with the checksum of its file.

``python tools/lock.py`` asks pip what it would install here for ``.[dev]`` under constraints.txt. The file serves Linux
on x86-64, where releases are made: ``pip install --require-hashes -r requirements-dev.txt``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "requirements-dev.txt"


def main() -> None:
    """Ask pip, and write what it answers."""
    asked = [
        "install",
        "--dry-run",
        "--quiet",
        "--ignore-installed",
        "--report",
        "-",
        "-c",
        "constraints.txt",
        ".[dev]",
    ]
    answer = subprocess.run([sys.executable, "-m", "pip", *asked], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    lines = []
    for item in json.loads(answer.stdout)["install"]:
        about, hashes = item["metadata"], item["download_info"].get("archive_info", {}).get("hashes", {})
        if about["name"] != "dips-ssl":
            lines.append(f"{about['name'].lower()}=={about['version']} --hash=sha256:{hashes['sha256']}")
    TARGET.write_text("# Written by tools/lock.py, for Linux on x86-64.\n" + "\n".join(sorted(lines)) + "\n")


if __name__ == "__main__":
    main()
