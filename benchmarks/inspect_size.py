"""Time and memory of ``dips inspect`` on a table of a million rows and 50 columns.

    python benchmarks/inspect_size.py [ROWS]

Writes the table as CSV and as Parquet to a temporary folder and inspects each in a process of its own. Fails above 10 s
or 1 GB.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

MOST_S, MOST_GB = 10.0, 1.0


def make(n_rows: int) -> pa.Table:
    """Numbers, whole numbers, categories, dates, an id and labels: 50 columns."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=n_rows).round(3) for j in range(30)}
    columns |= {f"n{j}": rng.integers(0, 5_000, n_rows) for j in range(8)}
    wards = np.array([f"ward {k}" for k in range(9)])
    columns |= {f"ward{j}": wards[rng.integers(0, 9, n_rows)] for j in range(8)}
    first = np.datetime64("2020-01-01")
    columns |= {f"seen{j}": first + rng.integers(0, 900, n_rows).astype("timedelta64[D]") for j in range(2)}
    columns |= {"case_id": np.arange(n_rows), "outcome": np.where(rng.random(n_rows) < 0.3, "ill", "well")}
    return pa.table(columns)


def measured(path: Path) -> tuple[float, float, float]:
    """Seconds, seconds of CPU, and the most memory in GB."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "dips", "inspect", str(path), "--target", "outcome"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"dips inspect {path} failed")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20


def main() -> None:
    n_rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    table, is_over = make(n_rows), False
    with tempfile.TemporaryDirectory() as place:
        pa.csv.write_csv(table, Path(place, "table.csv"))
        pa.parquet.write_table(table, Path(place, "table.parquet"))
        print(f"{n_rows:,} rows, {table.num_columns} columns")
        del table
        for path in sorted(Path(place).iterdir()):
            wall_s, cpu_s, peak_gb = measured(path)
            size = path.stat().st_size / 2**20
            print(
                f"{path.suffix:9s} {size:5.0f} MB {wall_s:5.1f} s ({cpu_s:.1f} s of CPU), {peak_gb:.2f} GB", flush=True
            )
            is_over |= wall_s > MOST_S or peak_gb > MOST_GB
    sys.exit(is_over)


if __name__ == "__main__":
    main()
