"""Two quadrants under label noise (Fig. 3) and the ablation (appendix C.1), beside the published study.

python benchmarks/quadrants.py --seeds 20 --jobs 2
"""

from __future__ import annotations

import sys

from dips.cli._app import run

if __name__ == "__main__":
    for name in ("quadrants", "ablation"):
        code = run(["paper", "run", name, *sys.argv[1:]]) or run(["paper", "show", name])
        if code:
            raise SystemExit(code)
