"""Attacks dips and prints how the attacks ended: ``python tools/attack.py [--share 0.01] [NAME ...]``.

A traceback, a crash, a hang or another result is a failure, and the exit code is 1. What failed can be repeated with
its seed: ``python tools/attack.py tables --seed 17``.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.attack.harness import run  # noqa: E402
from tests.attack.outcomes import ALL, CLEAN, FINE, TRACEBACK  # noqa: E402

FULL = {
    "tables": 100_000,
    "models": 10_000,
    "records": 10_000,
    "checkpoints": 1_000,
    "forests": 10_000,
    "kills": 1_000,
    "disks": 500,
}
APART = ("sanitizer", "browser")  # these run existing tests in another way


def main() -> int:
    """Run the attacks that were asked for, and print a table of counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join([*FULL, *APART])}; all by default")
    parser.add_argument("--share", type=float, default=1.0, help="of the full number of attacks")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--log", type=Path, default=Path("attack.log"), help="where tracebacks go")
    options = parser.parse_args()
    rows, failed = [], False
    for name in options.names or [*FULL, *APART]:
        began = time.monotonic()
        if name in APART:
            counts, failures = {"sanitizer": _sanitizer, "browser": _browser}[name](options.log), []
        else:
            n = max(1, round(options.share * FULL[name]))
            seeds = range(n) if options.seed is None else [options.seed]
            tally = run(name, seeds, timeout_s=300, log=options.log)
            counts, failures = tally.counts, tally.failures
        cells = [str(counts.get(outcome, 0)) for outcome in ALL]
        rows.append([name, *(cells if counts else ["not run"] * len(ALL)), f"{time.monotonic() - began:.0f}"])
        print(f"{name}: {dict(counts) or 'not run here'} {failures[:5] or ''}", file=sys.stderr, flush=True)
        failed |= any(count for outcome, count in counts.items() if outcome not in FINE)
    header = ["attack", *ALL, "seconds"]
    for row in (header, ["---"] * len(header), *rows):
        print(f"| {' | '.join(row)} |")
    return int(failed)


def _sanitizer(log: Path) -> dict[str, int]:
    """Walk forests in a kernel that was built to notice every access outside of its arrays."""
    compiler, place = shutil.which("gcc"), ROOT / "build" / "sanitized"
    if compiler is None or sys.platform != "linux":
        return {}
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(ROOT / "src", place, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    include = subprocess.check_output(
        [sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('include'))"], text=True
    ).strip()
    flags = [
        "-O1",
        "-g",
        "-shared",
        "-fPIC",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover",
        "-DPy_LIMITED_API=0x030B0000",
    ]
    kernel = place / "dips" / "_forest"
    source, target = str(kernel / "kernel.c"), str(kernel / "_kernel.abi3.so")
    subprocess.run([compiler, *flags, f"-I{include}", source, "-o", target, "-lm"], check=True)
    library = subprocess.check_output([compiler, "-print-file-name=libasan.so"], text=True).strip()
    environment = {
        "LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONPATH": str(place), "OMP_NUM_THREADS": "1",
        "PATH": "/usr/bin:/bin", "HOME": str(Path.home()), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(ROOT / "tests" / "forest")]
    return _of_tests(command, log, environment)


def _browser(log: Path) -> dict[str, int]:
    """Open pages with hostile data in a browser; nothing in them may run."""
    if shutil.which("chromedriver") is None:
        return {}
    return _of_tests(
        [sys.executable, "-m", "pytest", "-q", str(ROOT / "tests" / "report" / "test_browser.py")], log, None
    )


def _of_tests(command: list[str], log: Path, environment: dict[str, str] | None) -> dict[str, int]:
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    with log.open("a") as stream:
        stream.write(ended.stdout + ended.stderr)
    counts = dict.fromkeys((CLEAN, TRACEBACK), 0)
    for number, word in zip(ended.stdout.split(), ended.stdout.split()[1:], strict=False):
        if number.isdigit() and word.strip(",") in ("passed", "failed", "error", "errors"):
            counts[CLEAN if word.startswith("passed") else TRACEBACK] += int(number)
    if ended.returncode not in (0, 1):
        counts["crash"] = 1
    return counts


if __name__ == "__main__":
    raise SystemExit(main())
