"""What to open and what to type after a fit."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from dips._cli.console import output

if TYPE_CHECKING:
    from dips._study.run import Run


def say_next_steps(run: Run, folder: Path, new: str) -> None:
    """Name the report and the commands for the run in a folder; `new` is what may be predicted."""
    from dips._report.words import chosen_model, why_not_to_use

    name, chosen = shlex.quote(str(folder)), chosen_model(run.summary)
    review = [f"Look at the suspects: dips review {name}"] if run.summary["labels"]["n_suspects"] else []
    use = f"Use the model: dips predict {name} {new} -o predictions.csv"
    output().say("Next:")
    for step in (f"Open {run.report}", *review, (chosen and why_not_to_use(chosen)) or use):
        output().say(f"  {step}")
