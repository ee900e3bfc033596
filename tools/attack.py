"""Attacks dips and prints how the attacks ended: ``python tools/attack.py [--share 0.01] [NAME ...]``.

A traceback, a crash, a hang or another result is a failure, and the exit code is 1. What failed can be repeated with
its seed: ``python tools/attack.py tables --seed 17``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.attack.harness import run  # noqa: E402
from tests.attack.outcomes import ALL, CLEAN, CRASH, FINE, TRACEBACK  # noqa: E402

FULL = {
    "tables": 100_000,
    "models": 10_000,
    "records": 10_000,
    "checkpoints": 1_000,
    "forests": 10_000,
    "forests, sanitized": 10_000,
    "kills": 1_000,
    "faults": 1_000,
    "disks": 500,
}
SANITIZED = "forests, sanitized"


def main() -> int:
    """Run the attacks that were asked for, and print a table of counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join([*FULL, 'browser'])}; all by default")
    parser.add_argument("--share", type=float, default=1.0, help="of the full number of attacks")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--log", type=Path, default=Path("attack.log"), help="where tracebacks go")
    options = parser.parse_args()
    rows, failed = [], False
    for name in options.names or [*FULL, "browser"]:
        began = time.monotonic()
        counts, failures = _attacked(name, options)
        cells = [str(counts.get(outcome, 0)) for outcome in ALL]
        rows.append([name, *(cells if counts else ["not run"] * len(ALL)), f"{time.monotonic() - began:.0f}"])
        print(f"{name}: {dict(counts) or 'not run here'} {failures[:5] or ''}", file=sys.stderr, flush=True)
        failed |= any(count for outcome, count in counts.items() if outcome not in FINE)
    header = ["attack", *ALL, "seconds"]
    for row in (header, ["---"] * len(header), *rows):
        print(f"| {' | '.join(row)} |")
    return int(failed)


def _attacked(name: str, options: argparse.Namespace) -> tuple[dict[str, int], list[tuple[int, str]]]:
    """Return the counts, none where the attack cannot be made here, and what failed."""
    if name == "browser":
        return _browser(options.log), []
    environment = _sanitized() if name == SANITIZED else None
    if name == SANITIZED and environment is None:
        return {}, []
    n = max(1, round(options.share * FULL[name]))
    seeds = range(n) if options.seed is None else [options.seed]
    attack = "forests" if name == SANITIZED else name
    tally = run(attack, seeds, timeout_s=300, log=options.log, environment=environment)
    return dict(tally.counts), tally.failures


def _sanitized() -> dict[str, str] | None:
    """Build a kernel that notices every access outside of its arrays; return the environment that uses it."""
    compiler, place = shutil.which("gcc"), ROOT / "build" / "sanitized"
    if compiler is None or sys.platform != "linux":
        return None
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(ROOT / "src", place, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    kernel = place / "dips" / "_forest"
    flags = ["-O1", "-g", "-shared", "-fPIC", "-fsanitize=address,undefined", "-fno-sanitize-recover"]
    flags += ["-DPy_LIMITED_API=0x030B0000", f"-I{sysconfig.get_path('include')}"]
    source, target = str(kernel / "kernel.c"), str(kernel / "_kernel.abi3.so")
    subprocess.run([compiler, *flags, source, "-o", target, "-lm"], check=True)
    library = subprocess.check_output([compiler, "-print-file-name=libasan.so"], text=True).strip()
    options = {"LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONPATH": str(place)}
    return dict(os.environ) | options


def _browser(log: Path) -> dict[str, int]:
    """Open pages with hostile data in a browser; nothing in them may run."""
    if shutil.which("chromedriver") is None:
        return {}
    command = [sys.executable, "-m", "pytest", "-q", str(ROOT / "tests" / "report" / "test_browser.py")]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    with log.open("a") as stream:
        stream.write(ended.stdout + ended.stderr)
    counts = dict.fromkeys((CLEAN, TRACEBACK), 0)
    for number, word in zip(ended.stdout.split(), ended.stdout.split()[1:], strict=False):
        if number.isdigit() and word.strip(",") in ("passed", "failed", "error", "errors"):
            counts[CLEAN if word.startswith("passed") else TRACEBACK] += int(number)
    if ended.returncode != 0 and not counts[TRACEBACK]:
        counts[CRASH] = 1
    return counts


if __name__ == "__main__":
    raise SystemExit(main())
