"""``dips fit`` as a process of its own, on a small table and with small models, so that it ends in seconds."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

COMMAND = [sys.executable, "-m", "tests.attack.study"]


def arguments(place: Path, out: Path, *more: str) -> list[str]:
    """Return the command line of a fit, whose table is in `place`."""
    table = place / "patients.csv"
    if not table.exists():
        from tests.patients import patients

        patients(n=80, n_labeled=60)[0].to_csv(table, index=False)
    return [*COMMAND, "fit", str(table), "-t", "outcome", "-o", str(out), "--rounds", "2", *more]


def digest(run: Path) -> str:
    """Return a checksum of what a run found, without when and how fast."""
    metrics = json.loads((run / "metrics.json").read_text())
    metrics.pop("seconds")
    checksum = hashlib.sha256(json.dumps(metrics, sort_keys=True).encode())
    model = sorted(path for path in (run / "model").iterdir() if path.name != "manifest.json")
    for path in (run / "samples.csv", *model):
        checksum.update(path.read_bytes())
    return checksum.hexdigest()


def _main() -> None:
    """Run the command with small models; what is imported for them must not be where a Ctrl-C is lost."""
    from dips._cli import main
    from dips._tools.interrupts import STOPPED, listen

    listen()
    try:
        from tests.effort import quick_studies

        with quick_studies():
            main()
    except KeyboardInterrupt:
        raise SystemExit(STOPPED) from None


if __name__ == "__main__":
    _main()
