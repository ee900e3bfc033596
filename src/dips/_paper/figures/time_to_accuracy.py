"""Time to accuracy on CIFAR-10N: minutes on this device beside the paper's hours on a V100 (section 5.5).

Its trials are those of ``cifar10n``.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.figures import cifar10n
from dips._paper.images import reports
from dips._paper.images.sets import IMAGE_SETS
from dips._paper.published import published

ACCURACIES = (65, 70, 75, 80, 85)


def cells(plan: Plan) -> Iterator[Cell]:
    """The trials of CIFAR-10N."""
    yield from cifar10n.cells(plan)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Minutes to each accuracy: warm-ups, training, curation and the looks at the test images all count."""
    said = published("time-to-accuracy")
    table = reports.minutes_to(frame, ACCURACIES)
    for method, hours in said["hours"].items():
        table[f"{method}, paper, V100 hours"] = [hours.get(str(a), "not reached") for a in ACCURACIES]
    return Report({"time": table}, {"curves": lambda: reports.draw_curves(frame)})


EXPERIMENT = Experiment(
    21,
    "time-to-accuracy",
    "Time to accuracy on CIFAR-10N",
    "Section 5.5, figure 8a",
    3,
    cells,
    report,
    IMAGE_SETS,
    ("curators",),
)
