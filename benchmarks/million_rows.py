"""Time and memory of the command line on a synthetic table of a million rows.

    python benchmarks/million_rows.py [ROWS] [LABELED]

Writes a CSV to a temporary folder, then runs ``dips audit``, ``dips fit`` and ``dips predict`` on it, each as a process
of its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

SHARE_WRONG = 0.1


def make(path: Path, n_rows: int, n_labeled: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 16)).round(4)
    ward = rng.choice(["north", "south", "east", "west"], n_rows)
    truth = (X[:, 0] + X[:, 1] * X[:, 2] + (ward == "north") + rng.normal(scale=0.5, size=n_rows)) > 0
    wrong = rng.random(n_rows) < SHARE_WRONG
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame.insert(0, "case_id", np.arange(n_rows))
    frame["ward"] = ward
    frame["code"] = rng.integers(0, 300, n_rows).astype(str)
    frame["code"] = "K" + frame["code"]
    frame["seen"] = np.datetime64("2020-01-01") + rng.integers(0, 1500, n_rows).astype("timedelta64[D]")
    frame["outcome"] = np.where(truth ^ wrong, "ill", "well")
    frame.loc[n_labeled:, "outcome"] = None
    frame.to_csv(path, index=False)


def measured(*command: str) -> None:
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", "dips", *command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    wall_s, peak_gb = time.perf_counter() - began, after.ru_maxrss / 2**20
    print(f"dips {command[0]:8s} {wall_s:7.1f} s ({cpu_s:.1f} s of CPU), peak so far {peak_gb:.2f} GB", flush=True)
    if command[0] == "fit":
        print("\n".join("    " + line for line in done.stdout.splitlines()), flush=True)


def main() -> None:
    n_rows, n_labeled = ([int(float(a)) for a in sys.argv[1:3]] + [1_000_000, 50_000][len(sys.argv) - 1 :])[:2]
    with tempfile.TemporaryDirectory() as place:
        table, run = Path(place, "table.csv"), str(Path(place, "run"))
        make(table, n_rows, n_labeled)
        print(f"{n_rows:,} rows, {n_labeled:,} labeled, {table.stat().st_size / 2**20:.0f} MB of CSV", flush=True)
        measured("audit", str(table), "--target", "outcome", "--out", str(Path(place, "suspects.csv")))
        measured("fit", str(table), "--target", "outcome", "--out", run)
        measured("predict", run, str(table), "--out", str(Path(place, "out.csv")))
        print(f"the page has {Path(run, 'report.html').stat().st_size / 2**10:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
