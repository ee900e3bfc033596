"""FixMatch without and with curation on CIFAR-10N, 1000 labels of which 40 % are wrong: accuracy, and time to it.

DIPS_DATA=folder python benchmarks/vision_accuracy.py --steps 26000 --seeds 3
"""

from __future__ import annotations

import sys

from dips.cli._app import run

if __name__ == "__main__":
    for name in ("cifar10n", "time-to-accuracy"):  # the second has the trials of the first
        code = run(["paper", "run", name, *sys.argv[1:]]) or run(["paper", "show", name])
        if code:
            raise SystemExit(code)
