"""A process that is attacked: seeds come in, outcomes go out, one line each.

The process may die or hang; whoever started it notices (:mod:`tests.attack.harness`).
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
import warnings
from pathlib import Path

from tests.attack.outcomes import TRACEBACK


def main() -> None:
    """Answer every seed with an outcome."""
    name, place = sys.argv[1], Path(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    warnings.simplefilter("ignore")
    attack = importlib.import_module(f"tests.attack.{name}").attack
    print("ready", file=answers)
    for line in sys.stdin:
        try:
            outcome = attack(place, int(line))
        except Exception:
            sys.stderr.write(f"seed {line.strip()} of {name}:\n{traceback.format_exc()}\n")
            outcome = TRACEBACK
        print(outcome, file=answers)


if __name__ == "__main__":
    main()
