"""Print how much pip downloads for an installation of the package with some extras, at the versions of constraints.txt.

python tools/download_size.py plot dev,all dev      # make demo; make test; make test EXTRAS=
"""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

_ROOT = Path(__file__).parents[1]


def downloads(extras: str) -> dict[str, int]:
    """Bytes of each file that pip would download into an empty environment, the largest first."""
    dry_run = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    target = ["-c", str(_ROOT / "constraints.txt"), f"{_ROOT}[{extras}]"]
    report = json.loads(subprocess.run([*dry_run, *target], check=True, capture_output=True, text=True).stdout)
    files = {item["metadata"]["name"]: item["download_info"] for item in report["install"]}
    sizes = {name: _n_bytes(info["url"]) for name, info in files.items() if "dir_info" not in info}
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def _n_bytes(url: str) -> int:
    with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=60) as answer:
        return int(answer.headers["Content-Length"])


if __name__ == "__main__":
    for extras in sys.argv[1:]:
        sizes = downloads(extras)
        largest = ", ".join(f"{name} {n / 1e6:.0f}" for name, n in list(sizes.items())[:5])
        print(f"[{extras}]: {sum(sizes.values()) / 1e6:.0f} MB in {len(sizes)} files; the largest: {largest}")
