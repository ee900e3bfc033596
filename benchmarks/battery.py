"""Five labelers without and with DIPS on the paper's public tables (Fig. 4), beside the authors' numbers.

DIPS_DATA=folder python benchmarks/battery.py --seeds 10 --members 3 --jobs 2
"""

from __future__ import annotations

import sys

from dips.cli._app import run

if __name__ == "__main__":
    for name in ("battery",):
        code = run(["paper", "run", name, *sys.argv[1:]]) or run(["paper", "show", name])
        if code:
            raise SystemExit(code)
