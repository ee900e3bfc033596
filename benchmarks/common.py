"""What the experiments here share: seeds, means with standard errors, tables on the screen."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

RESULTS = Path(__file__).parents[1] / "results"


def run_grid(name: str, function: Callable[..., list[dict]], grid: Iterable[tuple], jobs: int) -> pd.DataFrame:
    """Run every cell of a grid in parallel processes; each finished one is added to results/NAME.jsonl."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread a process: the processes are the parallelism
    RESULTS.mkdir(exist_ok=True)
    records = []
    parallel = Parallel(jobs, return_as="generator_unordered")
    cells = list(grid)
    with (RESULTS / f"{name}.jsonl").open("w") as file:
        finished = parallel(delayed(function)(*arguments) for arguments in cells)
        for cell in track(finished, name, total=len(cells), console=Console(stderr=True)):
            records.extend(cell)
            file.writelines(json.dumps(record) + "\n" for record in cell)
            file.flush()
    return pd.DataFrame(records)


def scores_of(y: np.ndarray, p: np.ndarray) -> dict[str, float]:
    """Accuracy, log loss and AUC of probabilities (n, 2); accuracy and AUC in percent."""
    return {
        "accuracy": 100 * accuracy_score(y, p.argmax(axis=1)),
        "log_loss": log_loss(y, p),
        "auc": 100 * roc_auc_score(y, p[:, 1]),
    }


def with_error(values: pd.Series) -> str:
    """Mean and standard error over seeds, in percent."""
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
    return f"{100 * values.mean():.2f} ± {100 * error:.2f}"


def show(title: str, frame: pd.DataFrame) -> None:
    """Print a data frame as a table."""
    table = Table(title=title, title_justify="left")
    for column in [frame.index.name or "", *frame.columns]:
        table.add_column(str(column), justify="right")
    for row in frame.itertuples(name=None):
        table.add_row(*map(str, row))
    Console(width=220).print(table)
