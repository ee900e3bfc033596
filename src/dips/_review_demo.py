"""A review to try: a small table that comes with scikit-learn, with wrong labels that are known."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from dips._review.server import ReviewServer
from dips._review.statistics import progress
from dips._study.fitting import fit
from dips._study.reviewing import server_of_run
from dips._tools.observer import Observer
from dips.datasets import flip_labels

N_LABELED, NOISE = 300, 0.15
_NO_COMPARISON = 1e-6  # minutes: only what the review needs is trained


def noisy_table() -> tuple[pd.DataFrame, dict[int, str]]:
    """Return tumors with labels, 15 % of them flipped, and the true label of each row."""
    data = load_breast_cancer(as_frame=True)
    frame = data.frame.drop(columns="target").sample(N_LABELED, random_state=0)
    truth = np.asarray(data.target_names, dtype=object)[data.target[frame.index]]
    given, _ = flip_labels(truth, NOISE, random_state=0)
    frame.insert(0, "sample", [f"S{i:03d}" for i in range(1, N_LABELED + 1)])
    return frame.assign(tumor=given), {row: str(label) for row, label in enumerate(truth, start=1)}


def review_demo(serve: Callable[[ReviewServer], None], observer: Observer | None = None, **server: Any) -> str:
    """Make a run, let it be reviewed, and return how many of the wrong labels were found."""
    frame, truth = noisy_table()
    with tempfile.TemporaryDirectory(prefix="dips-review-") as place:
        table = Path(place) / "tumors.csv"
        frame.to_csv(table, index=False)
        run = fit(
            table,
            "tumor",
            Path(place) / "run",
            id=("sample",),
            time_limit=_NO_COMPARISON,
            observer=observer or Observer(),
        )
        made = server_of_run(run, truth=truth, **server)
        serve(made)
        return outcome(made)


def outcome(server: ReviewServer) -> str:
    """How many wrong labels all reviewers together have found."""
    desk = server.desk
    outcomes = [progress(desk.material, desk.queue, desk.decisions, who)["truth"] for who in desk.decisions.reviewers()]
    if not outcomes:
        return "Nothing was decided."
    best = max(outcomes, key=lambda f: f["found"])
    return (
        f"{best['found']} of the {best['wrong']} wrong labels were found in {best['looked']} looks; "
        f"{best['right']} of these {best['looked']} answers are right."
    )
